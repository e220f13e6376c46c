import type { FastifyRequest } from 'fastify'
import { type Html, html, unchanged } from '../../html.ts'
import { sentIn } from '../form/body.ts'
import { type Mode, pathIn } from './mode.ts'
import { ownPath } from './paths.ts'

/** The hidden fields of a form that outlives the session of its author: where it is shown again, and who they are. */
const [again, author] = [':again', ':author']

/** The largest form that the sign-in carries along, in bytes: the longest of the console, each of its names with the prefix. */
export const longestKept = 2.5 * 1024 * 1024

/** What stands before the names of its fields in the forms of the sign-in. */
const prefix = 'kept:'

/** Has a form be shown again after a sign-in, where the session has ended before it was sent. `path`: takes it, and changes nothing. */
export function outlives ({ actor: { userId }, mode }: { actor: { userId: number }, mode: Mode }, path: string): Html {
  return html`<input type="hidden" name="${again}" value="${pathIn(mode, path)}"><input type="hidden" name="${author}" value="${
    String(userId)
  }">`
}

/** Whether a form was filled in by this user, as far as it says. */
export function isAuthor ({ actor: { userId } }: { actor: { userId: number } }, body: URLSearchParams): boolean {
  return (body.get(author) ?? String(userId)) === String(userId)
}

/** A form that was sent after its session had ended. `fields`: as they were sent, without those of {@link outlives}. */
export type KeptForm = { path: string, author: number, fields: readonly (readonly [name: string, value: string])[] }

/** The form that a request has sent, if it outlives its session. */
export function keptFormIn ({ body }: Pick<FastifyRequest, 'body'>): KeptForm | undefined {
  return body instanceof URLSearchParams ? keptOf(body, '') : undefined
}

/** The form that a form of the sign-in has carried along. */
export function carriedForm ({ body }: Pick<FastifyRequest, 'body'>): KeptForm | undefined {
  return body instanceof URLSearchParams ? keptOf(body, prefix) : undefined
}

function keptOf (body: URLSearchParams, before: string): KeptForm | undefined {
  const [path, userId] = [body.get(before + again) ?? '', Number(body.get(before + author))]
  if (ownPath(path) !== path || !Number.isInteger(userId)) return undefined
  // The button that was pressed is not pressed again, and whoever signs in acts as nobody else.
  const own = [again, author, ':as', 'do']
  const fields = sentIn(body).filter(([name]) => name.startsWith(before)).map(([name, value]) =>
    [name.slice(before.length), value] as const
  )
  return { path, author: userId, fields: fields.filter(([name]) => !own.includes(name)) }
}

/** The hidden fields with which a form of the sign-in carries it along. */
export function carried (kept: KeptForm | undefined): Html {
  if (kept === undefined) return html``
  const all = [[again, kept.path], [author, String(kept.author)], ...kept.fields] as const
  return html`${all.map(([name, value]) => html`<input type="hidden" name="${prefix}${name}" value="${unchanged(value)}">`)}`
}

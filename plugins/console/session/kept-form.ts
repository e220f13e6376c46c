import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { type Html, html } from '../../html.ts'
import { sentIn } from '../form/body.ts'
import { type Mode, pathIn } from './mode.ts'

/** The hidden fields of a form that outlives the session of its author: where it is shown again, who they are, and that a page says so. */
const [again, author, mark] = [':again', ':author', ':mark']

/** The largest form of the sign-in, in bytes, with the form that it carries along. */
export const longestKept = 1024 * 1024

/** What the sign-in itself may take of that. */
const ownLength = 32 * 1024

/** The most fields that the sign-in carries along: each is a field of its page. */
const maxFields = 2_000

/** What stands before the names of its fields in the forms of the sign-in. The script of passkeys knows it, too. */
const prefix = 'kept:'

/** For how long a page may have been shown before its form is sent, and how long that waits in the sign-in, in milliseconds. */
const lasts = 7 * 86_400_000

/** Marks of the path and the author of a form, until a time: nobody else says them of one. */
export type Marks = {
  of: (path: string, author: number) => string
  /** Whether this is the mark of a path and an author, whose time is not over. */
  isRight: (path: string, author: number, mark: string) => boolean
}

const marks = Symbol('marks')

declare module 'fastify' {
  interface FastifyInstance {
    [marks]: Marks
  }
}

/** Has the console mark the forms that outlive a session, by a key of the service. */
export function markForms (app: FastifyInstance, secret: Uint8Array, now: () => Date): void {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'forms that outlive a session', 32))
  const markOf = (path: string, userId: number, until: number): string =>
    `${String(until)}.${createHmac('sha256', key).update(JSON.stringify([path, userId, until])).digest('base64url')}`
  app.decorate(marks, {
    of: (path, userId) => markOf(path, userId, now().getTime() + lasts),
    isRight (path, userId, given) {
      const until = Number(given.split('.', 1)[0])
      const [mine, theirs] = [Buffer.from(markOf(path, userId, until)), Buffer.from(given)]
      return mine.length === theirs.length && timingSafeEqual(mine, theirs) && until > now().getTime()
    }
  })
}

/** The marks of a request's console. */
export function marksOf ({ server }: Pick<FastifyRequest, 'server'>): Marks {
  return server[marks]
}

/** Has a form be shown again after a sign-in, where the session has ended before it was sent. `path`: takes it, and changes nothing. */
export function outlives (
  { actor: { userId }, mode, marks: { of } }: { actor: { userId: number }, mode: Mode, marks: Marks },
  path: string
): Html {
  return hidden('', fieldsOf({ path: pathIn(mode, path), author: userId, mark: of(pathIn(mode, path), userId) }))
}

/** Whether a form was filled in by this user, as far as it says. */
export function isAuthor ({ actor: { userId } }: { actor: { userId: number } }, body: URLSearchParams): boolean {
  return (body.get(author) ?? String(userId)) === String(userId)
}

type Field = readonly [name: string, value: string]

/** A form that was sent after its session had ended. `fields`: as they were sent, without those of {@link outlives}. */
export type KeptForm = { path: string, author: number, mark: string, fields: readonly Field[] }

/**
 * The form that a request has sent, if it outlives its session; undefined for one that is too large or too old for that. The time of its
 * mark begins anew: the sign-in takes its own.
 */
export function keptFormIn (request: Pick<FastifyRequest, 'body' | 'server'>): KeptForm | undefined {
  const kept = keptOf(request, '')
  return kept && { ...kept, mark: marksOf(request).of(kept.path, kept.author) }
}

/** The form that a form of the sign-in has carried along. */
export function carriedForm (request: Pick<FastifyRequest, 'body' | 'server'>): KeptForm | undefined {
  return keptOf(request, prefix)
}

/**
 * The button that was pressed is not pressed again, whoever signs in acts as nobody else, and what was confirmed or proved was so by
 * somebody who had a session.
 */
const dropped: ReadonlySet<string> = new Set([again, author, mark, ':as', ':confirmed', ':proof', 'do'])

/** What a form says of where it is shown again, and what its mark is worth. */
function placeOf ({ body, server }: { body: URLSearchParams, server: FastifyInstance }, before: string) {
  const [path = '', userId = '', given = ''] = [again, author, mark].map((name) => body.get(before + name) ?? '')
  return { path, userId: Number(userId), given, isRight: server[marks].isRight(path, Number(userId), given) }
}

/** Whether the page of the sign-in has a form to carry along, or to say of that it is lost. */
export function isCarrying ({ body }: Pick<FastifyRequest, 'body'>): boolean {
  return body instanceof URLSearchParams && body.has(prefix + mark)
}

/**
 * Whether a form was to outlive its session, as it was sent or carried along, and does not: it is too large, or its mark is over or none
 * that this release makes.
 */
export function isLost (request: Pick<FastifyRequest, 'body' | 'server'>): boolean {
  const { body } = request
  if (isCarrying(request)) return carriedForm(request) === undefined
  return body instanceof URLSearchParams && body.has(mark) && keptOf(request, '') === undefined
}

function keptOf ({ body, server }: Pick<FastifyRequest, 'body' | 'server'>, before: string): KeptForm | undefined {
  if (!(body instanceof URLSearchParams)) return undefined
  const { path, userId, given, isRight } = placeOf({ body, server }, before)
  if (!isRight) return undefined
  const fields = sentIn(body).filter(([name]) => name.startsWith(before)).map(([name, value]): Field => [name.slice(before.length), value])
    .filter(([name]) => !dropped.has(name))
  const kept = { path, author: userId, mark: given, fields }
  return fields.length <= maxFields && lengthOf(kept) <= longestKept - ownLength ? kept : undefined
}

/** In bytes, as a form of the sign-in sends it. */
function lengthOf (kept: KeptForm): number {
  return new URLSearchParams([...fieldsOf(kept), ...kept.fields].map(([name, value]) => [prefix + name, value])).toString().length
}

function fieldsOf ({ path, author: userId, mark: given }: Omit<KeptForm, 'fields'>): Field[] {
  return [[again, path], [author, String(userId)], [mark, given]]
}

/** The hidden fields with which a form of the sign-in carries it along. */
export function carried (kept: KeptForm | undefined): Html {
  return kept === undefined ? html`` : hidden(prefix, [...fieldsOf(kept), ...kept.fields])
}

function hidden (before: string, fields: readonly Field[]): Html {
  return html`${fields.map(([name, value]) => html`<input type="hidden" name="${before}${name}" value="${value}">`)}`
}

import type { Problem } from '@dispatch/common'
import { Type } from 'typebox'
import { hostProblems, hostSettingProblems } from '../settings/hosts.ts'
import type { SettingsSchema } from '../settings/settings-schema.ts'
import type { EventRequest } from './event-request.ts'
import { PlaceSchema, Pointer } from './language-schema.ts'
import type { Place } from './language.ts'

/** Something stands at a place of the request; with `is`, this text. */
export type When = { at: Place, is?: string }

/**
 * What a vendor asks before it sends events, or to keep sending them. The host answers, no code of the provider runs.
 *
 * `echo`: the text at a place is sent back: as the whole answer in plain text, as a `member` of JSON, or in a `header`. `event`: the
 * request is an event besides.
 * `visit`: a GET of the URL at a JSON pointer of the body, once the request is verified, at these hosts only.
 * `proof`: the answer is 200 where the request is verified, and 401 where it is not. It is no event.
 */
export type Handshake =
  | { method?: 'GET' | 'POST', when?: When, echo: Place, as?: 'text' | { member: string } | { header: string }, event?: true }
  | { when: When, visit: string, hosts: readonly string[] }
  | { when: When, proof: true }

const closed = { additionalProperties: false }
const When = Type.Object({ at: PlaceSchema, is: Type.Optional(Type.String({ maxLength: 200 })) }, closed)
const Hosts = Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 50, uniqueItems: true })
const Header = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,78}$', description: 'the name of a header such as "X-Client-Id"' })

export const HandshakesSchema = Type.Unsafe<Handshake[]>(Type.Array(
  Type.Union([
    Type.Object({
      method: Type.Optional(Type.Enum(['GET', 'POST'])),
      when: Type.Optional(When),
      echo: PlaceSchema,
      as: Type.Optional(Type.Union([
        Type.Literal('text'),
        Type.Object({ member: Type.String({ minLength: 1, maxLength: 80 }) }, closed),
        Type.Object({ header: Header }, closed)
      ])),
      event: Type.Optional(Type.Literal(true))
    }, closed),
    Type.Object({ when: When, visit: Pointer, hosts: Hosts }, closed),
    Type.Object({ when: When, proof: Type.Literal(true) }, closed)
  ], {
    description:
      'a handshake: { echo: a place, method?, when?, as?, event? }, { when, visit: a JSON pointer, hosts } or { when, proof: true }'
  }),
  { minItems: 1, maxItems: 10 }
))

/** The problems of handshakes beyond their shape. */
export function handshakeProblems (handshakes: readonly Handshake[], settings: SettingsSchema, path: string): Problem[] {
  return handshakes.flatMap((one, index) => {
    const place = `${path}/${index}`
    if (!('visit' in one)) return []
    const read = 'body' in one.when.at ? [] : [{
      path: `${place}/when/at`,
      code: 'not_kept',
      message: 'The address is read once the request is verified, of its body: "when" reads the body too, such as { body: "/Type" }.'
    }]
    return [...read, ...[...hostProblems(one.hosts), ...hostSettingProblems(one.hosts, settings)].map((problem) => ({
      ...problem,
      path: `${place}${problem.path}`
    }))]
  })
}

/** Text that is sent back: printable, in one line. */
const echoed = /^[\x20-\x7E]{1,2000}$/

/** What is to be answered, before anything is verified: a text in its form. `event`: the request is an event besides. */
export type Echo = { text: string, as: 'text' | { member: string } | { header: string }, event: boolean }

/** The first handshake that a request fits: its echo, or the handshake itself. */
export async function handshakeIn (
  handshakes: readonly Handshake[],
  event: EventRequest
): Promise<Echo | Exclude<Handshake, { echo: Place }> | undefined> {
  for (const one of handshakes) {
    if ('method' in one && one.method !== (event.request.method ?? 'POST')) continue
    if (one.when !== undefined && !await isMet(one.when, event)) continue
    if (!('echo' in one)) return one
    const [text, ...others] = await event.textsAt(one.echo) ?? []
    if (text !== undefined && others.length === 0 && echoed.test(text)) return { text, as: one.as ?? 'text', event: one.event === true }
  }
  return undefined
}

async function isMet ({ at, is }: When, { textsAt }: EventRequest): Promise<boolean> {
  const texts = await textsAt(at)
  return texts !== undefined && (is === undefined || texts.includes(is))
}

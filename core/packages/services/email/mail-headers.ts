import { isAscii, Line, pointer, type Problem } from '@dispatch/common'
import { type Static, Type } from 'typebox'

/**
 * The headers that a client may set, in lower case: for mailing lists (RFC 2369, 2919, 8058), automatic e-mails (RFC 3834) and threads
 * (RFC 5322).
 */
const named = ['list-id', 'list-help', 'list-unsubscribe', 'list-unsubscribe-post', 'list-subscribe', 'list-post', 'list-owner',
  'list-archive', 'auto-submitted', 'in-reply-to', 'references', 'precedence', 'importance', 'organization', 'feedback-id']

/** Whatever the case of the letters is. */
const allowed = `^(?:[Xx]-[A-Za-z0-9-]{1,70}|${named.map(eitherCase).join('|')})$`
/** Those of the service itself. */
const own = `^${eitherCase('x-dispatch-')}`

function eitherCase (name: string): string {
  return name.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)
}

/** Headers of the client's own, by name. */
export const MailHeaders = Type.Unsafe<Record<string, string>>({
  title: 'MailHeaders',
  type: 'object',
  maxProperties: 20,
  propertyNames: {
    type: 'string',
    pattern: allowed,
    not: { pattern: own },
    description: 'a header that may be added: X-… (but for X-Dispatch-…), List-…, Auto-Submitted, In-Reply-To, References, Precedence, ' +
      'Importance, Organization, Feedback-ID'
  },
  additionalProperties: Line(900),
  description:
    'Headers of the mail: X-… (but for X-Dispatch-…), List-… of RFC 2369, 2919 and 8058, Auto-Submitted, In-Reply-To, References, ' +
    'Precedence, Importance, Organization and Feedback-ID.',
  examples: [{ 'List-Unsubscribe': '<https://example.com/unsubscribe/7>', 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }]
})
export type MailHeaders = Static<typeof MailHeaders>

/** Checks that the schema cannot express: each header once, valid addresses, and one-click unsubscribe only with a List-Unsubscribe URL. */
export function checkMailHeaders (headers: MailHeaders | undefined, path: string): Problem[] {
  const byName = Map.groupBy(
    Object.entries(headers ?? {}).map(([name, value]) => ({ name, key: name.toLowerCase(), value, path: pointer(path, name) })),
    ({ key }) => key
  )
  const unsubscribe = byName.get('list-unsubscribe')?.[0]?.value ?? ''
  return [...byName.values()].flatMap(([first, ...again]) =>
    first === undefined ? [] : [
      ...again.map((header) => ({
        path: header.path,
        code: 'duplicate',
        message: `The header "${first.name}" is given twice: upper and lower case in names are the same.`
      })),
      ...(rules[first.key.startsWith('x-') || first.key === 'organization' ? 'free' : first.key] ?? rules['structured'])?.(first,
        unsubscribe) ?? []
    ]
  )
}

type Header = { name: string, value: string, path: string }
type Rule = (header: Header, unsubscribe: string) => Problem[]

/** One address of the web or of mail in angle brackets, or several with commas between them (RFC 2369, 2). */
const addresses = /^<(?:https?|mailto):[^\s<>]+>(?: *, *<(?:https?|mailto):[^\s<>]+>)*$/

const inAscii: Rule = ({ name, value, path }) =>
  isAscii(value) ? [] : [{ path, code: 'not_ascii', message: `The header "${name}" must contain ASCII characters only.` }]

const addressed: Rule = ({ name, value, path }) =>
  addresses.test(value) ?
    [] :
    [{
      path,
      code: 'not_addresses',
      message: `The header "${name}" has addresses in angle brackets, such as <https://example.com/list> or <mailto:list@example.com>, ` +
        'with commas between them.'
    }]

const rules: Readonly<Record<string, Rule>> = {
  free: () => [],
  structured: inAscii,
  'list-help': addressed,
  'list-unsubscribe': addressed,
  'list-subscribe': addressed,
  'list-owner': addressed,
  'list-archive': addressed,
  'list-unsubscribe-post': ({ value, path }, unsubscribe) => [
    ...(value === oneClick ? [] : [{ path, code: 'const', message: `Expected "${oneClick}", the only permitted value (RFC 8058).` }]),
    ...(unsubscribe.includes('<https:')
      ? []
      : [{ path, code: 'no_address', message: 'A click needs an https:// address: give it in the header "List-Unsubscribe".' }])
  ]
}

/** The headers by which a mail program unsubscribes with one click. */
export function oneClickHeaders (url: string): MailHeaders {
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': oneClick }
}

const oneClick = 'List-Unsubscribe=One-Click'

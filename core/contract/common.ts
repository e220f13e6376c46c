import type { Json, JsonObject } from '@dispatch/common'
import { type Static, type TString, type TStringOptions, Type } from 'typebox'

/** Any JSON value. Other rules check it. */
export const AnyJson = Type.Unsafe<Json>({})

/** A JSON object. Other rules check its fields. */
export const AnyJsonObject = Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true })

/** The code of a provider: its name in paths, settings and logs, and the name of its folder. */
export const ProviderCode = Type.String({
  title: 'ProviderCode',
  pattern: '^[a-z][a-z0-9-]{1,40}$',
  description: 'a provider code: lowercase letters, digits and dashes, 2 to 41 characters, beginning with a letter',
  examples: ['simulator']
})

/** Flat key-value data of the client, returned unchanged: at most 20 pairs, keys of 1–50 and values of at most 500 characters. */
export const Metadata = Type.Unsafe<Record<string, string>>({
  title: 'Metadata',
  type: 'object',
  maxProperties: 20,
  propertyNames: { minLength: 1, maxLength: 50 },
  additionalProperties: { type: 'string', maxLength: 500 },
  description:
    'Flat key-value data, echoed in the response: at most 20 pairs, keys up to 50 characters, any but __proto__, and values up to 500.',
  examples: [{ orderId: 'A-1001' }]
})
export type Metadata = Static<typeof Metadata>

/** The URL that receives callbacks. */
export const CallbackUrl = Type.String({
  title: 'CallbackUrl',
  maxLength: 2048,
  format: 'https-url',
  description: 'an https:// URL without user name or password'
})

/*
 * Character classes for patterns, without look-ahead and Unicode classes, which generated clients do not support. They go inside the
 * brackets of a regular expression: control characters (Unicode Cc), line and paragraph separators, all other white space.
 */
const [controls, separators, spaces] = [
  '\\x00-\\x1f\\x7f-\\x9f',
  '\\u2028\\u2029',
  ' \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff'
]

/** The pattern of a text without control characters. */
export const withoutControls = `^[^${controls}]*$`

/** What all texts of one line have in common. */
export const oneLine = {
  minLength: 1,
  pattern: `^[^${controls}${separators}]*$`,
  not: { pattern: `^[${spaces}]+$` },
  description: 'one line, without control characters'
} as const

/** A text of one line that is not blank. It can be the value of a header, because it cannot start another header. */
export function Line (maxLength: number, options: TStringOptions = {}): TString {
  return Type.String({ ...oneLine, maxLength, ...options })
}

/** A text of one or more lines, separated by "\n", that is not blank. */
export function Lines (maxLength: number, options: TStringOptions = {}): TString {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[^\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f]*$',
    not: { pattern: `^[\\n${separators}${spaces}]+$` },
    ...options
  })
}

/** One e-mail address, with or without a display name before it. */
export const EmailAddress = Type.String({
  title: 'EmailAddress',
  format: 'mailbox',
  maxLength: 400,
  examples: ['ada@example.com', 'Ada Lovelace <ada@example.com>']
})

/** ISO 3166-1 alpha-2, or XK. */
export const CountryCode = Type.String({
  title: 'CountryCode',
  pattern: '^[A-Z]{2}$',
  description: 'an ISO 3166-1 alpha-2 country code, such as FR, or XK for Kosovo',
  examples: ['FR']
})

/** A short BCP 47 tag: a language, optionally with a country. */
export const LanguageCode = Type.String({
  title: 'LanguageCode',
  pattern: '^[a-z]{2,3}(-[A-Z]{2})?$',
  description: 'a language code, such as fr or en-GB',
  examples: ['fr']
})

/** A BCP 47 tag as clients write it: a language, a script and a region, in upper or lower case, with `_` for `-` as Java and POSIX do. */
export const LanguageTag = Type.String({
  title: 'LanguageTag',
  pattern: '^[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?$',
  description: 'a language tag, such as fr, fr-CA or zh-Hant',
  examples: ['fr']
})

export const Uuid = Type.String({ format: 'uuid' })

/** RFC 3339 in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' })

/** One problem or warning. */
export const ProblemSchema = Type.Object({
  path: Type.String({ description: 'JSON pointer into the request.' }),
  code: Type.String({
    description: 'For programs; new ones may come. `contradiction`: another place says otherwise. `wrong_template`: made for another ' +
      'service (`alsoFor`). `sample_data`: as in the template\'s sample. `other_recipient`: the page names somebody else. ' +
      '`not_checked`: that takes too long.'
  }),
  message: Type.String(),
  line: Type.Optional(Type.Integer({ minimum: 1, description: 'The line in the text at the path, if it has several lines.' })),
  column: Type.Optional(Type.Integer({ minimum: 1 }))
}, { title: 'Problem' })

/** A reference to a document, which a provider gets instead of the bytes. `size` is in bytes, `sha256` in lowercase hexadecimal. */
export const DocumentHandle = Type.Object({
  id: Uuid,
  filename: Type.String(),
  contentType: Type.String(),
  size: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' })
})
export type DocumentHandle = Static<typeof DocumentHandle> & { readonly [handleMark]?: true }

/** Exists for the compiler only: it tells a handle from any other object with texts and numbers. */
declare const handleMark: unique symbol

/** What is no document: a handle in its place does not compile. */
export type NoDocument = { readonly [handleMark]?: never }

import { type Static, type TString, type TStringOptions, Type } from 'typebox'

/*
 * Character classes for patterns, without look-ahead and Unicode classes, which generated clients do not support. They go inside the
 * brackets of a regular expression: control characters (Unicode Cc), line and paragraph separators, all other white space, and what else
 * nobody sees where nothing stands beside it: soft hyphens, joiners, marks of direction, fillers.
 */
const [controls, separators, spaces, fillers] = [
  '\\x00-\\x1f\\x7f-\\x9f',
  '\\u2028\\u2029',
  ' \\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff',
  '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164' +
  '\\ufe00-\\ufe0f\\uffa0'
]
const unseen = new RegExp(`^[${separators}${spaces}${fillers}\\n\\r\\t]+$`)

/** Whether a text has characters, and a reader sees none of them. */
export function isUnseen (text: string): boolean {
  return unseen.test(text)
}

/** The pattern of a text without control characters. */
export const withoutControls = `^[^${controls}]*$`

/** What all texts of one line have in common. */
export const oneLine = {
  minLength: 1,
  pattern: `^[^${controls}${separators}]*$`,
  not: { pattern: `^[${spaces}${fillers}]+$` },
  description: 'one line, without control characters'
} as const

/** A text of one line of which something is seen. It can be the value of a header, because it cannot start another header. */
export function Line (maxLength: number, options: TStringOptions = {}): TString {
  return Type.String({ ...oneLine, maxLength, ...options })
}

/** A text of one or more lines, separated by "\n", of which something is seen. */
export function Lines (maxLength: number, options: TStringOptions = {}): TString {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[^\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f]*$',
    not: { pattern: `^[\\n${separators}${spaces}${fillers}]+$` },
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

import formats from 'ajv-formats/dist/formats.js'
import { dayOf } from './day.ts'
import { isMailbox, isPlainAddress, isSender } from './mailbox.ts'
import { isRsaKey } from './private-key.ts'
import { uuidPattern } from './uuid.ts'

/** Stricter than the URL parser, which permits white space and a user name. */
const httpsUrl = /^https:\/\/[^\s/?#@]+(?:[/?#]\S*)?$/

const isDate = standard('date')
const isRfcTime = standard('date-time')
/**
 * RFC 3339 permits leap seconds, and ajv-formats permits shorter offsets. Both are refused, because every time becomes a `Date`, which
 * reads neither.
 */
const isDateTime = (text: string): boolean => isRfcTime(text) && !Number.isNaN(Date.parse(text))

/** The formats that a schema may name. Whatever checks a schema, Ajv or TypeBox, judges them by this table. */
export const stringFormats: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  email: standard('email'),
  uri: standard('uri'),
  'uri-reference': standard('uri-reference'),
  time: standard('time'),
  'date-time': isDateTime,
  'iso-8601': (text) => isDate(text) || isDateTime(text),
  day: (text) => dayOf(text) !== undefined,
  mailbox: isMailbox,
  'mail-address': isPlainAddress,
  'mail-sender': isSender,
  'rsa-private-key': isRsaKey,
  'mailbox-or-none': (text) => text === '' || isMailbox(text),
  'https-url': (text) => httpsUrl.test(text) && URL.canParse(text),
  'time-zone': isTimeZone,
  // Without the "urn:uuid:" that ajv-formats allows and PostgreSQL does not.
  uuid: (text) => uuidPattern.test(text)
}

/** The check of a format of JSON Schema, as ajv-formats has it. */
function standard (name: 'date' | 'date-time' | 'email' | 'time' | 'uri' | 'uri-reference'): (text: string) => boolean {
  const format = formats.fullFormats[name]
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'function') return format
  if (typeof format === 'object' && 'validate' in format && typeof format.validate === 'function') {
    return format.validate as (text: string) => boolean
  }
  throw new Error(`ajv-formats no longer has the format ${name}.`)
}

/** The name of a time zone in the IANA database of the runtime. */
function isTimeZone (text: string): boolean {
  try {
    return /^[A-Za-z]/.test(text) && new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

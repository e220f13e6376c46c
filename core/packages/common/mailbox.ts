import { domainToASCII } from 'node:url'
// This file alone: the whole package would be in the memory of each process of an adapter.
import isEmail from 'validator/lib/isEmail.js'
import { normalForm } from './normal-form.ts'

/** One mailbox of an e-mail: an address, and the name before it if there is one. */
export type Mailbox = { name?: string, address: string }

/**
 * A display name before an address (RFC 5322, 3.4): a quoted text, or words without special characters, because an unquoted name could hide
 * a second address. Neither may contain control characters. No part of the pattern can match in two ways, so that the time is proportional
 * to the length; the length is checked only later.
 */
const named = /^(?:"(?<quoted>(?:[^"\\\p{Cc}]|\\\P{Cc})*)" *|(?<words>[^"()<>[\]:;@\\,\p{Cc}]*))<(?<address>[^<>]+)>$/u

/** Reads `ada@example.com` or `Ada Lovelace <ada@example.com>`; undefined when a text is not exactly one of these forms. */
export function readMailbox (text: string): Mailbox | undefined {
  const { quoted, words, address = text } = named.exec(text)?.groups ?? {}
  const name = (quoted?.replaceAll(/\\(.)/gu, '$1') ?? words ?? '').trim()
  if (!isAddress(address)) return undefined
  return name === '' ? { address } : { name, address }
}

/** Whether a text is one mailbox. */
export function isMailbox (text: string): boolean {
  return readMailbox(text) !== undefined
}

/**
 * A local part in quotes (RFC 5321, 4.1.2) with the characters of one without: mobile operators in Japan gave out addresses with two dots
 * in a row, or with one before the `@`. Commas, spaces and brackets in quotes are in use nowhere, and would look like a second address.
 */
const quotedLocalPart = /^"[\w!#$%&'*+\-/=?^`{|}~.]{1,62}"(?=@)/

/** Most addresses, for which the long way below comes to the same: two hyphens in a row may be the beginning of an encoded label. */
const usual = /^[a-z0-9](?:[\w+-]|\.(?=[\w+-])){0,63}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i

/**
 * Refused are domains that cannot exist in DNS, and invisible characters. Letters beyond ASCII are permitted before the `@` too (RFC 6531).
 */
function isAddress (text: string): boolean {
  if (text.length <= 254 && usual.test(text) && !text.includes('--')) return true
  const plain = text.replace(quotedLocalPart, 'quoted')
  return !/["\p{C}\p{Z}]/u.test(plain) && isEmail.default(plain) && domainToASCII(plain.slice(plain.lastIndexOf('@') + 1)) !== ''
}

/** Whether a text is one address without a name before it. */
export function isPlainAddress (text: string): boolean {
  return !text.includes('<') && isAddress(text)
}

/** Whether a text is an address, or `@` and the domain of addresses. A star is neither: whoever writes one means more than that address. */
export function isSender (text: string): boolean {
  return !text.includes('*') && isPlainAddress(text.startsWith('@') ? `a${text}` : text)
}

/** Whether a text is pure ASCII. */
export function isAscii (text: string): boolean {
  return /^[ -~]*$/.test(text)
}

/** An address with its domain in ASCII, for systems that know no other domains. */
export function asciiDomain (address: string): string {
  const at = address.lastIndexOf('@')
  return `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`
}

/** A mailbox with the domain of its address in ASCII, and its name as it is written. */
export function asciiMailbox (mailbox: string): string {
  const { address = mailbox } = readMailbox(mailbox) ?? {}
  const at = mailbox.lastIndexOf(address)
  return mailbox.slice(0, at) + asciiDomain(address) + mailbox.slice(at + address.length)
}

/** Whether the part of an address before the `@` is ASCII: others need a server that takes them (RFC 6531). */
export function hasAsciiLocalPart (mailbox: string): boolean {
  return isAscii((readMailbox(mailbox)?.address ?? mailbox).replace(/@[^@]*$/, ''))
}

/**
 * The address of a mailbox for comparison: its domain in ASCII and lower case. The part before the `@` is unchanged, because only its
 * domain decides whether upper and lower case differ.
 */
export function comparable (mailbox: string): string {
  return normalForm(asciiDomain(readMailbox(mailbox)?.address ?? mailbox))
}

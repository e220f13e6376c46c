import { domainToASCII } from 'node:url'
import validator from 'validator'

/** One mailbox of an e-mail: an address, and whom it belongs to where that is told. */
export type Mailbox = { name?: string, address: string }

/**
 * A display name before an address (RFC 5322, 3.4): a quoted text, or words without the characters that would begin
 * something else, because a name that is not quoted could smuggle a second address in. No control characters in either.
 * Nothing in it can match in two ways: a text is judged before its length is, and must not take longer than it is long.
 */
const named = /^(?:"(?<quoted>(?:[^"\\\p{Cc}]|\\["\\])*)" *|(?<words>[^"()<>[\]:;@\\,\p{Cc}]*))<(?<address>[^<>]+)>$/u

/** Reads `ada@example.com` or `Ada Lovelace <ada@example.com>`; undefined when a text is not exactly one of them. */
export function readMailbox (text: string): Mailbox | undefined {
  const { quoted, words, address = text } = named.exec(text)?.groups ?? {}
  const name = (quoted?.replaceAll(/\\(.)/g, '$1') ?? words ?? '').trim()
  if (!isAddress(address)) return undefined
  return name === '' ? { address } : { name, address }
}

/** Whether a text is one mailbox. */
export function isMailbox (text: string): boolean {
  return readMailbox(text) !== undefined
}

/**
 * Quoted local parts are refused: nobody has one, and they may hold commas and line breaks. So are domains that no name server
 * could be asked for, and characters that nobody sees. Letters beyond ASCII may stand before the `@` too (RFC 6531).
 */
function isAddress (text: string): boolean {
  return !/["\p{C}\p{Z}]/u.test(text) && validator.isEmail(text) && domainToASCII(text.slice(text.lastIndexOf('@') + 1)) !== ''
}

/** Whether a text is one address, without a name before it. */
export function isPlainAddress (text: string): boolean {
  return !text.includes('<') && isAddress(text)
}

/** Whether all characters of a text are those of ASCII. */
export function isAscii (text: string): boolean {
  return /^[ -~]*$/.test(text)
}

/** An address with its domain in ASCII, for those who know no other ones. */
export function asciiDomain (address: string): string {
  const at = address.lastIndexOf('@')
  return `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`
}

/**
 * The address of a mailbox as it is compared: its domain in ASCII and lower case. Whether the case of what stands before it matters is for
 * its domain to say.
 */
export function comparable (mailbox: string): string {
  return asciiDomain(readMailbox(mailbox)?.address ?? mailbox).normalize('NFC')
}

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

/** Quoted local parts are refused: nobody has one, and they may hold commas and line breaks. So are domains that no name server could be asked for. */
function isAddress (text: string): boolean {
  return !text.includes('"') && validator.isEmail(text, { allow_utf8_local_part: false }) && domainToASCII(text.slice(text.lastIndexOf('@') + 1)) !== ''
}

/** The address of a mailbox as it is compared: its domain in ASCII and lower case. Whether the case of what stands before it matters is for its domain to say. */
export function comparable (mailbox: string): string {
  const address = readMailbox(mailbox)?.address ?? mailbox
  const at = address.lastIndexOf('@')
  return `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`
}

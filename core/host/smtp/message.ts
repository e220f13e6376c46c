import type { DocumentHandle } from '../../contract/common.ts'
import type { TurnedAway } from '../../contract/recipients.ts'

/**
 * An e-mail. Addresses are bare or with a name, as in `Ada <ada@example.com>`; the body is HTML, text or both. With the same
 * `id`, `date` and content it is the same message, byte by byte.
 */
export type SmtpMessage = {
  /** What stands before the `@` of its Message-ID; random unless given. */
  id?: string
  /** RFC 3339; now unless given. */
  date?: string | undefined
  /** Of all its recipients, the addresses that it is sent to now; all unless given. */
  only?: readonly string[]
  from: string
  to: readonly string[]
  cc?: readonly string[]
  bcc?: readonly string[]
  replyTo?: string
  subject: string
  html?: string
  text?: string
  /** Pictures that the HTML shows as `cid:<contentId>`. */
  inline?: readonly (DocumentHandle & { contentId: string })[]
  attachments?: readonly DocumentHandle[]
  headers?: Readonly<Record<string, string>>
}

/**
 * The mail server, as a tenant configures it. `starttls` (port 587, the default) and `tls` (port 465) both refuse to go on
 * without a verified certificate.
 */
export type SmtpTransport = { host: string, port?: number, security?: 'starttls' | 'tls', user?: string, password?: string, dkim?: Dkim }

/** With what messages are signed (RFC 6376): the private key (RSA, PEM) whose public one stands at `<selector>._domainkey.<domain>`. */
export type Dkim = { domain: string, selector: string, privateKey: string }

/**
 * What the server took. `response` is its last line. Recipients that it does not take beside accepted ones are no error:
 * `rejected` for good (5xx), `waiting` for now (4xx). `date` is that of the message.
 */
export type SmtpReceipt = {
  messageId: string
  date: string
  response: string
  accepted: string[]
  rejected: TurnedAway[]
  waiting: TurnedAway[]
}

/** A provider's way to mail servers. */
export type Smtp = {
  /** Throws what `failureOf` reads; then nobody was sent the message, unless it says that the outcome is unknown. */
  send: (message: SmtpMessage, transport: SmtpTransport) => Promise<SmtpReceipt>
}

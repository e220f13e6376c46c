import type { DocumentHandle } from '../contract/common.ts'

/** An e-mail. Addresses are bare or with a name, as in `Ada <ada@example.com>`; the body is HTML, text or both. */
export type SmtpMessage = {
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
export type SmtpTransport = { host: string, port?: number, security?: 'starttls' | 'tls', user?: string, password?: string }

/** What the server took. `response` is its last line. Recipients that it refused beside accepted ones are no error. */
export type SmtpReceipt = { messageId: string, response: string, accepted: string[], rejected: { address: string, code?: number, message: string }[] }

/** A provider's way to mail servers. */
export type Smtp = {
  /** Throws what `failureOf` reads; then nobody was sent the message, unless it says that the outcome is unknown. */
  send: (message: SmtpMessage, transport: SmtpTransport) => Promise<SmtpReceipt>
}

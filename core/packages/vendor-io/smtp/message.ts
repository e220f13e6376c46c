import type { DocumentHandle, TurnedAway } from '@dispatch/common'
import type { OAuth2 } from '../http/oauth.ts'

/**
 * An e-mail. An address is bare or has a name, as in `Ada <ada@example.com>`. The body is HTML, text or both. With the same `id`, `date`
 * and content, the message is the same byte for byte.
 */
export type SmtpMessage = {
  /** The part of its Message-ID before the `@`; random if not given. */
  id?: string
  /** RFC 3339; the current time if not given. */
  date?: string | undefined
  /** The addresses among its recipients to which it is sent now; all if not given. */
  only?: readonly string[]
  from: string
  to: readonly string[]
  cc?: readonly string[]
  bcc?: readonly string[]
  replyTo?: string | readonly string[]
  subject: string
  html?: string
  text?: string
  /** Pictures that the HTML shows as `cid:<contentId>`. */
  inline?: readonly (DocumentHandle & { contentId: string })[]
  attachments?: readonly DocumentHandle[]
  headers?: Readonly<Record<string, string>>
}

/**
 * The tenant's mail server. Both `starttls` (port 587, the default) and `tls` (port 465) require a verified certificate. The sign-in is a
 * `user` with a `password`, or with an access token (XOAUTH2) that the host fetches by `oauth2`; without a user there is none.
 */
export type SmtpTransport = {
  host: string
  port?: number
  security?: 'starttls' | 'tls'
  user?: string
  password?: string
  oauth2?: OAuth2
  dkim?: Dkim
}

/**
 * The signature of messages (RFC 6376): `privateKey` is an RSA key in PEM; its public key is published at `<selector>._domainkey.<domain>`.
 */
export type Dkim = { domain: string, selector: string, privateKey: string }

/**
 * The result of a message that the server accepted. `response` is the last line of its answer. Refused recipients are no error as long as
 * others are accepted: `rejected` lists permanent refusals (5xx), `waiting` temporary ones (4xx). `date` is that of the message.
 */
export type SmtpReceipt = {
  messageId: string
  date: string
  response: string
  accepted: string[]
  rejected: TurnedAway[]
  waiting: TurnedAway[]
}

/** A provider's access to mail servers. */
export type Smtp = {
  /** Throws an error that `failureOf` reads. After an error nobody got the message, unless it says that the outcome is unknown. */
  send: (message: SmtpMessage, transport: SmtpTransport) => Promise<SmtpReceipt>
  /** Connects, starts TLS, signs in and ends the session: nothing is sent. Throws an error that `failureOf` reads. */
  verify: (transport: SmtpTransport) => Promise<void>
}

import type { ProviderErrorWord } from '../outcome/failure.ts'
import { RequestFailure, type RequestOutcome } from '../outcome/request-outcome.ts'

/** The facts of an SMTP error, and the command that it answers. */
export type SmtpError = {
  code?: string | undefined
  command?: string | undefined
  responseCode?: number | undefined
  response?: string | undefined
  message: string
}

/** `whole`: the whole message was sent, and only the server's answer is missing. */
type Row = { fits: (error: SmtpError, whole: boolean) => boolean, verdict: Exclude<RequestOutcome, 'done'>, word?: ProviderErrorWord }

/**
 * What the server says of the recipients: 4yz at RCPT, unless it closes the session (421) or is unwell itself (X.3.Z, RFC 3463).
 */
const isOfRecipient = ({ command, responseCode, response = '' }: SmtpError): boolean =>
  command === 'RCPT TO' && within(responseCode, 400) && responseCode !== 421 && !/^4\d\d[ -]4\.3\./.test(response)

const within = (code: number | undefined, from: number): boolean => code !== undefined && code >= from && code < from + 100

/**
 * The outcome for the end of an SMTP session; the first row that fits counts. A server accepts a message with its answer to the final dot.
 * Before that, nothing was accepted (RFC 5321, 4.1.1.4 and 4.2.5).
 */
const ends: readonly Row[] = [
  { fits: ({ code }) => code === 'ETLS', verdict: 'not done' },
  { fits: isOfRecipient, verdict: 'not done', word: 'recipient_unavailable' },
  { fits: ({ responseCode }) => within(responseCode, 400), verdict: 'not done' },
  { fits: ({ code }) => code === 'EAUTH' || code === 'ENOAUTH', verdict: 'refused', word: 'authentication_error' },
  { fits: ({ responseCode }) => within(responseCode, 500), verdict: 'refused', word: 'distant_service_error' },
  { fits: (_error, whole) => whole, verdict: 'uncertain' },
  { fits: () => true, verdict: 'not done' }
]

/** The failure for an error of a session. */
export function smtpFailure (host: string, error: SmtpError, whole: boolean): RequestFailure {
  const { verdict, word } = ends.find(({ fits }) => fits(error, whole)) ?? { verdict: 'uncertain' as const }
  const { responseCode } = error
  return new RequestFailure(verdict, smtpErrorMessage(host, error), {
    cause: error,
    ...(word !== undefined && { word }),
    ...(responseCode !== undefined && { code: String(responseCode) })
  })
}

/** What OpenSSL says where the other side does not speak TLS. */
const isPlain = /:(?:wrong version number|packet length too long|record layer failure)/

/** The sentence for an error of a session, about the whole message or about one recipient. */
export function smtpErrorMessage (host: string, { code, response, message }: Pick<SmtpError, 'code' | 'response' | 'message'>): string {
  if (code === 'ETLS') return `"${host}" offers no TLS (STARTTLS) at this port, and no mail is sent without it.`
  const [isOfTls, reason] = /:SSL routines:[^:]*:([^:]+)/.exec(message) ?? []
  if (isOfTls !== undefined) {
    return isPlain.test(message)
      ? `"${host}" does not begin with TLS at this port: "tls" is for port 465 as a rule, "starttls" for port 587.`
      : `TLS could not begin with "${host}": ${reason ?? 'for no known reason'}.`
  }
  return response === undefined ? `"${host}" did not accept the message: ${message}.` : `"${host}" answered: ${response}`
}

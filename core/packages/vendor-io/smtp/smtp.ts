import { hasAsciiLocalPart, type Log, type TurnedAway } from '@dispatch/common'
import type { ReadDocument } from '../documents/own-documents.ts'
import { canonicalHost } from '../http/guard.ts'
import { checkHost } from '../http/target.ts'
import { tokensOf, type TokenSource } from '../http/tokens.ts'
import type { Line, Notebook } from '../notes/exchanges.ts'
import type { LeaseCheck } from '../outcome/lease-check.ts'
import { letOut, providerErrorOf, RequestFailure } from '../outcome/request-outcome.ts'
import { letterOf } from './compose.ts'
import { checkHeaders } from './headers.ts'
import type { LazyMailers, Mailer } from './mailer.ts'
import type { Smtp, SmtpMessage, SmtpReceipt, SmtpTransport } from './message.ts'
import { type SmtpError, smtpErrorMessage } from './outcome.ts'

/** The options of one call's `smtp`. */
export type SmtpOptions = TokenSource & {
  mailers: LazyMailers
  documents: { read: ReadDocument }
  holds: LeaseCheck
  log: Log
  /** Where the exchanges of the call are noted. */
  notebook?: Notebook
  /** Reports a secret that appeared during the call. It must not be shown either. */
  conceal: (secret: string) => void
}

/** The `smtp` of one call of a provider's verb. */
export function createSmtp (options: SmtpOptions): Smtp {
  const { documents, ended, holds } = options
  return {
    async send (message, transport) {
      const noted = { headers: envelopeOf(message) }
      return await perform(options, transport, { noted, unsafe: true, prepare: () => checkHeaders(message) },
        (mailer, host) => deliver(mailer, { host, ended, holds, message, read: documents.read }))
    },
    verify: (transport) => perform(options, transport, { noted: {}, unsafe: false }, (mailer) => mailer.verify())
  }
}

/** An exchange with a mail server. `unsafe`: it must not be repeated, because a second mail would be sent. */
type Task = { noted: Partial<Line>, unsafe: boolean, prepare?: () => void }

async function perform<Result> (
  options: SmtpOptions,
  transport: SmtpTransport,
  { noted, unsafe, prepare }: Task,
  work: (mailer: Mailer, host: string) => Promise<Result>
): Promise<Result> {
  const { targets, progress, ended, log, notebook } = options
  const request = { unsafe }
  const begun = performance.now()
  const line = notebook?.begin('SMTP')
  try {
    if (ended.aborted) {
      throw new RequestFailure('not done', `The provider "${targets.provider}" asked a mail server after its call had ended.`, {
        ours: true
      })
    }
    const host = canonicalHost(transport.host)
    if (host === undefined) {
      throw new RequestFailure('not done', `"${transport.host}" is not a host name such as smtp.example.com.`, { ours: true })
    }
    checkHost(host, targets)
    prepare?.()
    if (line !== undefined) Object.assign(line, { url: `smtp://${host}:${transport.port ?? 587}`, ...noted })
    const result = await signedIn(options, transport, host, (mailer) => {
      letOut({ provider: targets.provider, progress, ended }, { host, request })
      return work(mailer, host)
    })
    progress.done(request)
    if (line !== undefined) line.answer = result
    return result
  } catch (error) {
    if (line !== undefined && error instanceof Error) line.failure = error.message
    throw error instanceof RequestFailure ? providerErrorOf(error, progress, request) : error
  } finally {
    line?.end()
    log.debug({ host: transport.host, ms: Math.round(performance.now() - begun) }, 'mail server called')
  }
}

/** Works with the sessions of a sign-in. Where the server refuses a token that was there before, once more with a new one. */
async function signedIn<Result> (
  options: SmtpOptions,
  { oauth2, ...transport }: SmtpTransport,
  host: string,
  work: (mailer: Mailer) => Promise<Result>
): Promise<Result> {
  const { mailers, account, conceal } = options
  if (oauth2 === undefined) return await work(await mailers.get(account, transport, host))
  const tokens = tokensOf(options, oauth2)
  const attempt = async (accessToken: string): Promise<Result> => {
    conceal(accessToken)
    return await work(await mailers.get(account, { ...transport, accessToken }, host))
  }
  const { value, cached } = await tokens.token()
  try {
    return await attempt(value)
  } catch (error) {
    if (!cached || !(error instanceof RequestFailure) || error.facts.word !== 'authentication_error') throw error
    await tokens.drop(value)
    return await attempt((await tokens.token()).value)
  }
}

/** Who gets what from whom. The texts of the mail are those of its dispatch. */
function envelopeOf ({ from, to, cc = [], bcc = [], subject }: SmtpMessage): Record<string, string> {
  return { from, to: to.join(', '), cc: cc.join(', '), bcc: bcc.join(', '), subject }
}

type Delivery = { host: string, ended: AbortSignal, holds: LeaseCheck, message: SmtpMessage, read: ReadDocument }

async function deliver (mailer: Mailer, { host, ended, holds, message, read }: Delivery): Promise<SmtpReceipt> {
  const { messageId, date, everybody, compose } = letterOf(message, { read, ended })
  const beyondAscii = everybody.find(({ address }) => !hasAsciiLocalPart(address))
  if (beyondAscii !== undefined && !await mailer.takesUtf8()) {
    throw new RequestFailure('refused', `"${host}" accepts ASCII addresses only, not ${beyondAscii.address}: it does not offer SMTPUTF8.`, {
      code: 'smtputf8',
      word: 'distant_service_error'
    })
  }
  const sent = await mailer.send(compose, holds)
  const { rejected = [], waiting = [] } = Object.groupBy((sent.rejectedErrors ?? []).map((error) => turnedAway(host, error)),
    ({ code }) => code !== undefined && code < 500 ? 'waiting' : 'rejected')
  return { messageId, date, response: sent.response, accepted: sent.accepted, rejected, waiting }
}

/** The most characters of a server's answer about one recipient: a response with 150 recipients must stay below its limit. */
const longestWords = 200

/** A refused recipient, from an error of the session. */
function turnedAway (host: string, { recipient = '', responseCode, ...error }: SmtpError & { recipient?: string | undefined }): TurnedAway {
  return {
    address: recipient,
    ...(responseCode !== undefined && { code: responseCode }),
    message: smtpErrorMessage(host, error).slice(0, longestWords)
  }
}

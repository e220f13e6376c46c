import { isAscii, readMailbox } from '@dispatch/common'
import { hash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { domainToASCII } from 'node:url'
import type { DocumentHandle } from '../../contract/common.ts'
import type { TurnedAway } from '../../contract/recipients.ts'
import type { Notebook } from '../call/exchanges.ts'
import type { Log } from '../call/log.ts'
import { type CallProgress, providerErrorOf, RequestFailure } from '../call/request-outcome.ts'
import type { ReadDocument } from '../http/body.ts'
import { canonicalHost } from '../http/guard.ts'
import type { Network } from '../http/network.ts'
import { readPieces } from '../http/pieces.ts'
import { type AllowedHosts, checkHost } from '../http/target.ts'
import type { LeaseCheck } from '../manifest/lease-check.ts'
import { checkHeaders } from './headers.ts'
import type { Composed, Mailer } from './mailer.ts'
import type { Smtp, SmtpMessage, SmtpReceipt } from './message.ts'
import { type SmtpError, smtpErrorMessage } from './outcome.ts'

/** The options of one call's `smtp`. */
export type SmtpOptions = {
  mailers: Network['mailers']
  account: string
  targets: AllowedHosts
  documents: { read: ReadDocument }
  progress: CallProgress
  ended: AbortSignal
  holds: LeaseCheck
  log: Log
  /** Where the exchanges of the call are noted. */
  notebook?: Notebook
}

/** The `smtp` of one call of a provider's verb. */
export function createSmtp ({ mailers, account, targets, documents, progress, ended, holds, log, notebook }: SmtpOptions): Smtp {
  return {
    async send (message, transport) {
      const begun = performance.now()
      const line = notebook?.begin('SMTP')
      try {
        if (ended.aborted) {
          throw new RequestFailure('not done', `The provider "${targets.provider}" sent an e-mail after its call had ended.`, {
            ours: true
          })
        }
        const host = canonicalHost(transport.host)
        if (host === undefined) {
          throw new RequestFailure('not done', `"${transport.host}" is not a host name such as smtp.example.com.`, { ours: true })
        }
        checkHost(host, targets)
        checkHeaders(message)
        progress.asking(host)
        if (line !== undefined) Object.assign(line, { url: `smtp://${host}:${transport.port ?? 587}`, headers: envelopeOf(message) })
        const receipt = await deliver(await mailers.get(account, transport, host), { host, ended, holds, message, read: documents.read })
        progress.done({ unsafe: true })
        if (line !== undefined) line.answer = receipt
        return receipt
      } catch (error) {
        if (line !== undefined && error instanceof Error) line.failure = error.message
        throw error instanceof RequestFailure ? providerErrorOf(error, progress, { unsafe: true }) : error
      } finally {
        line?.end()
        log.debug({ host: transport.host, ms: Math.round(performance.now() - begun) }, 'mail server called')
      }
    }
  }
}

/** Who gets what from whom. The texts of the mail are those of its dispatch. */
function envelopeOf ({ from, to, cc = [], bcc = [], subject }: SmtpMessage): Record<string, string> {
  return { from, to: to.join(', '), cc: cc.join(', '), bcc: bcc.join(', '), subject }
}

type Delivery = { host: string, ended: AbortSignal, holds: LeaseCheck, message: SmtpMessage, read: ReadDocument }

async function deliver (mailer: Mailer, { host, ended, holds, message, read }: Delivery): Promise<SmtpReceipt> {
  const { from, replyTo, ...recipients } = addressesOf(message)
  const beyondAscii = [from, ...recipients.to, ...recipients.cc, ...recipients.bcc, ...replyTo].find(({ address }) =>
    !isAscii(address.replace(/@[^@]*$/, ''))
  )
  if (beyondAscii !== undefined && !await mailer.takesUtf8()) {
    throw new RequestFailure('refused', `"${host}" accepts ASCII addresses only, not ${beyondAscii.address}: it does not offer SMTPUTF8.`, {
      code: 'smtputf8',
      word: 'distant_service_error'
    })
  }
  const messageId = `<${message.id ?? randomUUID()}@${domainToASCII(from.address.replace(/^.*@/, ''))}>`
  const date = message.date ?? new Date().toISOString()
  const compose = (): Composed => ({
    messageId,
    date: new Date(date),
    // The boundary between the parts would otherwise be random, and so different in each attempt.
    baseBoundary: hash('sha256', messageId).slice(0, 32),
    from,
    ...recipients,
    replyTo,
    subject: message.subject,
    html: message.html,
    text: message.text,
    headers: { ...message.headers },
    ...(message.only === undefined ? {} : { envelope: { from: from.address, to: [...message.only] } }),
    attachments: [
      ...(message.inline ?? []).map(({ contentId, ...document }) => ({
        ...attachment(document, read),
        cid: contentId,
        contentDisposition: 'inline' as const
      })),
      ...(message.attachments ?? []).map((document) => attachment(document, read))
    ],
    signal: ended
  })
  const sent = await mailer.send(compose, holds)
  const { rejected = [], waiting = [] } = Object.groupBy((sent.rejectedErrors ?? []).map((error) => turnedAway(host, error)),
    ({ code }) => code !== undefined && code < 500 ? 'waiting' : 'rejected')
  return { messageId, date, response: sent.response, accepted: sent.accepted, rejected, waiting }
}

type Address = { name: string, address: string }

function addressesOf ({ from, to, cc = [], bcc = [], replyTo = [] }: SmtpMessage):
  & { from: Address }
  & Record<'to' | 'cc' | 'bcc' | 'replyTo', Address[]>
{
  return {
    from: mailbox(from),
    to: to.map(mailbox),
    cc: cc.map(mailbox),
    bcc: bcc.map(mailbox),
    replyTo: [replyTo].flat().map(mailbox)
  }
}

/** One address as a name and an address. It is not parsed again, so that one text never becomes two recipients. */
function mailbox (text: string): Address {
  const read = readMailbox(text)
  if (read === undefined) {
    throw new RequestFailure('refused', `"${text}" is not one e-mail address such as ada@example.com.`, { code: 'address' })
  }
  return { name: '', ...read }
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

function attachment (document: DocumentHandle, read: ReadDocument): { filename: string, contentType: string, content: Readable } {
  return {
    filename: document.filename,
    contentType: document.contentType,
    content: Readable.from(readPieces([document], read), { objectMode: false })
  }
}

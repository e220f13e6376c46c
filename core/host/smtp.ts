import { hash, randomUUID } from 'node:crypto'
import { PassThrough, pipeline, Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import nodemailer, { type Mail, type SMTPPoolOptions, type SMTPPoolSentMessageInfo } from 'nodemailer'
import parseAddresses from 'nodemailer/lib/addressparser'
import type { DocumentHandle } from '../contract/common.ts'
import { canonicalHost } from './guard.ts'
import type { ReadDocument } from './http-body.ts'
import { readPieces } from './http-multipart.ts'
import { checkHost, type Targets } from './http-target.ts'
import type { Log } from './log.ts'
import { judge, RequestFailure, type Progress } from './outcome.ts'
import { checkHeaders, isWritten } from './smtp-headers.ts'
import type { Smtp, SmtpMessage, SmtpReceipt, SmtpTransport } from './smtp-message.ts'
import { smtpFailure } from './smtp-outcome.ts'
import { connectWithin, openSocket, type SocketOptions } from './smtp-socket.ts'

/** The mail sessions of this process, pooled by account and transport. */
export type Mailers = { get: (account: string, transport: SmtpTransport, host: string) => Mailer, close: () => void }

/** `whole`: the ids of messages whose last byte has been handed to the connection. */
type Mailer = { mail: Mail<SMTPPoolSentMessageInfo, SMTPPoolOptions>, whole: Set<string> }

/** Milliseconds; RFC 5321, 4.5.3.2 allows more, a dispatch does not. */
const limits = { connectionTimeout: connectWithin, greetingTimeout: 15_000, socketTimeout: 60_000, idleTimeout: 10_000 }
const pool = { pool: true, maxConnections: 4, maxMessages: 100, maxRequeues: 0 } as const
const mostMailers = 500
const ports = { starttls: 587, tls: 465 } as const

type MailersOptions = SocketOptions & { ca?: readonly string[] }

export function createMailers (options: MailersOptions): Mailers {
  const mailers = new LRUCache<string, Mailer>({ max: mostMailers, dispose: ({ mail }) => mail.close() })
  return {
    get (account, transport, host) {
      const key = hash('sha256', JSON.stringify([account, transport]))
      const mailer = mailers.get(key) ?? createMailer(options, transport, host)
      mailers.set(key, mailer)
      return mailer
    },
    close: () => mailers.clear()
  }
}

function createMailer ({ ca, ...sockets }: MailersOptions, { port, security = 'starttls', user, password }: SmtpTransport, host: string): Mailer {
  const to = { host, port: port ?? ports[security] }
  const whole = new Set<string>()
  const options: SMTPPoolOptions & { pool: true } = {
    ...pool,
    ...limits,
    ...to,
    secure: security === 'tls',
    requireTLS: true,
    tls: { minVersion: 'TLSv1.2', ...(ca !== undefined && { ca: [...ca] }) },
    ...(user !== undefined && { auth: { user, pass: password ?? '' } }),
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_options, callback) => { openSocket(sockets, to).then((connection) => callback(null, { connection }), callback) }
  }
  const mail = nodemailer.createTransport(options)
  mail.use('stream', ({ message, data }, done) => {
    message.processFunc((input) => pipeline(input, new PassThrough(), () => undefined).once('end', () => { if (typeof data.messageId === 'string') whole.add(data.messageId) }))
    done()
  })
  return { mail, whole }
}

/** What one call's smtp works with. */
export type SmtpOptions = { mailers: Mailers, account: string, targets: Targets, documents: { read: ReadDocument }, progress: Progress, ended: AbortSignal, log: Log }

/** The `smtp` of one call of a provider's verb. */
export function createSmtp ({ mailers, account, targets, documents, progress, ended, log }: SmtpOptions): Smtp {
  return {
    async send (message, transport) {
      const begun = performance.now()
      try {
        if (ended.aborted) throw new RequestFailure('not done', `The provider "${targets.provider}" sent an e-mail after its call had ended.`, { ours: true })
        const host = canonicalHost(transport.host)
        if (host === undefined) throw new RequestFailure('not done', `"${transport.host}" is no host name such as smtp.example.com.`, { ours: true })
        checkHost(host, targets)
        checkHeaders(message)
        const receipt = await deliver(mailers.get(account, transport, host), { host, ended, message, read: documents.read })
        progress.done({ unsafe: true })
        return receipt
      } catch (error) {
        throw error instanceof RequestFailure ? judge(error, progress, { unsafe: true }) : error
      } finally {
        log.debug({ host: transport.host, ms: Math.round(performance.now() - begun) }, 'mail server called')
      }
    }
  }
}

type Delivery = { host: string, ended: AbortSignal, message: SmtpMessage, read: ReadDocument }

async function deliver ({ mail, whole }: Mailer, { host, ended, message, read }: Delivery): Promise<SmtpReceipt> {
  const from = mailbox(message.from)
  const messageId = `<${randomUUID()}@${from.address.replace(/^.*@/, '')}>`
  try {
    const sent = await mail.sendMail({
      messageId,
      from,
      to: message.to.map(mailbox),
      cc: message.cc?.map(mailbox),
      bcc: message.bcc?.map(mailbox),
      replyTo: message.replyTo === undefined ? undefined : mailbox(message.replyTo),
      subject: message.subject,
      html: message.html,
      text: message.text,
      headers: { ...message.headers },
      attachments: [
        ...(message.inline ?? []).map(({ contentId, ...document }) => ({ ...attachment(document, read), cid: contentId, contentDisposition: 'inline' as const })),
        ...(message.attachments ?? []).map((document) => attachment(document, read))
      ],
      signal: ended
    })
    return {
      messageId,
      response: sent.response,
      accepted: sent.accepted,
      rejected: (sent.rejectedErrors ?? []).map(({ recipient = '', responseCode, response, message: words }) => ({ address: recipient, ...(responseCode !== undefined && { code: responseCode }), message: response ?? words }))
    }
  } catch (error) {
    if (error instanceof RequestFailure || !(error instanceof Error)) throw error
    throw smtpFailure(host, error, whole.has(messageId))
  } finally {
    whole.delete(messageId)
  }
}

/** One address, as a name and an address: never parsed again, so that no text becomes two recipients. */
function mailbox (text: string): { name: string, address: string } {
  const [first, ...others] = parseAddresses(text)
  if (first?.address === undefined || others.length > 0 || !isWritten(text, first.address)) throw new RequestFailure('refused', `"${text}" is not one e-mail address such as ada@example.com.`, { code: 'address' })
  return { name: first.name, address: first.address }
}

function attachment (document: DocumentHandle, read: ReadDocument): { filename: string, contentType: string, content: Readable } {
  return { filename: document.filename, contentType: document.contentType, content: Readable.from(readPieces([document], read), { objectMode: false }) }
}

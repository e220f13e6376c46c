import { LRUCache } from 'lru-cache'
import { hash } from 'node:crypto'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import nodemailer, { type MailMessage, type SendMailOptions, type SMTPPoolOptions, type SMTPSentMessageInfo } from 'nodemailer'
import DKIM from 'nodemailer/lib/dkim'
import MailComposer from 'nodemailer/lib/mail-composer'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { type LeaseCheck, piecesUnderLease } from '../outcome/lease-check.ts'
import { RequestFailure } from '../outcome/request-outcome.ts'
import type { Dkim, SmtpTransport } from './message.ts'
import { type SmtpError, smtpFailure } from './outcome.ts'
import { connectWithin, openSocket, type SocketOptions } from './socket.ts'

/** A mail server and the sign-in there: with an access token, sessions of another token are other ones. */
export type MailAccess = Omit<SmtpTransport, 'oauth2'> & { accessToken?: string }

/** The mail sessions of this process, pooled by account and access. */
export type Mailers = { get: (account: string, access: MailAccess, host: string) => Mailer, close: () => void }

/** Mail sessions whose library is loaded by the first use. */
export type LazyMailers = { get: (...of: Parameters<Mailers['get']>) => Promise<Mailer>, close: () => Promise<void> }

/** A message; its streams are read once. The id must be unique. */
export type Composed = SendMailOptions & { messageId: string }

export type Mailer = {
  /**
   * Sends one message while the caller `holds` its lease. It is composed again where the kept session that it was given had ended. Throws a
   * {@link RequestFailure}.
   */
  send: (compose: () => Composed, holds: LeaseCheck) => Promise<SMTPSentMessageInfo>
  /** Whether the server takes addresses beyond ASCII (RFC 6531). Throws a {@link RequestFailure}. */
  takesUtf8: () => Promise<boolean>
  /** Opens a session, signs in, and ends it. Throws a {@link RequestFailure}. */
  verify: () => Promise<void>
  close: () => void
}

/** The state of a message while it is sent. `begun`, `whole`: its first or last byte has been given to the connection. */
type Sending = { begun: boolean, whole: boolean, holds: LeaseCheck, envelope?: Envelope }

/** The envelope of the connection. It holds the server's answers so far, which the error after a disconnect would hide. */
type Envelope = { from: string | false, to: string[], mailError?: SmtpError, rejectedErrors?: SmtpError[], accepted?: string[] }

/** Milliseconds for a greeting, and for TLS to start. */
const greetingTimeout = 15_000
/**
 * Time limits in milliseconds. RFC 5321, 4.5.3.2 allows more, a dispatch does not. nodemailer counts the connection, which has a limit of
 * its own here, the greeting and TLS together as `connectionTimeout`.
 */
const limits = { connectionTimeout: connectWithin + 2 * greetingTimeout, greetingTimeout, socketTimeout: 60_000, idleTimeout: 10_000 }
const pool = { pool: true, maxConnections: 4, maxMessages: 100, maxRequeues: 0 } as const
const maxMailers = 500
const ports = { starttls: 587, tls: 465 } as const

/** `name`: the name with which this service greets mail servers. */
export type MailersOptions = SocketOptions & { ca?: readonly string[], name?: string }

/** Mailers by account and access, those used last. Each has up to 4 sessions with its server, for 100 messages each. */
export function createMailers (options: MailersOptions): Mailers {
  const mailers = new LRUCache<string, Mailer>({ max: maxMailers, dispose: (mailer) => mailer.close() })
  return {
    get (account, access, host) {
      const key = hash('sha256', JSON.stringify([account, access]))
      const mailer = mailers.get(key) ?? createMailer(options, access, host)
      mailers.set(key, mailer)
      return mailer
    },
    close: () => mailers.clear()
  }
}

/** The bytes of a message that no mail server is given; its Bcc stands in it. */
export function writeMessage (message: Composed): Readable {
  const mail = new MailComposer({ ...message, disableFileAccess: true, disableUrlAccess: true }).compile()
  mail.keepBcc = true
  return Readable.from(mail.createReadStream() as AsyncIterable<Buffer>, { objectMode: false })
}

function createMailer (options: MailersOptions, access: MailAccess, host: string): Mailer {
  const { port, security = 'starttls', user, dkim } = access
  const to = { host, port: port ?? ports[security] }
  const open = (): Promise<Socket> => openSocket(options, to)
  const session = { ...sessionOptions(options, access), ...to }
  const sendings = new Map<string, Sending>()
  const signer = dkim === undefined ? undefined : signerOf(dkim)
  const getSocket: SMTPPoolOptions['getSocket'] = (_options, callback) => {
    open().then((connection) => callback(null, { connection }), callback)
  }
  const prepare = ({ message, data }: MailMessage, done: () => void): void => {
    const sending = sendings.get(data.messageId ?? '')
    // The message is signed before its bytes are watched, because the signer reads the whole message before it gives the first byte.
    if (signer !== undefined) message.processFunc((input) => signer.sign(input))
    if (sending !== undefined) watch(message, sending)
    done()
  }
  /** Keeps its sessions for the next messages. */
  const pooled = nodemailer.createTransport({ ...pool, ...session, getSocket })
  /** Has a session for each message. */
  const single = nodemailer.createTransport({ ...session, getSocket })
  pooled.use('stream', prepare)
  single.use('stream', prepare)

  async function sendBy (mail: Pick<typeof single, 'sendMail'>, message: Composed, holds: LeaseCheck): Promise<SMTPSentMessageInfo> {
    const sending: Sending = { begun: false, whole: false, holds }
    sendings.set(message.messageId, sending)
    try {
      return await mail.sendMail(message)
    } catch (error) {
      if (error instanceof RequestFailure || !(error instanceof Error)) throw error
      const answer = answered(error, sending)
      if (isSessionGone(answer, sending)) throw new SessionGone(answer)
      throw smtpFailure(host, answer, sending.whole)
    } finally {
      sendings.delete(message.messageId)
    }
  }

  let utf8 = false
  return {
    async send (compose, holds) {
      try {
        return await sendBy(pooled, compose(), holds).catch((error: unknown) => {
          if (error instanceof SessionGone) return sendBy(single, compose(), holds)
          throw error
        })
      } catch (error) {
        throw error instanceof SessionGone ? smtpFailure(host, error.answer, false) : error
      }
    },
    async takesUtf8 () {
      utf8 ||= offersUtf8(await greeting(session, host, open))
      return utf8
    },
    async verify () {
      // Where a sign-in is asked for, a server that offers none refuses it.
      const checked = nodemailer.createTransport({ ...session, getSocket, forceAuth: user !== undefined })
      try {
        await checked.verify()
      } catch (error) {
        throw error instanceof RequestFailure || !(error instanceof Error) ? error : smtpFailure(host, error, false)
      }
    },
    close: () => pooled.close()
  }
}

function sessionOptions (
  { ca, name }: MailersOptions,
  { security = 'starttls', user, password, accessToken }: MailAccess
): Omit<SMTPPoolOptions, 'pool'> {
  return {
    ...limits,
    ...(name !== undefined && { name }),
    secure: security === 'tls',
    requireTLS: true,
    tls: { minVersion: 'TLSv1.2', ...(ca !== undefined && { ca: [...ca] }) },
    ...(user !== undefined && {
      auth: accessToken === undefined ? { user, pass: password ?? '' } : { type: 'OAuth2' as const, user, accessToken }
    }),
    disableFileAccess: true,
    disableUrlAccess: true
  }
}

/** The extensions of a server, from its answer to EHLO after TLS has started. */
async function greeting (session: Omit<SMTPPoolOptions, 'pool'>, host: string, open: () => Promise<Socket>): Promise<string> {
  const connection = new SMTPConnection({ ...session, connection: await open() })
  const ready = Promise.withResolvers<undefined>()
  connection.on('error', ready.reject)
  connection.connect((error) => error ? ready.reject(error) : ready.resolve(undefined))
  try {
    await ready.promise
    return String(connection.lastServerResponse)
  } catch (error) {
    throw error instanceof Error ? smtpFailure(host, error, false) : error
  } finally {
    connection.quit()
  }
}

function offersUtf8 (greeting: string): boolean {
  return /^250[ -]SMTPUTF8\b/im.test(greeting)
}

/** The usual signed headers (RFC 6376, 5.4.1), and those for unsubscribing with one click (RFC 8058, 4). */
const signed =
  'From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding:In-Reply-To:References:Auto-Submitted:' +
  'List-Id:List-Help:List-Unsubscribe:List-Unsubscribe-Post:List-Subscribe:List-Post:List-Owner:List-Archive'

function signerOf ({ domain, selector, privateKey }: Dkim): DKIM {
  return new DKIM({ domainName: domain, keySelector: selector, privateKey, headerFieldNames: signed })
}

function watch (message: MailMessage['message'], sending: Sending): void {
  message.setEnvelope(message.getEnvelope())
  sending.envelope = message.getEnvelope()
  message.processFunc((input) => Readable.from(sent(input, sending), { objectMode: false, highWaterMark: 1 }))
}

/**
 * The server has ended the session before the first byte of the message. It was likely a kept one, which has been used for long enough or
 * for enough messages (421, RFC 5321, 3.8). So nothing was sent, and it proves nothing about the server.
 */
class SessionGone extends Error {
  override name = 'SessionGone'
  readonly answer: SmtpError

  constructor (answer: SmtpError) {
    super(answer.message)
    this.answer = answer
  }
}

/** nodemailer gives the envelope a list of those accepted when it tells a session the sender. */
function isSessionGone ({ code, responseCode }: SmtpError, { begun, envelope }: Sending): boolean {
  if (begun || envelope?.accepted === undefined) return false
  return responseCode === 421 || (responseCode === undefined && (code === 'ECONNECTION' || code === 'ESOCKET'))
}

/** The bytes of a message. The server accepts a message with its end, so the end is sent only while the caller holds its lease. */
async function* sent (input: AsyncIterable<Buffer>, sending: Sending): AsyncGenerator<Buffer> {
  sending.begun = true
  yield* piecesUnderLease(input, sending.holds)
  sending.whole = true
}

/**
 * The error with the answer that the server gave before it disconnected. With pipelining, that answer is known but otherwise reported only
 * at the end.
 */
function answered (error: Error & SmtpError, { envelope }: Sending): SmtpError {
  if (error.response !== undefined || envelope === undefined || (envelope.accepted ?? []).length > 0) return error
  return envelope.mailError ?? envelope.rejectedErrors?.at(-1) ?? error
}

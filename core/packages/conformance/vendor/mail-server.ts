import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { MailAnswer } from '../fixtures/fixture.ts'
import type { Certificate } from './certificates.ts'

/** Who signed in, by a password or by an access token (XOAUTH2). */
export type MailSignIn = { user?: string, password?: string, token?: string }

/** A message as the server got it, and who signed in. */
export type ReceivedMail = { from: string, to: string[], source: string } & MailSignIn

/** The point of a session at which it ends: with a reply, or with a broken connection. */
export type MailScript = { at: 'sign-in' | 'sender' | 'recipient' | 'message', reply: string } | {
  at: 'greeting' | 'sender' | 'message'
  cut: true
} | { at: 'message', silent: true }

/** A real SMTP server with STARTTLS, or with TLS from the first byte. The accepted messages are in `mails`; `signIn` is the last one. */
export type MailServer = { port: number, mails: ReceivedMail[], signIn: () => MailSignIn, close: () => Promise<void> }

/**
 * `answer` gives its reply to a message. `script` disturbs its sessions. `heard` is called when it has a whole message and stays silent.
 */
export type MailServerOptions = {
  certificate: Certificate
  tls: boolean
  signsIn: boolean
  answer: MailAnswer
  script?: MailScript | undefined
  heard: () => void
}

/** A mail server on this machine, which takes mails or refuses them as its script says. `close` ends it. */
export async function createMailServer ({ certificate, tls, signsIn, answer, script, heard }: MailServerOptions): Promise<MailServer> {
  const sockets = new Set<Socket>()
  const mails: ReceivedMail[] = []
  let login: MailSignIn = {}
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const end = (at: MailScript['at'], callback: (error?: Error) => void): boolean => {
    if (script?.at !== at) return false
    if ('reply' in script) callback(replyOf(script.reply))
    else if ('cut' in script) cut()
    else heard()
    return true
  }

  const options: SMTPServerOptions = {
    ...certificate,
    secure: tls,
    authOptional: !signsIn,
    authMethods: ['PLAIN', 'LOGIN', 'XOAUTH2'],
    onConnect (_session, callback) {
      if (!end('greeting', callback)) callback()
    },
    onAuth ({ username: user = '', password, accessToken: token }, _session, callback) {
      login = { user, ...(typeof password === 'string' && { password }), ...(token !== undefined && { token }) }
      if (!end('sign-in', callback)) callback(null, { user })
    },
    onMailFrom (_address, _session, callback) {
      if (!end('sender', callback)) callback()
    },
    onRcptTo ({ address }, _session, callback) {
      const refusal = answer.refused?.[address]
      if (!end('recipient', callback)) callback(refusal === undefined ? undefined : replyOf(refusal))
    },
    onData (stream, { envelope: { mailFrom, rcptTo } }, callback) {
      text(stream).then((source) => {
        mails.push({ from: mailFrom === false ? '' : mailFrom.address, to: rcptTo.map(({ address }) => address), source, ...login })
        if (!end('message', callback)) callback(null, answer.message ?? 'Queued')
      }, callback)
    }
  }
  const server = new SMTPServer(options)
  // A client that disconnects is not a fault of the server.
  server.on('error', () => undefined)
  server.server.on('connection', (socket: Socket) => sockets.add(socket.once('close', () => sockets.delete(socket))))
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    port,
    mails,
    signIn: () => login,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        cut()
      })
  }
}

/** A reply such as "550 No such user". */
function replyOf (reply: string): Error {
  const [, code = '554', message = reply] = /^(\d{3}) (.*)$/.exec(reply) ?? []
  return Object.assign(new Error(message), { responseCode: Number(code) })
}

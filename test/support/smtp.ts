import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Test } from 'tap'
import { createAuthority } from '../../core/packages/conformance/vendor/certificates.ts'
import type { Route } from '../../core/packages/vendor-io/http/transport.ts'

/** A message as the server got it. */
export type Mail = { from: string, to: string[], source: string, secure: boolean, user: string | undefined }

/** A real SMTP server for one test: STARTTLS and a login (`user`, `password`) are required unless the options say otherwise. */
export type MailServer = {
  ca: string
  port: number
  route: Route
  mails: Mail[]
  /** How many connections were made. */
  connections: () => number
  /** Ends every connection without a word. */
  cut: () => void
}

/** An answer of the server with its code. */
export function answer (responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

/** `options` may end the connection by `cut` where they are called. */
export async function mailServer (t: Test, optionsOf: (cut: () => void) => SMTPServerOptions = () => ({})): Promise<MailServer> {
  const authority = await createAuthority()
  const sockets = new Set<Socket>()
  const mails: Mail[] = []
  let connections = 0
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }

  const server = new SMTPServer({
    ...await authority.issue('mail.acme.test'),
    authMethods: ['PLAIN', 'LOGIN'],
    onAuth ({ username, password }, _session, callback) {
      if (username === 'user' && password === 'password') callback(null, { user: username })
      else callback(answer(535, 'Wrong user or password.'))
    },
    onData (stream, session, callback) {
      text(stream).then((source) => {
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source,
          secure: session.secure,
          user: session.user
        })
        callback(null, 'Queued.')
      }, callback)
    },
    ...optionsOf(cut)
  })
  // Clients that give up are no fault of the server.
  server.on('error', () => undefined)
  server.server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket.once('close', () => sockets.delete(socket)))
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  t.teardown(() =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      cut()
    })
  )
  return { ca: authority.ca, port, route: () => ({ host: '127.0.0.1', port }), mails, connections: () => connections, cut }
}

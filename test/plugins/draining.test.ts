import { withTimeLimit } from '@dispatch/common'
import fastify from 'fastify'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createAuthority } from '../../core/packages/conformance/vendor/certificates.ts'
import { drainingPlugin } from '../../plugins/server/draining.ts'
import { contains } from '../support/matching.ts'

const bodyTimeout = 500
/** Milliseconds, far below the limits after which Node and Fastify close a silent connection by themselves. */
const soon = 30_000

/** A server with routes that answer when told to, and connections to it on which text is sent. */
async function server (t: Test) {
  const answering = Promise.withResolvers<string>()
  const app = fastify({ return503OnClosing: false, forceCloseConnections: 'idle' })
  await app.register(drainingPlugin, { bodyTimeout })
  app.get('/slow', () => answering.promise)
  app.get('/fast', () => 'fast')
  app.get('/stream', async (_request, reply) =>
    reply.send(Readable.from((async function* () {
      yield 'begun '
      yield await answering.promise
    })())))
  app.post('/echo', (request) => request.body)
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  const accepted = new Map<number | undefined, Socket>()
  app.server.on('connection', (socket: Socket) => accepted.set(socket.remotePort, socket))
  const open = async (text: string): Promise<{ socket: Socket, received: () => string, ended: Promise<unknown> }> => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    let received = ''
    socket.on('data', (more: string) => {
      received += more
    })
    const ended = once(socket, 'close')
    const bytes = text.replaceAll('\n', '\r\n')
    socket.write(bytes)
    await once(socket, 'connect')
    while ((accepted.get(socket.localPort)?.bytesRead ?? -1) < bytes.length) await pause(5)
    await pause(50)
    return { socket, received: () => received, ended }
  }
  /** Resolves when the server takes no more connections. */
  const close = async (): Promise<{ closed: Promise<undefined> }> => {
    const closed = app.close()
    while (app.server.listening) await pause(5)
    return { closed }
  }
  return { app, answer: answering.resolve, open, close }
}

const get = (path: string): string => `GET ${path} HTTP/1.1\nHost: localhost\n\n`
const post = (body: string): string => `POST /echo HTTP/1.1\nHost: localhost\nContent-Type: application/json\nContent-Length: 13\n\n${body}`

void t.test('a request under way is answered, as the last of its connection', async (t) => {
  const { answer, open, close } = await server(t)
  const [slow, begun] = [await open(get('/slow')), await open(get('/stream'))]
  const { closed } = await close()
  await pause(2 * bodyTimeout)
  answer('done')
  await Promise.all([closed, slow.ended, begun.ended])
  contains(t, slow.received(), /^HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n[^]*done$/i)
  contains(t, begun.received(), /begun [^]*done[^]*$/)
})

void t.test('a request that comes on an open connection meanwhile is answered too', async (t) => {
  const { answer, open, close } = await server(t)
  const slow = await open(get('/slow'))
  const kept = await open(get('/fast') + get('/slow'))
  const { closed } = await close()
  answer('done')
  await Promise.all([closed, slow.ended, kept.ended])
  contains(t, kept.received(), /fast[^]*HTTP\/1\.1 200 OK[^]*done$/)
})

void t.test('before, an idle connection serves the next request', async (t) => {
  const { app, open } = await server(t)
  const [kept, other] = [await open(get('/fast')), await open(get('/fast'))]
  kept.socket.write(get('/fast').replaceAll('\n', '\r\n'))
  await pause(50)
  await app.close()
  await Promise.all([kept.ended, other.ended])
  t.equal(kept.received().split('200 OK').length - 1, 2)
})

void t.test('connections on which nothing is under way do not delay the end', async (t) => {
  const { app, open } = await server(t)
  const connections = [await open(''), await open('GET /fast HTTP/1.1\nHost: local'), await open(get('/fast'))]
  await t.resolves(withTimeLimit(soon, Promise.all([app.close(), ...connections.map(({ ended }) => ended)])))
})

void t.test('half a request head does not outlive the last answer', async (t) => {
  const { answer, open, close } = await server(t)
  const [slow, half] = [await open(get('/slow')), await open('GET /fast HTTP/1.1\nHost: local')]
  const { closed } = await close()
  answer('done')
  await Promise.all([closed, half.ended])
  contains(t, slow.received(), 'done')
})

void t.test('a body that goes on coming is waited for, one that stalls is not', async (t) => {
  const { answer, open, close } = await server(t)
  const [coming, stalled, late] = [await open(post('{"rest"')), await open(post('{"rest"')), await open(get('/stream'))]
  const { closed } = await close()
  coming.socket.write(':true}')
  late.socket.write(post('{"rest"').replaceAll('\n', '\r\n'))
  await pause(50)
  answer('done')
  await Promise.all([closed, stalled.ended, coming.ended, late.ended])
  contains(t, coming.received(), /^HTTP\/1\.1 200 OK[^]*\{"rest":true\}$/)
  t.equal(stalled.received(), '')
  contains(t, late.received(), 'done')
})

void t.test('half a handshake of TLS does not delay the end', async (t) => {
  const app = fastify({
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    https: await (await createAuthority()).issue('localhost')
  })
  await app.register(drainingPlugin, { bodyTimeout })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const silent = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const ended = once(silent, 'close')
  await once(silent, 'connect')
  await t.resolves(withTimeLimit(soon, Promise.all([app.close(), ended])))
})

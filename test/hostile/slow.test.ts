import fastify from 'fastify'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { boundConnections } from '../../plugins/server/connection-limits.ts'
import { type TransportLimits, transportLimits } from '../../plugins/server/transport-limits.ts'
import { answerUnreadable, transportPlugin } from '../../plugins/server/transport.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { admin, invoiceRequest, startService } from '../support/service.ts'
import { hasNoFault, traces } from './support.ts'

const limits = { ...transportLimits, head: 200, request: 600, checkInterval: 50, answer: 300, minBytesPerSecond: 1024 ** 3 }
const service = await startService(t, { replacements: { renderer: quickRenderer, transportLimits: limits } })
const { app, send } = service
const port = Number(new URL(service.url).port)
const authorization = `Authorization: Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`

type Connection = { socket: Socket, received: () => string, ended: Promise<unknown> }

async function open (to = port): Promise<Connection> {
  const socket = connect(to, '127.0.0.1')
  let received = ''
  socket.on('error', () => undefined).on('data', (bytes: Buffer) => {
    received += bytes.toString('latin1')
  })
  const ended = once(socket, 'close')
  await once(socket, 'connect')
  return { socket, received: () => received, ended }
}

/** Sends piece after piece with a pause before each, until nobody takes them any more. */
async function trickle ({ socket }: Connection, pieces: Iterable<string>, every = 20): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return
    socket.write(piece)
    await pause(every)
  }
}

const head = (line: string, ...headers: string[]): string => `${[line, 'Host: localhost', authorization, ...headers].join('\r\n')}\r\n\r\n`
const upload = (length: number): string =>
  head('POST /api/upload HTTP/1.1', 'Content-Type: multipart/form-data; boundary=b', `Content-Length: ${String(length)}`) +
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\n'

/** The documented body of an answer that ends its connection. */
function isTimeout (t: Test, text: string, name: string): void {
  contains(t, text, /^HTTP\/1\.1 408 Request Timeout\r\n[^]*Connection: close\r\n[^]*"error":"validation_error"/, name)
}

await t.test('a head that comes byte by byte, and a connection that says nothing, are ended', async (t) => {
  const [slow, silent] = [await open(), await open()]
  await trickle(slow, head('GET /healthz HTTP/1.1', `X-Slow: ${'a'.repeat(200)}`))
  await Promise.all([slow.ended, silent.ended])
  isTimeout(t, slow.received(), 'byte by byte')
  isTimeout(t, silent.received(), 'nothing')
})

await t.test('for its head a request has a shorter time than for all of it', async (t) => {
  const patient = await startService(t, { replacements: { renderer: quickRenderer, transportLimits: { ...limits, request: 3_600_000 } } })
  const [slow, silent] = [await open(Number(new URL(patient.url).port)), await open(Number(new URL(patient.url).port))]
  slow.socket.write('GET /healthz HTTP/1.1\r\nX-Slow: ')
  await Promise.all([slow.ended, silent.ended])
  isTimeout(t, slow.received(), 'half a head')
  isTimeout(t, silent.received(), 'nothing')
})

await t.test('a body that comes byte by byte is ended, and leaves nothing behind', async (t) => {
  const before = await traces(app)
  const body = JSON.stringify(invoiceRequest())
  for (const sent of [
    head('POST /api/invoicing HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${String(body.length)}`),
    head('POST /api/invoicing HTTP/1.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked') + '5000\r\n'
  ]) {
    const connection = await open()
    connection.socket.write(sent)
    await trickle(connection, body)
    await connection.ended
    lacks(t, connection.received(), '200 OK')
  }
  t.same(await traces(app), before)
})

await t.test('an upload that stalls or breaks off leaves no file, no row and nothing in the spool', async (t) => {
  // One that comes whole makes the folders that stay.
  const form = new FormData()
  form.set('file', new Blob(['Hello']), 'hello.txt')
  t.equal(
    (await fetch(`${service.url}/api/upload`, {
      method: 'POST',
      body: form,
      headers: { authorization: authorization.slice('Authorization: '.length) }
    })).status,
    200
  )
  const before = await traces(app)
  const megabyte = 'x'.repeat(1024 * 1024)
  const [stalled, broken, gone] = [await open(), await open(), await open()]
  stalled.socket.write(upload(5_000_000) + megabyte)
  broken.socket.write(upload(5_000_000) + megabyte)
  gone.socket.write(upload(5_000_000) + megabyte)
  await pause(100)
  broken.socket.resetAndDestroy()
  gone.socket.end()
  await Promise.all([stalled.ended, broken.ended, gone.ended])
  while (JSON.stringify(await traces(app)) !== JSON.stringify(before)) await pause(20)
  t.same(await traces(app), before)
  t.same(await readdir(join(app.get('config').dataDirectory, 'spool')).catch(() => []), [])
})

await t.test('an answer that is not taken is cut off, and what it was read from is closed', async (t) => {
  const { url, answers } = await bareServer(t)
  const size = 64 * 1024 * 1024
  const stalled = connect(url, '127.0.0.1').on('error', () => undefined)
  stalled.write(`GET /large?size=${String(size)} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  stalled.pause()
  await once(stalled, 'connect')
  while (answers.open === 0) await pause(10)
  while (answers.open > 0) await pause(20)
  t.ok(answers.destroyed)
  stalled.destroy()
})

await t.test('a large answer may take as long as its bytes need on a slow line', async (t) => {
  const { url } = await bareServer(t, { ...limits, minBytesPerSecond: 1024 })
  const slow = await open(url)
  slow.socket.pause()
  slow.socket.write('GET /large?size=20000000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  await pause(2 * limits.answer)
  slow.socket.resume()
  await slow.ended
  t.ok(slow.received().length > 20_000_000, 'it came whole')
})

await t.test('an answer that waits for those before it is not cut off meanwhile', async (t) => {
  const { url, release } = await bareServer(t)
  const connection = await open(url)
  connection.socket.write('GET /waiting HTTP/1.1\r\nHost: a\r\n\r\nGET /fast HTTP/1.1\r\nHost: a\r\n\r\n')
  await pause(3 * limits.answer)
  release()
  while (!connection.received().includes('fast')) await pause(10)
  contains(t, connection.received(), /waited[^]*fast/)
  connection.socket.destroy()
})

await t.test('an answer that had to wait for its turn, and is not taken then, is cut off too', async (t) => {
  const { url, answers, release } = await bareServer(t)
  const stalled = connect(url, '127.0.0.1').on('error', () => undefined)
  const size = String(64 * 1024 * 1024)
  stalled.write(`GET /waiting HTTP/1.1\r\nHost: a\r\n\r\nGET /large?size=${size} HTTP/1.1\r\nHost: a\r\n\r\n`)
  stalled.pause()
  await once(stalled, 'connect')
  await pause(2 * limits.answer)
  release()
  while (answers.open > 0) await pause(20)
  t.ok(answers.destroyed)
  stalled.destroy()
})

await t.test('of requests sent together only so many are begun; the others wait their turn', async (t) => {
  const { url, release, seen } = await bareServer(t)
  const connection = await open(url)
  const amount = 3000
  // A read takes 64 KiB at once: each request has one KiB.
  const request = `GET /waiting HTTP/1.1\r\nHost: a\r\nX-Padding: ${'a'.repeat(960)}\r\n\r\n`
  connection.socket.write(request.repeat(amount))
  await pause(200)
  t.ok(seen() <= limits.pipelined + 70, `${String(seen())} were begun`)
  release()
  while (connection.received().split('waited').length <= amount) await pause(20)
  t.equal(seen(), amount, 'in the end all were answered')
  connection.socket.destroy()
})

await t.test('so many connections are open at once, in all and of one address; a client beyond is cut, the others go on', async (t) => {
  for (const bounds of [{ connections: 3, connectionsOfAddress: 10 }, { connections: 10, connectionsOfAddress: 3 }]) {
    const { url } = await bareServer(t, { ...limits, ...bounds })
    const kept = [await open(url), await open(url), await open(url)]
    const beyond = [await open(url), await open(url)]
    await Promise.all(beyond.map(({ ended }) => ended))
    kept[0]?.socket.write('GET /fast HTTP/1.1\r\nHost: a\r\n\r\n')
    while (kept[0]?.received().includes('fast') !== true) await pause(10)
    for (const { socket } of kept) socket.destroy()
    await pause(50)
    const next = await open(url)
    next.socket.write('GET /fast HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    await next.ended
    contains(t, next.received(), 'fast', 'who leaves makes room')
  }
})

await t.test('a proxy\'s connections are not one client\'s', async (t) => {
  const { url } = await bareServer(t, { ...limits, connectionsOfAddress: 1 }, () => true)
  const connections = [await open(url), await open(url), await open(url)]
  for (const { socket } of connections) socket.write('GET /fast HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await Promise.all(connections.map(({ ended }) => ended))
  t.ok(connections.every(({ received }) => received().includes('fast')))
})

await t.test('meanwhile and afterwards the service serves', async (t) => {
  has(t, await send('POST', '/api/invoicing', { body: invoiceRequest() }), { status: 200 })
  hasNoFault(t, service)
})

/** A server with the rules of the transport alone. */
async function bareServer (t: Test, bounds: TransportLimits = limits, isProxy: (address: string) => boolean = () => false) {
  const waiting = Promise.withResolvers<string>()
  const answers = { open: 0, destroyed: false }
  let seen = 0
  const app = fastify({ clientErrorHandler: answerUnreadable, forceCloseConnections: true })
  boundConnections(app.server, bounds, isProxy)
  await app.register(transportPlugin, { limits: bounds })
  app.get('/waiting', async () => {
    seen++
    return waiting.promise
  })
  app.get('/fast', () => 'fast')
  app.get<{ Querystring: { size: string } }>('/large', async (request, reply) => {
    const bytes = Buffer.alloc(64 * 1024, 'x')
    const source = Readable.from((function* () {
      for (let left = Number(request.query.size); left > 0; left -= bytes.length) yield bytes.subarray(0, left)
    })())
    answers.open++
    source.once('close', () => {
      answers.open--
      answers.destroyed = source.destroyed
    })
    return reply.header('content-length', request.query.size).send(source)
  })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  return {
    url: Number(new URL(address).port),
    release: () => {
      waiting.resolve('waited')
    },
    seen: () => seen,
    answers
  }
}

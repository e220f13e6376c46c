import fastify from 'fastify'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { unreadBodyPlugin } from '../../plugins/hooks/unread-body.ts'
import { drainingPlugin } from '../../plugins/server/draining.ts'
import { contains, lacks } from '../support/matching.ts'
import { admin, startService } from '../support/service.ts'

const service = await startService(t)
const authorization = `Authorization: Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`
const large = Buffer.alloc(12 * 1024 * 1024, ' ')

/** What comes back where all of a body is sent before anything is read, and then another request on the same connection. */
async function answersTo (path: string, body: Buffer, ...headers: string[]): Promise<string> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.pause()
  const head = [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', `Content-Length: ${body.length}`, ...headers]
  await new Promise((resolve) => socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]), resolve))
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  return Buffer.concat(await socket.toArray()).toString()
}

await t.test('who sends all of a body that is refused gets the answer, and the connection serves on', async (t) => {
  const cases: [path: string, body: Buffer, status: number, headers: string[]][] = [
    ['/api/sms', Buffer.from('{ not'), 400, [authorization]],
    ['/api/sms', Buffer.from('"caf\xe9"', 'latin1'), 400, [authorization]],
    ['/api/sms', large, 413, [authorization]],
    ['/api/v1/suppressions/import', large, 413, [authorization]],
    ['/auth', Buffer.from('{ not'), 400, []],
    ['/auth', large, 413, []]
  ]
  for (const [path, body, status, headers] of cases) {
    const answers = await answersTo(path, body, ...headers)
    contains(t, answers, new RegExp(`^HTTP/1\\.1 ${status} [^]*HTTP/1\\.1 204 `), `${path} ${status}`)
    lacks(t, answers.slice(0, answers.indexOf('HTTP/1.1 204')), /connection: close/i, `${path} ${status}`)
  }
})

await t.test('an answer says for how long its connection is kept; that of a closing server, that it is the last', async (t) => {
  const headers = { connection: 'keep-alive' }
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>()
  get(`${service.url}/livez`, { headers, agent: new Agent({ keepAlive: true }) }, resolve)
  const answer = await promise
  answer.resume()
  t.equal(answer.headers.connection, 'keep-alive')
  contains(t, answer.headers['keep-alive'] ?? '', /^timeout=\d+$/)

  const app = fastify({ return503OnClosing: false })
  await app.register(drainingPlugin)
  await app.register(unreadBodyPlugin)
  const answering = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<undefined>()
  app.get('/slow', () => {
    begun.resolve(undefined)
    return answering.promise
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await begun.promise
  const closed = app.close()
  while (app.server.listening) await pause(5)
  answering.resolve('slow')
  contains(t, Buffer.concat(await socket.toArray()).toString(), /connection: close\r\n/i)
  await closed
})

await t.test('who does not come to the end of a refused body is disconnected', async (t) => {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write('POST /auth HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\nx')
  contains(t, Buffer.concat(await socket.toArray()).toString(), /^HTTP\/1\.1 413 /)
})

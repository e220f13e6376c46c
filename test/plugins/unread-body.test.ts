import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
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

await t.test('who does not come to the end of a refused body is disconnected: a stranger soon', async (t) => {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write('POST /auth HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\nx')
  const begun = performance.now()
  contains(t, Buffer.concat(await socket.toArray()).toString(), /^HTTP\/1\.1 413 /)
  t.ok(performance.now() - begun < 10_000)
})

import fastify from 'fastify'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { askOwn, isOwn, ownActor, streamOwn } from '../../plugins/hooks/own-request.ts'
import { contains } from '../support/matching.ts'

const actor = { userId: 1, companyId: 2, email: 'ada@example.com', role: 'admin', services: ['*'] } as const
const app = fastify()
app.addHook('onRequest', async (request, reply) => {
  reply.headers({ 'x-own': String(isOwn(request.raw) && isOwn(reply.raw)), 'x-actor': String(ownActor(request.raw)?.userId) })
})
app.post('/told',
  (request, reply) => reply.send({ body: request.body, ip: request.ip, key: request.headers['idempotency-key'], url: request.url }))
app.delete('/gone', (_request, reply) => reply.code(204).send())
app.get('/whose', (request) => ({ own: isOwn(request.raw), userId: ownActor(request.raw)?.userId ?? null }))
app.get('/bytes', (_request, reply) => reply.type('image/png').send(Buffer.from([0xff, 0xfe])))
app.get('/cut', (_request, reply) => reply.raw.destroy())
app.get('/broken', () => Promise.reject(new Error('broken')))
const { promise: closed, resolve } = Promise.withResolvers<string>()
app.get('/stream', (_request, reply) => {
  reply.raw.once('close', () => resolve('closed'))
  return reply.type('text/plain').send(Readable.from((async function* () {
    yield 'one,'
    yield 'two'
    await closed
  })()))
})
const broken = new PassThrough()
app.get('/broken-stream', (_request, reply) => {
  broken.write('one')
  return reply.type('text/plain').send(broken)
})
t.teardown(() => app.close())
await app.ready()

const ask = (method: string, url: string, more: { payload?: object, headers?: Record<string, string> } = {}) =>
  askOwn(app, { actor, method, url, remoteAddress: '192.0.2.7', headers: {}, ...more })

await t.test('it is a whole request: body, headers, query and address', async (t) => {
  const answer = await ask('POST', '/told?a=1', { payload: { text: 'é' }, headers: { 'idempotency-key': 'k' } })
  t.same([answer.status, answer.contentType], [200, 'application/json; charset=utf-8'])
  t.same(JSON.parse(answer.text()), { body: { text: 'é' }, ip: '192.0.2.7', key: 'k', url: '/told?a=1' })
  const empty = await ask('DELETE', '/gone')
  t.same([empty.status, empty.text(), empty.bytes().length], [204, '', 0])
  const { contentType, bytes } = await ask('GET', '/bytes')
  t.same([contentType, [...bytes()]], ['image/png', [0xff, 0xfe]])
  t.equal((await ask('GET', '/nowhere')).status, 404)
  t.equal((await ask('GET', '/broken')).status, 500)
})

await t.test('its user is told by itself alone: nothing else is one, whatever it is called', async (t) => {
  t.same(JSON.parse((await ask('GET', '/whose')).text()), { own: true, userId: 1 })
  const anybody = await askOwn(app, { actor: null, method: 'GET', url: '/whose', remoteAddress: '192.0.2.7', headers: {} })
  t.same(JSON.parse(anybody.text()), { own: true, userId: null })
  t.same((await app.inject({ url: '/whose', headers: { actor: '1' } })).json(), { own: false, userId: null })
})

await t.test('an answer that is cut off is none', async (t) => {
  await t.rejects(ask('GET', '/cut'), { message: 'The answer was cut off.' })
})

await t.test('a stream is read while it is made, and ends with its reader', async (t) => {
  const gone = new AbortController()
  const { status, stream } = await streamOwn(app, { actor, method: 'GET', url: '/stream', remoteAddress: '192.0.2.7', headers: {} },
    gone.signal)
  t.equal(status, 200)
  const [first] = await once(stream, 'data') as [Buffer]
  contains(t, first.toString(), /^one,/)
  gone.abort()
  t.equal(await closed, 'closed')
  const refused = await streamOwn(app, { actor, method: 'GET', url: '/nowhere', remoteAddress: '192.0.2.7', headers: {} }, gone.signal)
  t.equal(refused.status, 404)
  contains(t, await text(refused.stream), /not found/i)
})

await t.test('a stream that breaks off ends for its reader too', async (t) => {
  const { stream } = await streamOwn(app, { actor, method: 'GET', url: '/broken-stream', remoteAddress: '192.0.2.7', headers: {} },
    new AbortController().signal)
  await once(stream, 'data')
  const ended = once(stream, 'close')
  broken.destroy()
  await ended
  t.equal(stream.readableEnded, false)
})

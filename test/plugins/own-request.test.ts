import fastify from 'fastify'
import t from 'tap'
import { askOwn, isOwn, ownActor } from '../../plugins/hooks/own-request.ts'

const actor = { userId: 1, companyId: 2, email: 'ada@example.com', role: 'admin', services: ['*'] } as const
const app = fastify()
app.get('/whose', ({ raw, ip }) => ({ own: isOwn(raw), userId: ownActor(raw)?.userId ?? null, ip }))
t.teardown(() => app.close())
const at = await app.listen({ host: '127.0.0.1', port: 0 })

const request = { url: '/whose', remoteAddress: '192.0.2.7' }
const whose = async (asker: typeof actor | null): Promise<unknown> => (await askOwn(app, { actor: asker }, request)).json()

await t.test('what the service asks itself has the user and the address of its client, or no user', async (t) => {
  t.same(await whose(actor), { own: true, userId: 1, ip: '192.0.2.7' })
  t.same(await whose(null), { own: true, userId: null, ip: '192.0.2.7' })
})

await t.test('nothing else is its own, not even beside such a request', async (t) => {
  const [own, injected, sent] = await Promise.all([whose(actor), app.inject(request), fetch(`${at}/whose`)])
  t.same(own, { own: true, userId: 1, ip: '192.0.2.7' })
  t.same(injected.json(), { own: false, userId: null, ip: '192.0.2.7' })
  t.same(await sent.json(), { own: false, userId: null, ip: '127.0.0.1' })
})

import { unavailable } from '@dispatch/core/provider'
import t from 'tap'
import { until } from '../core/work/support.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, type Login, operator, startService } from '../support/service.ts'
import { accepts, testProviders } from './support/providers.ts'

const providers = await testProviders(t)
let away = true
for (const code of ['asleep', 'other']) {
  await providers.add(code, {}, (request, call) => {
    if (away) throw unavailable('Closed for repairs.')
    return accepts(request, call)
  })
}
const service = await startService(t, { config: { providerDirectories: providers.directories }, replacements: { renderer: quickRenderer } })
const [one, two] = [await service.company('one'), await service.company('two')]

/** Queues a dispatch whose provider is away, and resolves when it waits for another try. */
async function waiting (login: Login, providerName: string): Promise<string> {
  await service.send('PUT', `/api/v1/company/providers/${providerName}`, { body: { settings: {} } }, login)
  const { body: { dispatchId } } = await service.send('POST', '/api/invoicing?async=true', { body: invoiceRequest({}, { providerName }) },
    login)
  const hour = new Date(Date.now() + 3_600_000)
  while ((await read(dispatchId, login)).steps[0].status !== 'unavailable') await new Promise((resolve) => setTimeout(resolve, 50))
  await service.app.get('database').owner.updateTable('dispatches').set({ next_try_at: hour }).where('dispatch_id', '=', dispatchId)
    .execute()
  return dispatchId
}
const read = async (dispatchId: string, login: Login): Promise<any> =>
  (await service.send('GET', `/api/v1/dispatches/${dispatchId}`, {}, login)).body
const release = async (body: object, login: Login): Promise<any> =>
  (await service.send('POST', '/api/v1/queue/release', { body }, login)).body
const ends = async (dispatchId: string, login: Login): Promise<string> => {
  let status = 'queued'
  while (status === 'queued' || status === 'running') ({ status } = await read(dispatchId, login))
  return status
}

await t.test('what waits for a provider goes on at once when an admin says so, and only that', async (t) => {
  const [mine, elsewhere, others] = [
    await waiting(one.admin, 'asleep'),
    await waiting(one.admin, 'other'),
    await waiting(two.admin, 'asleep')
  ]
  away = false
  t.same(await release({ providerName: 'asleep', service: 'sms' }, one.admin), { released: 0 })
  t.same(await release({ providerName: 'asleep' }, one.admin), { released: 1 })
  t.equal(await ends(mine, one.admin), 'succeeded')
  const { body: { data } } = await service.send('GET', `/api/v1/dispatches/${mine}/events?limit=100`, {}, one.admin)
  t.equal(data.filter(({ kind }: { kind: string }) => kind === 'released').length, 1)
  t.equal((await read(elsewhere, one.admin)).status, 'queued')
  t.equal((await read(others, two.admin)).status, 'queued', 'another company\'s')
  const { body: audit } = await service.send('GET', '/api/v1/audit?action=queue.released', {}, one.admin)
  t.same(audit.data.map(({ facts }: { facts: object }) => facts), [{ dispatches: 1 }])

  t.same(await release({}, operator), { released: 2 }, 'an operator lets all go on')
  t.equal(await ends(elsewhere, one.admin), 'succeeded')
  t.equal(await ends(others, two.admin), 'succeeded')
})

await t.test('what goes on is not held back for what failed before, and has all its tries again', async (t) => {
  away = true
  const waitingOnes: string[] = []
  for (let number = 0; number < 6; number++) waitingOnes.push(await waiting(one.admin, 'asleep'))
  const { owner } = service.app.get('database')
  const lastTry = 6
  await owner.updateTable('steps').set({ tries: lastTry }).where('dispatch_id', 'in', waitingOnes).execute()
  t.equal(service.app.get('breakers').failing().has('asleep'), true)
  t.same(await release({ providerName: 'other' }, one.admin), { released: 0 })
  t.equal(service.app.get('breakers').failing().has('asleep'), true, 'another provider\'s word')

  t.same(await release({ providerName: 'asleep' }, one.admin), { released: 6 })
  t.equal(service.app.get('breakers').failing().has('asleep'), false)
  const tries = async (): Promise<number[]> =>
    (await owner.selectFrom('steps').select('tries').where('dispatch_id', 'in', waitingOnes).execute()).map((step) => step.tries)
  await until('all have failed once more, and who said so too early has lost nothing',
    async () => (await tries()).every((times) => times === 1), 20)

  away = false
  await owner.updateTable('dispatches').set({ next_try_at: new Date(Date.now() + 3_600_000) }).where('dispatch_id', 'in', waitingOnes)
    .execute()
  t.same(await release({}, operator), { released: 6 })
  for (const dispatchId of waitingOnes) t.equal(await ends(dispatchId, one.admin), 'succeeded')
})

await t.test('a member may not', async (t) => {
  t.equal((await service.send('POST', '/api/v1/queue/release', { body: {} }, one.member)).status, 403)
})

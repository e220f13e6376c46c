import t from 'tap'
import { hookService, paths, until, vendorKey } from '../../../../../test/core/work/support.ts'
import { lacks } from '../../../../../test/support/matching.ts'
import { inbox } from '../service/inbox.ts'

const clock = { time: Date.parse('2026-03-14T09:00:00.000Z') }
const [first, second, stranger] = [vendorKey('scd_1'), vendorKey('scd_2'), vendorKey('scd_9')]
const service = await hookService(t, { replacements: { now: () => new Date(clock.time) } })
const { post, accepted, delivery, inbound, vendor } = service
vendor.on('GET /jwks.json', { json: { keys: [first.jwk] } })

const readings = () => vendor.requests.filter(({ path }) => path === '/jwks.json').length
const sealed = (event: object, { sign }: Pick<typeof first, 'sign'>, header?: object) => {
  const body = JSON.stringify(event)
  return post(paths.seal, body, { 'x-jws-signature': sign(body, header) })
}
/** A busy machine may have sent some of them to the disk. */
const settled = async () => {
  await service.app.find(inbox).settle()
  await service.app.find(inbox).drain()
  await until('nothing is parked', async () => (await inbound()).every(({ parked }) => parked === null))
}

await t.test('a storm of unknown keys reads the vendor\'s keys once a minute, and leaves nothing behind', async (t) => {
  t.equal(readings(), 0, 'nothing is read before the first event')
  for (let minute = 1; minute <= 2; minute++) {
    const storm = Array.from({ length: 50 }, (_, nth) =>
      sealed({ transaction: 'tx_0', type: 'done', nth }, stranger, { kid: `scd_${String(minute)}_${String(nth)}` }))
    t.same(new Set((await Promise.all(storm)).map(({ status }) => status)), new Set([200]))
    await settled()
    t.equal(readings(), minute)
    t.same(await inbound(), [])
    clock.time += 61_000
  }
})

await t.test('a key that is new at the vendor is read before its events are judged', async (t) => {
  vendor.on('GET /jwks.json', { json: { keys: [second.jwk] } })
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_1' })
  await sealed({ transaction: 'tx_1', type: 'started' }, second)
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'started')
  t.equal(readings(), 3)
  await sealed({ transaction: 'tx_1', type: 'done' }, first)
  clock.time += 61_000
  await settled()
  t.equal((await delivery(dispatchId)).status, 'started', 'a key that the vendor has withdrawn is worth nothing')
})

await t.test('a forged event that waits for keys does not keep the true one with the same body out', async (t) => {
  clock.time += 61_000
  vendor.on('GET /jwks.json', { json: { keys: [second.jwk] }, delay: 300 })
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_2' })
  await Promise.all([
    sealed({ transaction: 'tx_2', type: 'viewed' }, stranger),
    sealed({ transaction: 'tx_2', type: 'viewed' }, second),
    sealed({ transaction: 'tx_2', type: 'viewed' }, second)
  ])
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'viewed')
  await settled()
  t.equal((await delivery(dispatchId)).events.length, 1)
})

await t.test('while the keys cannot be read, events wait; what waits is sealed', async (t) => {
  clock.time += 3_700_000
  const third = vendorKey('scd_3')
  vendor.on('GET /jwks.json', [{ status: 500 }, { text: 'not JSON' }, { json: { keys: [second.jwk, third.jwk] } }])
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_3' })
  const body = JSON.stringify({ transaction: 'tx_3', type: 'signed' })
  const signature = third.sign(body)
  await post(paths.seal, body, { 'x-jws-signature': signature })
  const waiting = (await inbound()).find(({ parked }) => parked !== null)
  lacks(t, JSON.stringify(waiting?.parked), signature.slice(0, 40))
  await until('it is held', async () => (await inbound()).some(({ state }) => state === 'held'))
  clock.time += 61_000
  await service.app.get('queue').send('webhook', [{ data: { inboundId: waiting?.inbound_id ?? '' } }])
  await until('the second reading fails',
    () => service.log.filter((line) => line.includes('keys of a vendor could not be fetched"')).length >= 2)
  clock.time += 61_000
  await service.app.get('queue').send('webhook', [{ data: { inboundId: waiting?.inbound_id ?? '' } }])
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'signed')
})

await t.test('an event whose dispatch is not recorded within a day is dropped, with a note', async (t) => {
  await sealed({ transaction: 'tx_never', type: 'started' }, second)
  await until('it is held', async () => (await inbound()).some(({ state }) => state === 'held'))
  const held = (await inbound()).find(({ state }) => state === 'held')
  clock.time += 24 * 3_600_000 + 1
  await service.app.get('queue').send('webhook', [{ data: { inboundId: held?.inbound_id ?? '' } }])
  await until('it is dropped',
    async () => (await inbound()).some(({ state, note }) => state === 'dropped' && note === 'No dispatch has the vendor\'s id yet.'))
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_never' })
  t.equal((await delivery(dispatchId)).status, null)
})

import t from 'tap'
import { hookService, paths, until, vendorKey } from './support.ts'

const [real, trial] = [vendorKey('k_real'), vendorKey('k_trial')]
const service = await hookService(t)
const { post, accepted, delivery, inbound, vendor, configure } = service
vendor.on('GET /jwks.json', { json: { keys: [real.jwk] } })
vendor.on('GET /trial-jwks.json', { json: { keys: [trial.jwk] } })

const reported = (event: object, { sign }: typeof real, search = '') => {
  const body = JSON.stringify(event)
  return post(`${paths.twice}${search}`, body, { 'x-jws-signature': sign(body) })
}
const applied = (times: number) =>
  until(`${String(times)} are applied`, async () => (await inbound()).filter(({ state }) => state === 'applied').length === times)

await t.test('an event touches dispatches of the environment alone whose keys have signed it', async (t) => {
  const step = { provider: 'seal-two', service: 'esign', remoteId: 'tx_1' } as const
  const [live, sandbox] = [await accepted(step), await accepted({ ...step, sandbox: true })]
  const stands = async () => [(await delivery(live.dispatchId)).status, (await delivery(sandbox.dispatchId)).status]
  await reported({ id: 'evt_1', transaction: 'tx_1', type: 'viewed' }, trial)
  await applied(1)
  t.same(await stands(), [null, 'viewed'], 'also of one that had to wait for the keys')
  await reported({ id: 'evt_2', transaction: 'tx_1', type: 'started' }, real)
  await applied(2)
  t.same(await stands(), ['started', 'viewed'])
  await reported({ id: 'evt_3', transaction: 'tx_1', type: 'done' }, trial)
  await applied(3)
  t.same(await stands(), ['started', 'completed'])
})

await t.test('at the address of a configuration the keys of the other environment are worth nothing', async (t) => {
  const { dispatchId } = await accepted({ provider: 'seal-two', service: 'esign', remoteId: 'tx_2' })
  const believed = async () => (await inbound()).filter(({ parked }) => parked === null).length
  const before = await believed()
  const ofReal = await configure('seal-two', {})
  await reported({ id: 'evt_4', transaction: 'tx_2', type: 'viewed' }, trial, ofReal)
  await reported({ id: 'evt_5', transaction: 'tx_2', type: 'started' }, real, ofReal)
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'started')
  t.equal(await believed(), before + 1, 'the other one waits for keys that it will not find')
  const ofTrial = await configure('seal-two', {}, 'company', undefined, true)
  await reported({ id: 'evt_6', transaction: 'tx_2', type: 'signed' }, real, ofTrial)
  const { dispatchId: other } = await accepted({ provider: 'seal-two', service: 'esign', remoteId: 'tx_3', sandbox: true })
  await reported({ id: 'evt_7', transaction: 'tx_3', type: 'signed' }, trial, ofTrial)
  await until('it is applied', async () => (await delivery(other)).status === 'signed')
  t.equal((await delivery(dispatchId)).status, 'started')
})

import t from 'tap'
import { hookService, paths, until, vendorKey } from '../../../../../test/core/work/support.ts'

const key = vendorKey('scd_1')
const service = await hookService(t)
const { post, accepted, delivery, inbound, vendor } = service
vendor.on('GET /jwks.json', { json: { keys: [key.jwk] } })

await t.test('two thousand events at once are all answered 200, and none of them is lost', async (t) => {
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_1' })
  const events = Array.from({ length: 2_000 }, (_, nth) => {
    const body = JSON.stringify({ id: `evt_${String(nth)}`, transaction: 'tx_1', type: 'viewed' })
    return { body, signature: key.sign(body) }
  })
  // What was cut by a busy machine is sent again, as vendors do.
  const sent = (body: string, signature: string, tries = 3): ReturnType<typeof post> =>
    post(paths.seal, body, { 'x-jws-signature': signature }).catch((error: unknown) => {
      if (tries === 0) throw error
      return sent(body, signature, tries - 1)
    })
  const answers = await Promise.all(events.map(({ body, signature }) => sent(body, signature)))
  t.same(new Set(answers.map(({ status, text }) => `${String(status)} ${text}`)), new Set(['200 {"received":true}']))
  await until('all are in the database', async () => (await inbound()).filter(({ state }) => state !== 'duplicate').length === 2_000)
  await until('they are being applied', async () => (await delivery(dispatchId)).status === 'viewed')
})

await t.test('a flood of forged events is answered like the others, and what waits for a key is bounded', async (t) => {
  const stranger = vendorKey('scd_2')
  const body = JSON.stringify({ transaction: 'tx_1', type: 'done' })
  const signature = stranger.sign(body)
  const answers = await Promise.all(Array.from({ length: 1_500 }, () => post(paths.seal, body, { 'x-jws-signature': signature })))
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.ok((await inbound()).filter(({ parked }) => parked !== null).length <= 1_000)
})

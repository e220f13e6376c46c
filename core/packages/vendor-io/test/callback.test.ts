import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { createVendor, vendorNetwork } from '../../conformance/vendor/vendor.ts'
import { postToTenant } from '../http/callback.ts'
import { createNetwork } from '../network.ts'

const receiver = await createVendor()
const network = vendorNetwork(receiver)
t.teardown(async () => {
  await network.close()
  await receiver.close()
})
const post = (more: { url?: string, limit?: number } = {}) =>
  postToTenant(network.transport, {
    url: 'https://hooks.acme.test/a?b=c#d',
    headers: { 'webhook-id': '1' },
    body: '{"a":"é"}',
    now: new Date(),
    ...more
  })

await t.test('a body goes as it is, with its length, and only the status of the answer counts', async (t) => {
  receiver.answer({ status: 201, json: { anything: true } })
  t.strictSame(await post(), { answered: true, status: 201 })
  has(t, receiver.requests.at(-1), {
    method: 'POST',
    path: '/a',
    search: [['b', 'c']],
    body: Buffer.from('{"a":"é"}'),
    headers: { 'webhook-id': '1', 'content-type': 'application/json', 'content-length': '10' }
  })
})

await t.test('an answer that never comes, or whose head does not end, is waited for no longer than the limit', async (t) => {
  receiver.answer(() => new Promise(() => undefined))
  t.strictSame(await post({ limit: 200 }), { answered: false, reason: '"hooks.acme.test" did not answer within 0.2 seconds.' })
  receiver.answer({
    status: 200,
    headers: Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`x-${String(index)}`, 'a'.repeat(1000)]))
  })
  t.strictSame(await post(), { answered: false, reason: '"hooks.acme.test" sent an answer that is not HTTP.' })
})

await t.test('nor is one who takes the connection and says nothing', async (t) => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const mute = createNetwork({ loopback: 'allowed' })
  t.teardown(async () => {
    await mute.close()
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  t.strictSame(
    await postToTenant(mute.transport, { url: `https://127.0.0.1:${String(port)}/`, headers: {}, body: '', now: new Date(), limit: 200 }),
    {
      answered: false,
      reason: `"127.0.0.1:${String(port)}" did not answer within 0.2 seconds.`
    }
  )
})

await t.test('what is no plain https:// URL is not connected to', async (t) => {
  const before = receiver.requests.length
  for (const url of ['http://hooks.acme.test/', 'ftp://hooks.acme.test/', 'file:///etc/passwd', 'hooks.acme.test', '',
    'https://user@hooks.acme.test/', 'https://:pass@hooks.acme.test/'])
  {
    has(t, await post({ url }), { answered: false, reason: /^The address / }, url)
  }
  t.equal(receiver.requests.length, before)
})

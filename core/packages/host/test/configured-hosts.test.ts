import t from 'tap'
import { callContext, installedProvider, invoice, outside } from '../../../../test/fixtures/providers/call.ts'
import { contains, has } from '../../../../test/support/matching.ts'
import { vendorOf } from '../../../../test/support/vendor.ts'
import type { JsonObject } from '../../common/json.ts'
import { callDispatch, type Outcome } from '../call/dispatch.ts'
import { allowedHosts } from '../manifest/allowed-hosts.ts'
import { isVerb } from '../manifest/verbs.ts'
import { Host, Type } from '../provider.ts'
import { widthInWords } from '../settings/hosts.ts'

const { vendor, network } = await vendorOf(t)

/** Uploads to an address that its vendor has signed, as it is told. */
const dispatch = async (_request: unknown, { http }: { http: any }): Promise<JsonObject> => {
  const { address } = await http.post('https://api.acme.test/uploads', {}, Type.Object({ address: Type.String() }))
  await http.put(address, { text: 'x' }, Type.Any())
  return { id: '1', status: 'sent' }
}
if (!isVerb(dispatch)) throw new TypeError('no verb')
const provider = installedProvider({
  hosts: ['api.acme.test', '{bucket}.s3.{region}.cloud.test'],
  settings: Type.Object({ bucket: Type.Optional(Host()), region: Type.Optional(Host()), server: Type.Optional(Host()) }),
  services: { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, dispatch } }
}, { dispatch })

const uploaded = async (address: string, settings: JsonObject): Promise<Outcome> => {
  vendor.on('POST /uploads', { json: { address } })
  return await callDispatch(provider, 'invoicing', invoice(), callContext({ settings, resources: outside({ network }) }))
}

await t.test('a call reaches the host that the settings of its configuration name, and no other one below', async (t) => {
  vendor.on('PUT /file', {})
  const own = { bucket: 'ours', region: 'eu-1' }
  t.equal((await uploaded('https://ours.s3.eu-1.cloud.test/file?signature=1', own)).outcome, 'accepted')
  const before = vendor.requests.length
  const others: [string, JsonObject][] = [
    ['https://theirs.s3.eu-1.cloud.test/file', own],
    ['https://ours.s3.eu-2.cloud.test/file', own],
    ['https://a.ours.s3.eu-1.cloud.test/file', own],
    ['https://s3.eu-1.cloud.test/ours/file', own],
    ['https://cloud.test/file', own],
    ['https://ours/file', own],
    ['https://ours.s3.eu-1.cloud.test/file', { bucket: 'ours' }],
    ['https://ours.s3.eu-1.cloud.test/file', {}],
    ['https://a.ours.s3.eu-1.cloud.test/file', { bucket: 'a.ours', region: 'eu-1' }],
    ['https://evil.test/.s3.eu-1.cloud.test/file', { bucket: 'evil.test/', region: 'eu-1' }]
  ]
  for (const [address, settings] of others) {
    has(t, await uploaded(address, settings), { error: { message: /may not call/ } }, address)
  }
  t.equal(vendor.requests.length, before + others.length, 'only its vendor was asked for an address')
})

await t.test('a setting that is a part of a host is none by itself; another one is', (t) => {
  t.same(allowedHosts(provider.manifest, { bucket: 'ours', region: 'eu-1', server: 'https://files.acme.test/x' }), {
    provider: 'acme',
    declared: ['api.acme.test', 'ours.s3.eu-1.cloud.test'],
    chosen: ['files.acme.test'],
    named: []
  })
  t.end()
})

await t.test('who consents is told that it is one host for each configuration', (t) => {
  const host = '{bucket}.s3.{region}.cloud.test'
  t.equal(widthInWords(host),
    `"${host}" is one host for each configuration, named by "bucket" and "region" of its settings or of its account at the vendor.`)
  t.equal(widthInWords('api.acme.test'), undefined)
  contains(t, widthInWords('*.cloud.test'), /every host whose name ends with ".cloud.test"/)
  t.end()
})

import { openDatabase } from '@dispatch/core'
import { buildCatalog, catalogFile, type CatalogPayload, inspectPackage, makeKeys, type PlacedPackage, type PublicKey,
  signCatalog } from '@dispatch/marketplace'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createNetwork } from '../../../core/host/http/network.ts'
import { type Catalogs, createCatalogs } from '../../../core/marketplace/catalogs.ts'
import { withOffers } from '../../../core/marketplace/offers.ts'
import { viewsOf } from '../../../core/marketplace/views.ts'
import { addPackage, editAdapter } from '../../../core/store/vendor/adapter-changes.ts'
import { type AdapterState, listAdapters, listInstalledAdapters } from '../../../core/store/vendor/adapters.ts'
import { directory } from '../../fixtures/providers/folders.ts'
import { packed } from '../../support/adapters.ts'
import { has } from '../../support/matching.ts'
import { seededDatabase } from '../../support/service.ts'

const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: (error) => t.fail(error.message) })
const network = createNetwork()
t.teardown(() => Promise.all([database.close(), network.close()]))
const stamp = { author: null, at: new Date() }
const now = (): Date => new Date('2026-06-01')
type Keys = Awaited<ReturnType<typeof makeKeys>>

/** Publishes a catalog in a directory. */
async function publish (
  folder: string,
  { privateKey }: Keys,
  packages: readonly PlacedPackage[],
  more: Partial<CatalogPayload> = {}
): Promise<void> {
  const payload = { ...buildCatalog(packages, { now: new Date('2026-05-01'), days: 90 }), ...more }
  for (const { place, bytes } of packages) await writeFile(join(folder, place), bytes)
  await writeFile(join(folder, catalogFile), await signCatalog(payload, privateKey))
}

const readerOf = (address: string, keys: readonly PublicKey[]): Catalogs =>
  createCatalogs({ database, places: [{ address, keys }], transport: network.transport, now })
const placed = (code: string, version = '1.0.0'): PlacedPackage => ({
  place: `${code}-${version}.tgz`,
  bytes: packed({ code, version, conforms: true })
})
const codesIn = async (catalogs: Catalogs): Promise<string[]> =>
  (await catalogs.known()).flatMap(({ catalog }) => catalog.adapters.map(({ code }) => code))

async function begin (t: Test): Promise<{ folder: string, keys: Keys }> {
  const folder = join(await directory(t), 'catalog')
  await mkdir(folder)
  return { folder, keys: await makeKeys() }
}

await t.test('a catalog is known once it was read, in every process, and after a start', async (t) => {
  const { folder, keys } = await begin(t)
  await publish(folder, keys, [placed('cat-a')])
  const catalogs = readerOf(folder, [keys.publicKey])
  t.same(await catalogs.known(), [])
  has(t, await catalogs.refresh(stamp), { views: [{ address: folder, serial: 1, adapters: 1 }], revoked: false })
  t.same(await codesIn(catalogs), ['cat-a'])
  t.same(await codesIn(readerOf(folder, [keys.publicKey])), ['cat-a'], 'another process')
  const other = await makeKeys()
  t.same(await codesIn(readerOf(folder, [other.publicKey])), [], 'another key was configured')
})

await t.test('one that is older, unsigned or gone does not replace what was read before', async (t) => {
  const { folder, keys } = await begin(t)
  const catalogs = readerOf(folder, [keys.publicKey])
  await publish(folder, keys, [placed('cat-b')], { serial: 5 })
  await catalogs.refresh(stamp)
  await publish(folder, keys, [placed('cat-c')], { serial: 4 })
  has(t, await catalogs.refresh(stamp), { views: [{ problem: { code: 'catalog_rolled_back' } }] })
  await publish(folder, await makeKeys(), [placed('cat-c')], { serial: 6 })
  has(t, await catalogs.refresh(stamp), { views: [{ problem: { code: 'key_unknown' } }] })
  has(t, await readerOf(join(folder, 'nowhere'), [keys.publicKey]).refresh(stamp), { views: [{ problem: { code: 'source_unavailable' } }] })
  t.same(await codesIn(catalogs), ['cat-b'])
})

await t.test('keys change as a catalog says: the next one is signed with the new key, and the same one is read again', async (t) => {
  const { folder, keys } = await begin(t)
  const next = await makeKeys()
  const catalogs = readerOf(folder, [keys.publicKey])
  await publish(folder, keys, [placed('cat-d')], { keys: [next.publicKey] })
  for (let reads = 0; reads < 2; reads++) has(t, await catalogs.refresh(stamp), { views: [{ serial: 1, adapters: 1 }] })
  await publish(folder, next, [placed('cat-e')], { serial: 2 })
  has(t, await catalogs.refresh(stamp), { views: [{ serial: 2 }] })
  t.same(await codesIn(catalogs), ['cat-e'])
})

await t.test('an expired catalog is known, and nothing new is installed from it', async (t) => {
  const { folder, keys } = await begin(t)
  const catalogs = readerOf(folder, [keys.publicKey])
  await publish(folder, keys, [placed('cat-f')], { expires: '2026-05-02T00:00:00.000Z' })
  await catalogs.refresh(stamp)
  t.same((await catalogs.known()).map(({ isExpired }) => isExpired), [true])
})

await t.test('what a catalog revokes runs no more, says why, and runs again once it is not revoked any more', async (t) => {
  const { folder, keys } = await begin(t)
  const code = 'cat-g'
  const integrity = 'sha512-g'
  const { manifest } = inspectPackage(packed({ code, version: '1.0.0' }))
  const publisher = { packageName: `${code}-adapter`, author: 'Acme Ltd' }
  await addPackage(database, {
    integrity,
    code,
    version: '1.0.0',
    publisher,
    manifest,
    definition: '{}',
    files: {},
    bytes: Buffer.from('')
  }, 1, stamp)
  const after: AdapterState = { integrity, previous: null, enabled: true, companies: null, consent: { hosts: [], services: [] } }
  await editAdapter(database, { code, companyId: 1 }, () => ({ action: 'adapter.installed', facts: {}, after }), stamp)
  const runs = async (): Promise<boolean> =>
    (await listInstalledAdapters(database)).some((one) => one.code === code && one.taken.revoked === null)
  t.ok(await runs())

  const catalogs = readerOf(folder, [keys.publicKey])
  const revoked = [{ code, versions: '<1.0.1', reason: 'It sends twice.', at: '2026-05-01T00:00:00.000Z' }]
  await publish(folder, keys, [], { revoked })
  has(t, await catalogs.refresh(stamp), { revoked: true })
  has(t, await catalogs.refresh(stamp), { revoked: false }, 'nothing new')
  t.notOk(await runs())
  const known = withOffers(await listAdapters(database), await catalogs.known())
  has(t, viewsOf(known, { companyId: 1, isOperator: true }, { q: code }), [{ state: 'revoked', reason: 'It sends twice.', enabled: true }])
  await publish(folder, keys, [], { serial: 2 })
  has(t, await catalogs.refresh(stamp), { revoked: true })
  t.ok(await runs())
  const { rows } = await database.pool.query<{ action: string }>(
    'select action from audit where object_id = $1 and action like \'%revo%\' order by audit_id',
    [code]
  )
  t.same(rows.map(({ action }) => action), ['adapter.revoked', 'adapter.revocation_lifted'])
})

await t.test('what is here and what is offered are one list, by code; words, services and states select of it', async (t) => {
  const { folder, keys } = await begin(t)
  const catalogs = readerOf(folder, [keys.publicKey])
  await publish(folder, keys, [placed('list-a', '1.0.0'), placed('list-a', '1.1.0'), placed('list-b')], {
    yanked: [{ code: 'list-a', versions: '1.1.0', reason: 'Too early.', at: '2026-05-01T00:00:00.000Z' }]
  })
  await catalogs.refresh(stamp)
  const known = withOffers(await listAdapters(database), await catalogs.known())
  const operator = { companyId: 1, isOperator: true }
  const found = (query: Parameters<typeof viewsOf>[2]): unknown[] =>
    viewsOf(known, operator, query).map(({ code, version, state, tier }) => [code, version, state, tier])
  t.same(found({ q: 'list' }), [['list-a', '1.0.0', 'available', 'private'], ['list-b', '1.0.0', 'available', 'private']])
  t.same(found({ q: 'list acme', limit: 1 }), [['list-a', '1.0.0', 'available', 'private']])
  t.same(found({ q: 'list', cursor: 'list-a' }), [['list-b', '1.0.0', 'available', 'private']])
  t.same(found({ q: 'list', service: 'sms' }), [])
  t.equal(found({ q: 'list', service: 'invoicing', documentType: 'INVOICE', country: 'FR' }).length, 2)
  t.same(found({ q: 'list', documentType: 'QUOTE' }), [])
  t.same(found({ q: 'list', state: 'installed' }), [])
  t.same(viewsOf(known, { companyId: 2, isOperator: false }, { q: 'list' }), [], 'an admin sees what is installed')
})

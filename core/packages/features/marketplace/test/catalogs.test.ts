import { openDatabase } from '@dispatch/database'
import { buildCatalog, catalogFile, type CatalogPayload, inspectPackage, makeKeys, type PlacedPackage, type PublicKey,
  signCatalog } from '@dispatch/marketplace'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { directory } from '../../../../../test/fixtures/providers/folders.ts'
import { packed } from '../../../../../test/support/adapters.ts'
import { contains, has } from '../../../../../test/support/matching.ts'
import { seededDatabase } from '../../../../../test/support/service.ts'
import { createNetwork } from '../../../vendor-io/network.ts'
import { type CatalogLocation, type Catalogs, createCatalogs } from '../service/catalogs.ts'
import { withOffers } from '../service/offers.ts'
import { viewsOf } from '../service/views.ts'
import { addPackage, editAdapter } from '../store/adapter-changes.ts'
import { type AdapterState, listAdapters, listInstalledAdapters } from '../store/adapters.ts'
import { keepCatalog, readCatalog } from '../store/catalogs.ts'

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
  const payload = { ...await buildCatalog(packages, { now: new Date('2026-05-01'), days: 90 }), ...more }
  for (const { place, bytes } of packages) await writeFile(join(folder, place), bytes)
  await writeFile(join(folder, catalogFile), await signCatalog(payload, privateKey))
}

const readerOfAll = (locations: readonly CatalogLocation[], at = now): Catalogs =>
  createCatalogs({ database, locations, transport: network.transport, now: at })
const readerOf = (address: string, keys: readonly PublicKey[]): Catalogs => readerOfAll([{ address, keys }])
const placed = (code: string, version = '1.0.0'): PlacedPackage => ({
  place: `${code}-${version}.tgz`,
  bytes: packed({ code, version, conforms: 1 })
})
const codesIn = async (catalogs: Catalogs): Promise<string[]> =>
  (await catalogs.known()).flatMap(({ catalog }) => catalog.adapters.map(({ code }) => code))

/** Installs an adapter without code; answers whether it runs. `source`: the catalog that it came from. */
async function installed (
  code: string,
  { source, author = 'Acme Ltd' }: { source: string, author?: string }
): Promise<() => Promise<boolean>> {
  const integrity = `sha512-${code}`
  const { manifest } = inspectPackage(packed({ code, version: '1.0.0' }))
  const publisher = { packageName: `${code}-adapter`, author }
  const facts = { integrity, code, version: '1.0.0', publisher, manifest, definition: '{}', files: {}, source, replayed: 0 }
  await addPackage(database, { ...facts, bytes: Buffer.from('') }, 1, stamp)
  const after: AdapterState = { integrity, previous: null, enabled: true, companies: null, consent: { hosts: [], services: [] } }
  await editAdapter(database, { code, companyId: 1 }, () => ({ action: 'adapter.installed', facts: {}, after }), stamp)
  return async () => (await listInstalledAdapters(database)).some((one) => one.code === code && one.taken.revoked === null)
}

/** What revokes all versions of an adapter. */
const revoking = (code: string): Partial<CatalogPayload> => ({
  revoked: [{ code, versions: '*', reason: 'because I say so', at: '2026-05-01T00:00:00.000Z' }]
})

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
  await publish(folder, keys, [placed('cat-c')], { serial: 5 })
  has(t, await catalogs.refresh(stamp), {
    views: [{ problem: { code: 'serial_reused', message: /Its serial is 5, .* its content is another: a change needs a higher serial/ } }]
  })
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
  const runs = await installed(code, { source: folder })
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

await t.test('with other keys, too, an older catalog does not come back, and what it has revoked stays so until it is read', async (t) => {
  const { folder, keys } = await begin(t)
  const next = await makeKeys()
  const runs = await installed('cat-h', { source: folder })
  await publish(folder, keys, [], { serial: 9, ...revoking('cat-h') })
  await readerOf(folder, [keys.publicKey]).refresh(stamp)
  t.notOk(await runs())
  for (const trusted of [[keys.publicKey, next.publicKey], [next.publicKey], [keys.publicKey]]) {
    // Each is a process that starts anew; the one before was read with other keys.
    const catalogs = readerOf(folder, trusted)
    await publish(folder, trusted.includes(next.publicKey) ? next : keys, [], { serial: 2 })
    has(t, await catalogs.refresh(stamp), { views: [{ problem: { code: 'catalog_rolled_back' } }], revoked: false })
    t.notOk(await runs())
  }
  await publish(folder, next, [], { serial: 10 })
  has(t, await readerOf(folder, [next.publicKey]).refresh(stamp), { views: [{ serial: 10 }], revoked: true })
  t.ok(await runs())
})

await t.test('of two processes that have read at once the later catalog stays, whatever keys each trusts', async (t) => {
  const read = { source: 'of two', keys: [], fetchedAt: new Date() }
  await keepCatalog(database, { ...read, configured: 'one', serial: 9, jws: 'a.nine.b' })
  await keepCatalog(database, { ...read, configured: 'other', serial: 2, jws: 'a.two.b' })
  t.same(await readCatalog(database, 'of two'), { serial: 9, jws: 'a.nine.b' })
  await keepCatalog(database, { ...read, configured: 'other', serial: 9, jws: 'a.other.b' })
  t.same(await readCatalog(database, 'of two'), { serial: 9, jws: 'a.nine.b' }, 'another one with its serial')
  await keepCatalog(database, { ...read, configured: 'other', serial: 9, jws: 'c.nine.d' })
  t.same(await readCatalog(database, 'of two'), { serial: 9, jws: 'c.nine.d' }, 'the same one, signed anew')
})

await t.test('a catalog revokes what was installed from it and what is of its own publishers, and nothing of others', async (t) => {
  const [main, other] = [await begin(t), await begin(t)]
  const acme = { id: 'Acme Ltd', tier: 'verified' } as const
  const [own, added, foreign] = [
    await installed('cat-i', { source: other.folder }),
    await installed('cat-j', { source: '' }),
    await installed('cat-k', { source: '', author: 'Nobody Ltd' })
  ]
  const catalogs = readerOfAll([{ address: main.folder, keys: [main.keys.publicKey] }, {
    address: other.folder,
    keys: [other.keys.publicKey]
  }])
  const all = { revoked: ['cat-i', 'cat-j', 'cat-k'].flatMap((code) => revoking(code).revoked ?? []) }
  const running = async (): Promise<boolean[]> => [await own(), await added(), await foreign()]

  await publish(main.folder, main.keys, [], { publishers: [acme] })
  await publish(other.folder, other.keys, [], { publishers: [acme], ...all })
  await catalogs.refresh(stamp)
  t.same(await running(), [false, true, true], 'what came from it, and none of a publisher that a catalog before it lists')
  await publish(other.folder, other.keys, [], { serial: 2 })
  await publish(main.folder, main.keys, [], { serial: 2, publishers: [acme], ...all })
  await catalogs.refresh(stamp)
  t.same(await running(), [false, false, true], 'what is of its publisher, wherever it came from, and nothing of one that nobody lists')
})

await t.test('where a catalog has not been read, another one revokes only what was installed from it', async (t) => {
  const [main, other] = [await begin(t), await begin(t)]
  const author = 'Umbrella Ltd'
  const [own, added] = [
    await installed('cat-l', { source: other.folder, author }),
    await installed('cat-m', { source: main.folder, author })
  ]
  const places = [{ address: main.folder, keys: [main.keys.publicKey] }, { address: other.folder, keys: [other.keys.publicKey] }]
  const all = { revoked: ['cat-l', 'cat-m'].flatMap((code) => revoking(code).revoked ?? []) }
  await publish(other.folder, other.keys, [], { publishers: [{ id: author, tier: 'verified' }], ...all })
  const { views } = await readerOfAll(places).refresh(stamp)
  t.equal(views[0]?.problem?.code, 'source_unavailable')
  t.same([await own(), await added()], [false, true], 'the catalog that is not read comes first, and may list the publisher')
})

await t.test('a catalog says in the last quarter of its time that it ends, and after', async (t) => {
  const { folder, keys } = await begin(t)
  await publish(folder, keys, [], { expires: '2126-01-01T00:00:00.000Z' })
  const noticeAt = async (day: string): Promise<string | undefined> =>
    (await readerOfAll([{ address: folder, keys: [keys.publicKey] }], () => new Date(day)).refresh(stamp)).views[0]?.notice
  t.equal(await noticeAt('2026-06-01'), undefined)
  contains(t, await noticeAt('2026-07-20'), /^It expires at 2026-07-30T00:00:00\.000Z, in 10 days: then nothing is installed/)
  contains(t, await noticeAt('2026-07-31'), /^It expired at 2026-07-30T00:00:00\.000Z: nothing is installed/)
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

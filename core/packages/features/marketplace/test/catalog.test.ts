import { buildCatalog, catalogFile, type CatalogPayload, makeKeys, signCatalog } from '@dispatch/marketplace'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { directory } from '../../../../../test/fixtures/providers/folders.ts'
import { packed } from '../../../../../test/support/adapters.ts'
import { has } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, operator, startService } from '../../../../../test/support/service.ts'

const root = await directory(t)
const folder = join(root, 'catalog')
await mkdir(folder)
const { privateKey, publicKey } = await makeKeys()
await writeFile(join(root, 'key.json'), JSON.stringify(publicKey))
let serial = 0
const attested = { kit: '1.1.0', passed: 7, skipped: 0, at: '2026-11-27T00:00:00.000Z', by: 'Keepers Ltd' }

/** Publishes these versions of "acme" in the next catalog. */
async function publish (versions: readonly string[], more: Partial<CatalogPayload> = {}): Promise<void> {
  const packages = versions.map((version) => ({
    place: `acme-${version}.tgz`,
    ...(version === '1.0.0' ? {} : { attested }),
    bytes: packed({ code: 'acme', version, conforms: 1, changelog: `What is new in ${version}.` })
  }))
  for (const { place, bytes } of packages) await writeFile(join(folder, place), bytes)
  const payload = { ...await buildCatalog(packages, { now: new Date(), days: 90 }), serial: ++serial, ...more }
  await writeFile(join(folder, catalogFile), await signCatalog(payload, privateKey))
}

await publish(['1.0.0'])
const service = await startService(t, {
  config: { catalogs: [{ address: folder, keyFiles: [join(root, 'key.json')] }] },
  replacements: { renderer: quickRenderer }
})
const market = (method: string, path = '', body?: unknown): Promise<Answer> =>
  service.send(method, `/api/v1/marketplace${path}`, body === undefined ? {} : { body }, operator)
const consent = { hosts: ['api.acme.test'], services: ['invoicing'] }
const nothing = { hosts: [], services: [] }
const dispatch = async (): Promise<unknown> => {
  const { body } = await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'acme' }) })
  return body.providerResponse?.status ?? body.error
}
/** The versions that were taken in. */
const here = async (): Promise<string[]> => {
  const { body } = await market('GET', '/acme')
  return body.versions.filter((one: { here: boolean }) => one.here).map(({ version }: { version: string }) => version).sort()
}

await t.test('what a catalog offers is installed with one request, and nothing of it stays where that is refused', async (t) => {
  has(t, await market('POST', '/refresh'), { status: 200, body: { data: [{ address: folder, serial: 1, adapters: 1 }] } })
  has(t, (await market('GET')).body.data, [{
    code: 'acme',
    state: 'available',
    version: '1.0.0',
    tier: 'private',
    hosts: ['api.acme.test']
  }])
  has(t, (await market('GET', '/acme')).body, {
    licence: 'MIT',
    settings: { properties: {} },
    versions: [{ version: '1.0.0', here: false, changelog: 'What is new in 1.0.0.', conformance: { status: 'said_by_author', passed: 1 } }]
  })
  has(t, await market('POST', '/acme/install', { consent: nothing }), { status: 409, body: { error: 'consent_required' } })
  has(t, await market('POST', '/acme/install', { version: '9.0.0', consent }), {
    status: 422,
    body: { details: [{ code: 'version_unknown' }] }
  })
  t.same(await here(), [])
  t.same(await readdir(join(service.app.get('config').dataDirectory, 'adapters')), [])

  has(t, await market('POST', '/acme/install', { consent }), { status: 200, body: { state: 'installed', version: '1.0.0' } })
  t.equal((await service.send('PUT', '/api/v1/company/providers/acme', { body: { settings: {} } })).status, 200)
  t.equal(await dispatch(), '1.0.0')
})

await t.test('a newer version is told and not installed by itself; an operator upgrades', async (t) => {
  await publish(['1.0.0', '1.1.0'])
  t.equal((await market('POST', '/refresh')).status, 200)
  has(t, await market('GET', '/acme'), {
    body: {
      state: 'updatable',
      version: '1.0.0',
      latest: '1.1.0',
      versions: [{ version: '1.1.0', here: false, changelog: 'What is new in 1.1.0.' }, { version: '1.0.0', here: true }]
    }
  })
  t.equal(await dispatch(), '1.0.0')
  has(t, await market('POST', '/acme/upgrade', { version: '1.1.0', consent: nothing }), { status: 200, body: { version: '1.1.0' } })
  t.equal(await dispatch(), '1.1.0')
})

await t.test('a package that is not the one that the catalog lists is refused, and does not stay', async (t) => {
  await publish(['1.0.0', '1.1.0', '1.2.0'])
  await writeFile(join(folder, 'acme-1.2.0.tgz'), packed({ code: 'acme', version: '1.2.0', head: '// more' }))
  t.equal((await market('POST', '/refresh')).status, 200)
  const { body: { latest, problem } } = await market('GET', '/acme')
  const refused = await market('POST', '/acme/upgrade', { version: '1.2.0', consent })
  t.equal(refused.status, 422)
  t.ok(['integrity_mismatch', 'source_length'].includes(refused.body.details[0].code), refused.body.details[0].code)
  t.same([latest, problem.code], ['1.2.0', refused.body.details[0].code], 'its page says so too')
  t.same(await here(), ['1.0.0', '1.1.0'])
})

await t.test('a revoked version stops and says why; the one before goes on in its place, until both are revoked', async (t) => {
  const withdrawn = { code: 'acme', versions: '1.1.0', reason: 'It sends twice', at: new Date().toISOString() }
  const { body: { company: { id } } } = await service.send('GET', '/api/v1/my/config')
  has(t, await market('GET', '/acme/effects?change=revocation'), {
    status: 200,
    body: { counts: { goes_on: 1 }, refused: false, effects: [{ companyId: id, how: 'goes_on', version: '1.0.0' }] }
  })
  await publish(['1.0.0', '1.1.0'], { revoked: [withdrawn] })
  const goesOn = 'Version 1.1.0 of "acme" was revoked: It sends twice. Version 1.0.0 goes on in its place, where it accepts the settings ' +
    'of companies; its health names the others.'
  has(t, await market('POST', '/refresh'), {
    status: 200,
    body: { data: [{ revoked: [{ code: 'acme', version: '1.1.0', companies: [id], message: goesOn }] }] }
  })
  has(t, await market('POST', '/refresh'), { body: { data: [{ revoked: undefined }] } })
  has(t, await market('GET', '/acme'), {
    body: {
      state: 'revoked',
      version: '1.1.0',
      reason: 'It sends twice',
      health: { state: 'degraded', reason: 'The version was revoked: It sends twice. Version 1.0.0 goes on in its place.' }
    }
  })
  t.equal(await dispatch(), '1.0.0')

  await publish(['1.0.0', '1.1.0'], { revoked: [{ ...withdrawn, versions: '*' }] })
  const message =
    `Version 1.0.0 of "acme" was revoked: It sends twice. It stops the company "Demo" (${id}): roll back to another version, or upgrade.`
  has(t, (await market('POST', '/refresh')).body.data[0].revoked.filter(({ version }: { version: string }) => version === '1.0.0'), [
    { companies: [id], message }
  ])
  has(t, await market('GET', '/acme'), {
    body: { health: { state: 'stopped', reason: 'The version was revoked: It sends twice. It stops one company; roll back, or upgrade.' } }
  })
  t.equal(await dispatch(), 'configuration_missing')
  const refused = await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'acme' }) })
  has(t, refused.body.details, [{ message: 'Version 1.1.0 of the provider "acme" was revoked: It sends twice.' }])
  has(t, (await service.send('GET', '/api/v1/providers')).body.data.filter(({ code }: { code: string }) => code === 'acme'), [
    { state: 'refused', health: { reason: 'Version 1.1.0 of the provider "acme" was revoked: It sends twice.' } }
  ])
  has(t, await market('POST', '/acme/rollback'), { status: 409, body: { details: [{ code: 'version_revoked' }] } })

  await publish(['1.0.0', '1.1.0'], { revoked: [withdrawn] })
  t.equal((await market('POST', '/refresh')).status, 200)
  t.equal((await market('POST', '/acme/rollback')).status, 200)
  t.equal(await dispatch(), '1.0.0')
  has(t, await market('POST', '/acme/rollback'), { status: 409, body: { details: [{ code: 'version_revoked' }] } })
  has(t, await market('GET', '/acme'), { body: { state: 'installed', version: '1.0.0', latest: '1.0.0' } })
})

await t.test('that it conforms is what its author says, unless the keeper of a catalog has run the kit on these bytes', async (t) => {
  const versionsOf = async (): Promise<unknown> => (await market('GET', '/acme')).body.versions
  const add = async (bytes: Uint8Array): Promise<Answer> =>
    await market('POST', '/packages', { package: Buffer.from(bytes).toString('base64'), publisher: 'Acme Ltd' })
  // No catalog lists 1.0.0 any more: it came from this one.
  await publish(['2.0.0', '2.1.0'], { publishers: [{ id: 'Acme Ltd', tier: 'verified' }] })
  t.equal((await market('POST', '/refresh')).status, 200)
  t.equal((await add(packed({ code: 'acme', version: '2.1.0', conforms: 1, changelog: 'What is new in 2.1.0.' }))).status, 201)
  t.equal((await add(packed({ code: 'acme', version: '3.0.0', conforms: 9_999, head: '// It does what it likes.' }))).status, 201)
  has(t, await versionsOf(), [
    { version: '3.0.0', here: true, conformance: { status: 'said_by_author', passed: 9_999 }, replayed: 0 },
    { version: '2.1.0', here: true, conformance: { status: 'passed', ...attested }, replayed: 0 },
    { version: '2.0.0', here: false, conformance: { status: 'passed', ...attested }, replayed: undefined },
    { version: '1.1.0', here: true, conformance: { status: 'passed', ...attested }, replayed: 0 },
    { version: '1.0.0', here: true, conformance: { status: 'said_by_author', passed: 1 }, replayed: 0 }
  ])

  const tierOf = async (): Promise<unknown> => (await market('GET')).body.data.map(({ tier }: { tier: string }) => tier)
  t.same(await tierOf(), ['verified'])
  t.equal((await market('POST', '/acme/upgrade', { version: '3.0.0', consent: nothing })).status, 200)
  t.same(await tierOf(), ['private'], 'the catalog knows nothing of who has made this one')
})

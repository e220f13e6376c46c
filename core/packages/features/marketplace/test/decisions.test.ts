import type { PackageManifest } from '@dispatch/marketplace'
import t, { type Test } from 'tap'
import { has } from '../../../../../test/support/matching.ts'
import { DispatchError } from '../../../contract/errors.ts'
import { type Decision, disabling, enabling, installing, offering, removing, rollingBack, upgrading } from '../service/decisions.ts'
import type { AdapterUse, Before } from '../store/adapter-changes.ts'
import type { AdapterState, PackageSummary } from '../store/adapters.ts'

const publisher = { packageName: 'acme-adapter', author: 'Acme Ltd' }
const requested = { hosts: ['api.acme.test'], services: ['sms'] }
const at = new Date('2026-01-01')

/** The manifest of a version that reaches these hosts. */
function manifest (version: string, hosts: string[] = requested.hosts): PackageManifest {
  const provider = { code: 'acme', name: 'Acme', version, hosts, services: { sms: { capabilities: {} } }, settings: {} }
  return {
    v: 1,
    package: publisher.packageName,
    publisher: publisher.author,
    sdk: '*',
    licence: 'MIT',
    changelog: '',
    conformance: { status: 'not_run' },
    provider
  }
}

function packageOf (version: string, more: Partial<PackageSummary> = {}): PackageSummary {
  return {
    integrity: `sha512-${version}`,
    version,
    publisher,
    manifest: manifest(version),
    size: 1,
    at,
    revoked: null,
    source: '',
    replayed: 0,
    crashes: { count: 0 },
    ...more
  }
}

const packages = [packageOf('1.0.0'), packageOf('1.1.0')]
const running: AdapterState = { integrity: 'sha512-1.0.0', previous: null, enabled: true, companies: null, consent: requested }

function before (more: Partial<Before> = {}): Before {
  return { adapter: undefined, packages, pin: undefined, uses: () => Promise.resolve([]), ...more }
}

/** What a decision refuses, and the words of its details. */
async function refuses (t: Test, decide: Decision, from: Before, word: string, codes: readonly string[] = []): Promise<void> {
  const error = await Promise.resolve().then(() => decide('acme', from)).catch((thrown: unknown) => thrown)
  t.ok(error instanceof DispatchError)
  if (error instanceof DispatchError) t.same([error.word, error.details?.map(({ code }) => code) ?? []], [word, codes])
}

await t.test('the latest version is installed unless another is named, with exactly what it asks for', async (t) => {
  const consent = { hosts: [...requested.hosts, 'more.test'], services: requested.services }
  t.same((await installing({ consent })('acme', before())).after, { ...running, integrity: 'sha512-1.1.0' })
  t.same((await installing({ version: '1.0.0', consent })('acme', before())).after, running)
  await refuses(t, installing({ version: '2.0.0', consent }), before(), 'not_found', ['version_unknown'])
  await refuses(t, installing({ consent }), before({ packages: [] }), 'not_found', ['adapter_unknown'])
  await refuses(t, installing({ consent }), before({ adapter: running }), 'conflict', ['already_installed'])
})

await t.test('what the consent does not list is told host by host and service by service', async (t) => {
  const nothing = { hosts: [], services: [] }
  await refuses(t, installing({ consent: nothing }), before(), 'consent_required', ['host', 'service'])
  await refuses(t, installing({ consent: { ...requested, hosts: [] } }), before(), 'consent_required', ['host'])
})

await t.test('an upgrade keeps what was agreed to, asks for what is new, and never goes back', async (t) => {
  const more = packageOf('2.0.0', { manifest: manifest('2.0.0', [...requested.hosts, 'eu.acme.test']) })
  const from = before({ adapter: { ...running, companies: [7] }, packages: [...packages, more] })
  const nothing = { hosts: [], services: [] }
  t.same((await upgrading({ version: '1.1.0', consent: nothing })('acme', from)).after, {
    ...running,
    integrity: 'sha512-1.1.0',
    previous: 'sha512-1.0.0',
    companies: [7]
  })
  await refuses(t, upgrading({ version: '2.0.0', consent: nothing }), from, 'consent_required', ['host'])
  const agreed = await upgrading({ version: '2.0.0', consent: { hosts: ['eu.acme.test'], services: [] } })('acme', from)
  t.same(agreed.after?.consent.hosts, ['api.acme.test', 'eu.acme.test'])
  await refuses(t, upgrading({ version: '1.0.0', consent: nothing }), from, 'conflict', ['not_newer'])
  await refuses(t, upgrading({ version: '1.1.0', consent: nothing }), before(), 'not_found', ['not_installed'])
})

await t.test('a code is its publisher\'s: nobody else installs or upgrades under it', async (t) => {
  const stranger = packageOf('3.0.0', { publisher: { packageName: 'acme-adapter', author: 'Somebody' } })
  const from = before({ packages: [...packages, stranger], pin: publisher })
  await refuses(t, installing({ version: '3.0.0', consent: requested }), from, 'conflict', ['other_publisher'])
  await refuses(t, upgrading({ version: '3.0.0', consent: requested }), { ...from, adapter: running }, 'conflict', ['other_publisher'])
  t.ok((await installing({ version: '1.1.0', consent: requested })('acme', from)).after)
})

await t.test('a rollback goes to the version before, and from there forward again', async (t) => {
  const upgraded = { ...running, integrity: 'sha512-1.1.0', previous: 'sha512-1.0.0' }
  const back = await rollingBack()('acme', before({ adapter: upgraded }))
  t.same(back, {
    action: 'adapter.rolled_back',
    facts: { from: '1.1.0', version: '1.0.0' },
    after: { ...running, previous: 'sha512-1.1.0' }
  })
  t.same((await rollingBack()('acme', before({ adapter: back.after ?? undefined }))).after, upgraded)
  await refuses(t, rollingBack(), before({ adapter: running }), 'conflict', ['no_version_before'])
})

await t.test('a rollback goes further back to a version that is told, if it asks for nothing more', async (t) => {
  const all = ['1.0.0', '1.1.0', '1.2.0'].map((version) => packageOf(version))
  const adapter = { ...running, integrity: 'sha512-1.2.0', previous: 'sha512-1.1.0' }
  const from = before({ adapter, packages: all })
  has(t, (await rollingBack({ version: '1.0.0' })('acme', from)).after, { integrity: 'sha512-1.0.0', previous: 'sha512-1.2.0' })
  await refuses(t, rollingBack({ version: '0.9.0' }), from, 'conflict', ['no_version_before'])
  await refuses(t, rollingBack({ version: '1.2.0' }), from, 'conflict', ['not_older'])
  const more = { ...adapter, consent: { hosts: [], services: adapter.consent.services } }
  await refuses(t, rollingBack({ version: '1.0.0' }), before({ adapter: more, packages: all }), 'consent_required', ['host'])
  const stranger = packageOf('1.0.0', { publisher: { packageName: 'acme-adapter', author: 'Somebody' } })
  await refuses(t, rollingBack({ version: '1.0.0' }), before({ adapter, packages: [...all.slice(1), stranger], pin: publisher }),
    'conflict', ['other_publisher'])
})

await t.test('a revoked version is neither installed, nor upgraded or gone back to', async (t) => {
  const revoked = packageOf('1.1.0', { revoked: 'It loses documents.' })
  const from = before({ packages: [packageOf('1.0.0', { revoked: 'It leaks.' }), revoked] })
  await refuses(t, installing({ consent: requested }), from, 'conflict', ['version_revoked'])
  await refuses(t, upgrading({ version: '1.1.0', consent: requested }), { ...from, adapter: running }, 'conflict', ['version_revoked'])
  const upgraded = { ...running, integrity: 'sha512-1.1.0', previous: 'sha512-1.0.0' }
  await refuses(t, rollingBack(), { ...from, adapter: upgraded }, 'conflict', ['version_revoked'])
})

await t.test('enabling, disabling and offering change that alone', async (t) => {
  const adapter = { ...running, previous: 'sha512-0.9.0' }
  t.same((await disabling('acme', before({ adapter }))).after, { ...adapter, enabled: false })
  t.same((await enabling('acme', before({ adapter: { ...adapter, enabled: false } }))).after, adapter)
  t.same((await offering({ companies: [12, 7, 7] })('acme', before({ adapter }))).after, { ...adapter, companies: [7, 12] })
  t.same((await offering({ companies: null })('acme', before({ adapter: { ...adapter, companies: [7] } }))).after, adapter)
  for (const decide of [enabling, disabling, offering({ companies: null })]) {
    await refuses(t, decide, before(), 'not_found', ['not_installed'])
  }
})

await t.test('an offer is not withdrawn from who has settings or defaults for it, unless it is meant', async (t) => {
  const uses: AdapterUse[] = [
    { company: 'Demo', companyId: 7, kind: 'configuration', count: 1 },
    { company: 'Eight', companyId: 8, kind: 'choice', count: 2 },
    { company: 'Nine', companyId: 9, kind: 'dispatch', count: 3 }
  ]
  const from = (companies: number[] | null) => before({ adapter: { ...running, companies }, uses: () => Promise.resolve(uses) })
  await refuses(t, offering({ companies: [12] }), from(null), 'conflict', ['configuration_needs_it', 'choice_needs_it'])
  await refuses(t, offering({ companies: [7, 12], force: false }), from([7, 8]), 'conflict', ['choice_needs_it'])
  t.same((await offering({ companies: [12], force: true })('acme', from(null))).after?.companies, [12])
  t.same((await offering({ companies: [7, 8] })('acme', from(null))).after?.companies, [7, 8], 'what is under way goes on')
  t.same((await offering({ companies: [12] })('acme', from([12]))).after?.companies, [12], 'who had lost it before loses nothing')
})

await t.test('what a company needs is not removed, and each need is told', async (t) => {
  const uses: AdapterUse[] = [
    { company: 'Demo', companyId: 7, kind: 'configuration', count: 1 },
    { company: 'Nine', companyId: 9, kind: 'dispatch', count: 3 }
  ]
  const needed = before({ adapter: running, uses: () => Promise.resolve(uses) })
  await refuses(t, removing, needed, 'conflict', ['configuration_needs_it', 'dispatch_needs_it'])
  t.same(await removing('acme', before({ adapter: running })), { action: 'adapter.removed', facts: { version: '1.0.0' }, after: null })
  t.same((await removing('acme', before())).after, null)
  await refuses(t, removing, before({ packages: [] }), 'not_found', ['adapter_unknown'])
})

import { CompactSign } from 'jose'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { buildCatalog, type CatalogPayload, chooseVersion, makeKeys, openCatalog, readPrivateKey, readPublicKey, signCatalog, signPackage,
  takePackage, withdrawalOf } from '../index.ts'
import { manifestOf, packageOf, refuses, soundEntries, tarballOf } from './support.ts'

const now = new Date('2026-11-23T04:00:00Z')
const later = new Date('2027-11-23T04:00:00Z')
const { privateKey, publicKey } = await makeKeys()
const other = await makeKeys()

const placed = (version = '1.0.0', code = 'acme', publisher = 'Acme Ltd') => ({
  place: `${code}-${version}.tgz`,
  bytes: packageOf(manifestOf({ publisher }, { code, version })).bytes
})
const sound = await buildCatalog([placed()], { now, days: 90 })
/** What the keeper of a catalog has seen the kit say. */
const attested = { kit: '1.1.0', passed: 120, skipped: 3, at: now.toISOString(), by: 'Keepers Ltd' }
const built = (changes: Partial<CatalogPayload> = {}) => ({ ...sound, ...changes })
const opened = async (payload: CatalogPayload, at = now) =>
  await openCatalog(await signCatalog(payload, privateKey), { keys: [publicKey], now: at })

/** Signs whatever it is, as nobody who keeps to the rules would. */
async function signed (payload: unknown, header: Record<string, unknown> = {}): Promise<string> {
  const usual = { alg: 'EdDSA', kid: publicKey.kid, typ: 'dispatch-catalog+jws' }
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return await new CompactSign(Buffer.from(text)).setProtectedHeader({ ...usual, ...header }).sign(privateKey)
}

void t.test('a catalog says what its packages say, and what the reader trusts from then on', async (t) => {
  const catalog = await opened(built())
  t.same([catalog.trusted, catalog.isExpired, catalog.serial], [[publicKey], false, 1])
  has(t, catalog.adapters, [{
    code: 'acme',
    publisher: 'Acme Ltd',
    versions: (versions: unknown[]) => versions.length === 1
  }])
  const { version, publisher } = chooseVersion(catalog, { code: 'acme', sdk: '1.0.1' })
  t.same(publisher, { id: 'Acme Ltd', tier: 'private' })
  t.same(version.offer, {
    name: 'Acme',
    services: { postal: { countries: ['FR', 'BE'] } },
    features: ['cancel', 'idempotency'],
    languages: ['en'],
    hosts: ['api.acme.example'],
    licence: 'MIT'
  })
  t.same([version.place, version.sdk, version.released, version.size], [
    'acme-1.0.0.tgz',
    '^1.0.0',
    '2026-11-23T04:00:00.000Z',
    placed().bytes.length
  ])
})

void t.test('only a catalog that a trusted key has signed for this purpose is read', async (t) => {
  const jws = await signCatalog(built(), privateKey)
  const open = (text: string) => openCatalog(text, { keys: [publicKey], now })
  const [head = '', body = '', signature = ''] = jws.split('.')
  const changed = Buffer.from(JSON.stringify(built({ serial: 9 }))).toString('base64url')
  await refuses(t, 'key_unknown', async () => open(await signCatalog(built(), other.privateKey)), 'another key')
  await refuses(t, 'key_unknown', () => openCatalog(jws, { keys: [], now }), 'no key')
  await refuses(t, 'signature_invalid', () => open([head, changed, signature].join('.')), 'other content')
  await refuses(t, 'signature_invalid', () => open([head, body, signature.replace(/^./, (first) => first === 'A' ? 'B' : 'A')].join('.')))
  await refuses(t, 'signature_invalid', () => open([head, body, ''].join('.')), 'no signature')
  await refuses(t, 'signature_invalid', async () => open(await signed(built(), { typ: 'dispatch-package+jws' })), 'another purpose')
  await refuses(t, 'signature_invalid', async () => open(await signed(built(), { jwk: publicKey })), 'a key that it brings along')
  const none = Buffer.from('{"alg":"none","typ":"dispatch-catalog+jws"}').toString('base64url')
  await refuses(t, 'signature_invalid', () => open([none, body, ''].join('.')), 'alg none')
  for (const text of ['', 'a.b', '{}', '..', `${jws}.x`]) await refuses(t, 'signature_invalid', () => open(text), JSON.stringify(text))
  await refuses(t, 'catalog_too_large', () => open('a'.repeat(16 * 1024 * 1024 + 1)))
})

void t.test('an older catalog does not come back', async (t) => {
  const jws = await signCatalog(built({ serial: 7 }), privateKey)
  const open = async (last: Partial<CatalogPayload>, key = privateKey) =>
    await openCatalog(jws, { keys: [publicKey], last: { serial: last.serial ?? 0, jws: await signCatalog(built(last), key) }, now })
  t.equal((await open({ serial: 6, yanked: [] })).serial, 7)
  await refuses(t, 'catalog_rolled_back', () => open({ serial: 8 }))
  t.equal((await open({ serial: 7 })).serial, 7, 'the same')
  t.equal((await open({ serial: 7 }, other.privateKey)).serial, 7, 'the same, which another key has signed')
  const withdrawn = [{ code: 'acme', versions: '*', reason: 'It sends twice.', at: '2026-11-23T00:00:00.000Z' }]
  await refuses(t, 'serial_reused', () => open({ serial: 7, revoked: withdrawn }), 'what was revoked comes back under the same serial')
})

void t.test('a catalog is good for 90 days at most, from when it says that it was issued and from when it was read', async (t) => {
  const [issued, day] = [now.toISOString(), 86_400_000]
  const expiryOf = async (changes: Partial<CatalogPayload>): Promise<number> =>
    (Date.parse((await opened(built(changes))).expires) - now.getTime()) / day
  t.equal(await expiryOf({ issued, expires: new Date(now.getTime() + 89 * day).toISOString() }), 89)
  t.equal(await expiryOf({ issued, expires: '2126-01-01T00:00:00.000Z' }), 90)
  t.equal(await expiryOf({ issued: '2125-12-01T00:00:00.000Z', expires: '2126-01-01T00:00:00.000Z' }), 90, 'of another century')
  t.equal(await expiryOf({ issued: new Date(now.getTime() - 80 * day).toISOString(), expires: '2126-01-01T00:00:00.000Z' }), 10)
  t.ok((await opened(built({ issued: new Date(now.getTime() - 91 * day).toISOString(), expires: '2126-01-01T00:00:00.000Z' }))).isExpired)
})

void t.test('an expired catalog tells what was revoked, and nothing new is installed from it', async (t) => {
  const withdrawn = { code: 'acme', versions: '<1.0.0', reason: 'It leaked keys.', at: now.toISOString() }
  const catalog = await opened(built({ revoked: [withdrawn] }), later)
  t.equal(catalog.isExpired, true)
  await refuses(t, 'catalog_expired', () => chooseVersion(catalog, { code: 'acme' }))
  t.same(withdrawalOf(catalog, 'acme', '0.9.0'), { ...withdrawn, state: 'revoked' })
  t.equal(withdrawalOf(catalog, 'acme', '1.0.0'), undefined)
  t.equal(withdrawalOf(catalog, 'other', '0.9.0'), undefined)
})

void t.test('a trusted key names the next ones', async (t) => {
  const both = await openCatalog(await signCatalog(built({ keys: [publicKey, other.publicKey] }), privateKey), { keys: [publicKey], now })
  t.same(both.trusted, [publicKey, other.publicKey])
  const only = await openCatalog(await signCatalog(built({ keys: [other.publicKey] }), other.privateKey), { keys: both.trusted, now })
  t.same(only.trusted, [other.publicKey])
  await refuses(t, 'key_unknown', async () => openCatalog(await signCatalog(built(), privateKey), { keys: only.trusted, now }))
  const forged = { ...other.publicKey, kid: publicKey.kid }
  await refuses(t, 'key_invalid', () => opened(built({ keys: [forged] })), 'a key under the name of another')
})

void t.test('the content of a catalog is checked before anything of it is used', async (t) => {
  const payload = built()
  const [adapter] = payload.adapters
  const [version] = adapter!.versions
  const versionWith = (changes: object) => ({ ...payload, adapters: [{ ...adapter, versions: [{ ...version, ...changes }] }] })
  const cases: Record<string, unknown> = {
    'no JSON': '{',
    'no object': [],
    'another kind': { ...payload, v: 2 },
    'an unknown field': { ...payload, disabled: ['acme'] },
    'no serial': { ...payload, serial: undefined },
    'a serial with a fraction': { ...payload, serial: 1.5 },
    'an end before the beginning': { ...payload, expires: payload.issued },
    'a time that is none': { ...payload, expires: 'tomorrow' },
    'an unknown tier': { ...payload, publishers: [{ id: 'Acme Ltd', tier: 'best' }] },
    'a publisher that is not listed': { ...payload, publishers: [] },
    'an adapter listed twice': { ...payload, adapters: [adapter, adapter] },
    'a version listed twice': { ...payload, adapters: [{ ...adapter, versions: [version, version] }] },
    'a version that is none': versionWith({ version: '1.0' }),
    'an unknown field of a version': versionWith({ hidden: true }),
    'a range that is none': versionWith({ sdk: 'any' }),
    'a weak integrity': versionWith({ integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }),
    'a place upwards': versionWith({ place: '../acme.tgz' }),
    'an absolute place': versionWith({ place: '/srv/acme.tgz' }),
    'a place without TLS': versionWith({ place: 'http://example.com/acme.tgz' }),
    'a place with a password': versionWith({ place: 'https://me:word@example.com/acme.tgz' }),
    'a place that is a file': versionWith({ place: 'file:///srv/acme.tgz' }),
    'a withdrawal without a reason': { ...payload, revoked: [{ code: 'acme', versions: '*', reason: '', at: payload.issued }] },
    'a withdrawal of no range': { ...payload, yanked: [{ code: 'acme', versions: 'some', reason: 'Bad.', at: payload.issued }] }
  }
  for (const [what, content] of Object.entries(cases)) {
    await refuses(t, 'catalog_invalid', async () => openCatalog(await signed(content), { keys: [publicKey], now }), what)
  }
})

void t.test('the newest version that is offered for this core is chosen, or the one that is named', async (t) => {
  const bytesOf = (version: string, sdk: string) => ({
    place: `acme-${version}.tgz`,
    bytes: packageOf(manifestOf({ sdk }, { version })).bytes
  })
  const packages = [bytesOf('1.0.0', '^1.0.0'), bytesOf('1.10.0', '^1.0.0'), bytesOf('1.9.0', '^1.0.0'), bytesOf('2.0.0', '^2.0.0'),
    bytesOf('1.11.0-beta.1', '^1.0.0'), bytesOf('1.12.0', '^1.0.0')]
  const yanked = [{ code: 'acme', versions: '1.12.0', reason: 'It was published too early.', at: now.toISOString() }]
  const revoked = [{ code: 'acme', versions: '1.9.0', reason: 'It leaked keys.', at: now.toISOString() }]
  const catalog = await opened(await buildCatalog(packages, { now, days: 1, yanked, revoked }))
  const choose = (choice: { version?: string, sdk?: string }) => chooseVersion(catalog, { code: 'acme', ...choice }).version.version
  t.same(catalog.adapters[0]?.versions.map(({ version }) => version), ['2.0.0', '1.12.0', '1.11.0-beta.1', '1.10.0', '1.9.0', '1.0.0'])
  t.same([choose({ sdk: '1.0.1' }), choose({ sdk: '2.1.0' }), choose({}), choose({ version: '1.11.0-beta.1' })], [
    '1.10.0',
    '2.0.0',
    '2.0.0',
    '1.11.0-beta.1'
  ])
  await refuses(t, 'sdk_not_met', () => choose({ sdk: '3.0.0' }))
  await refuses(t, 'sdk_not_met', () => choose({ version: '2.0.0', sdk: '1.0.1' }))
  await refuses(t, 'version_yanked', () => choose({ version: '1.12.0' }))
  await refuses(t, 'version_revoked', () => choose({ version: '1.9.0' }))
  await refuses(t, 'version_unknown', () => choose({ version: '1.9.1' }))
  await refuses(t, 'adapter_unknown', () => chooseVersion(catalog, { code: 'toString' }))
  const none = await opened(await buildCatalog(packages, { now, days: 1, revoked: [{ ...revoked[0]!, versions: '*' }] }))
  await refuses(t, 'version_unknown', () => chooseVersion(none, { code: 'acme' }))
})

void t.test('a package that is not the listed one is refused', async (t) => {
  const { bytes } = placed()
  const listed = chooseVersion(await opened(built()), { code: 'acme' })
  t.same((await takePackage(listed, bytes)).manifest, manifestOf())
  await refuses(t, 'sdk_not_met', () => takePackage(listed, bytes, { sdk: '2.0.0' }))
  await refuses(t, 'integrity_mismatch', () => takePackage(listed, placed('1.0.1').bytes))
  await refuses(t, 'integrity_mismatch', () => takePackage(listed, tarballOf(soundEntries())), 'the same files, packed by another program')
  const { version } = listed
  const { features: _, languages: _languages, ...older } = version.offer
  t.same((await takePackage({ ...listed, version: { ...version, offer: older } }, bytes)).manifest, manifestOf(), 'an older catalog')
  const changes = [{ version: '2.0.0' }, { sdk: '*' }, { offer: { ...version.offer, hosts: [] } }, {
    offer: { ...version.offer, features: [] }
  }, {
    offer: { ...version.offer, languages: ['en', 'fr'] }
  }, { size: 1 }, {
    manifest: version.integrity
  }, { conformance: { status: 'not_run' as const } }]
  for (const change of changes) {
    await refuses(t, 'manifest_mismatch', () => takePackage({ ...listed, version: { ...version, ...change } }, bytes),
      JSON.stringify(change))
  }
  await refuses(t, 'manifest_mismatch', () => takePackage({ ...listed, adapter: { ...listed.adapter, code: 'stripe' } }, bytes))
  await refuses(t, 'manifest_mismatch', () => takePackage({ ...listed, adapter: { ...listed.adapter, publisher: 'Stripe' } }, bytes))
})

void t.test('the packages of a publisher with keys are signed by it: build, sign and readers refuse others', async (t) => {
  const pack = packageOf()
  const publishers = [{ id: 'Acme Ltd', tier: 'verified' as const, keys: [other.publicKey] }]
  const buildWith = async (signature?: string) =>
    await buildCatalog([{ place: 'acme.tgz', bytes: pack.bytes, attested, ...(signature !== undefined && { signature }) }], {
      now,
      days: 1,
      publishers
    })
  const good = await signPackage(pack, other.privateKey)
  const payload = await buildWith(good)
  const [adapter] = payload.adapters
  const [version] = adapter!.versions
  const withSignature = (signature?: string) => {
    const { signature: before, ...unsigned } = version!
    const versions = [{ ...unsigned, ...(signature !== undefined && { signature }) }]
    return { ...payload, adapters: [{ ...adapter!, versions }] }
  }
  // As a keeper who does not keep to the rules would sign it.
  const taken = async (signature?: string) =>
    await takePackage(
      chooseVersion(await openCatalog(await signed(withSignature(signature)), { keys: [publicKey], now }), { code: 'acme' }),
      pack.bytes
    )
  t.equal((await taken(good)).integrity, pack.integrity)
  const [byKeeper, ofAnother] = [await signPackage(pack, privateKey),
    await signPackage(packageOf(manifestOf({}, { version: '1.0.1' })), other.privateKey)]
  for (const [code, signature, what] of [['signature_invalid', undefined, 'none'], ['key_unknown', byKeeper, 'by the keeper'], [
    'signature_invalid',
    ofAnother,
    'of another version'
  ]] as const) {
    await refuses(t, code, () => buildWith(signature), `${what}: build`)
    await refuses(t, code, () => signCatalog(withSignature(signature), privateKey), `${what}: sign`)
    await refuses(t, code, () => taken(signature), `${what}: reader`)
  }
})

void t.test('a catalog is built of sound packages alone, and goes on from the one before', async (t) => {
  const plan = { now, days: 90 }
  const first = await buildCatalog([placed(), placed('1.0.0', 'brevo', 'Brevo')], plan)
  const second = await buildCatalog([placed(), placed('1.1.0')], { ...plan, now: later, previous: first })
  t.same([second.serial, second.issued, second.adapters.map(({ code }) => code)], [2, later.toISOString(), ['acme']])
  t.same(second.adapters[0]?.versions.map(({ version, released }) => [version, released]), [
    ['1.1.0', later.toISOString()],
    ['1.0.0', now.toISOString()]
  ])
  const changed = { place: 'acme-1.0.0.tgz', bytes: packageOf(manifestOf(), 'export default { changed: true }\n').bytes }
  await refuses(t, 'version_changed', () => buildCatalog([changed], { ...plan, previous: first }))
  await refuses(t, 'code_taken', () => buildCatalog([placed(), placed('1.1.0', 'acme', 'Someone')], plan))
  await refuses(t, 'catalog_invalid', () => buildCatalog([placed(), placed()], plan), 'the same version twice')
  await refuses(t, 'package_damaged', () => buildCatalog([{ place: 'acme.tgz', bytes: Buffer.from('hello') }], plan))
  // What a package says of itself does not count.
  const unchecked = placed()
  t.equal((await buildCatalog([unchecked], plan)).publishers[0]?.tier, 'private')
  for (const tier of ['core', 'verified', 'community'] as const) {
    const publishers = [{ id: 'Acme Ltd', tier }]
    await refuses(t, 'not_conformant', () => buildCatalog([unchecked], { ...plan, publishers }), tier)
    const { adapters } = await buildCatalog([{ ...unchecked, attested }], { ...plan, publishers })
    t.same(adapters[0]?.versions[0]?.attested, attested)
  }
})

void t.test('a key is one of Ed25519 under its own thumbprint', async (t) => {
  t.same(await readPublicKey(JSON.stringify(publicKey)), publicKey)
  t.same(await readPrivateKey(JSON.stringify(privateKey)), privateKey)
  await refuses(t, 'key_invalid', () => readPublicKey(JSON.stringify(privateKey)), 'a private key is not taken for a public one')
  await refuses(t, 'key_invalid', () => readPrivateKey(JSON.stringify(publicKey)))
  await refuses(t, 'key_invalid', () => readPublicKey(JSON.stringify({ ...publicKey, kid: other.publicKey.kid })))
  await refuses(t, 'key_invalid', () => readPublicKey(JSON.stringify({ ...publicKey, crv: 'X25519' })))
  await refuses(t, 'key_invalid', () => readPublicKey('no key'))
})

import { createSigningKeys, readLinkKey, rotateSigningKey } from '@dispatch/accounts'
import { createKeyring } from '@dispatch/common'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { createClock, createKeyStore } from './fixtures/access.ts'

function createVault () {
  const clock = createClock()
  const store = createKeyStore()
  return { clock, store, keyring: createKeyring(randomBytes(32)), now: clock.now }
}

await t.test('the first process makes the key, every other finds it', async (t) => {
  const vault = createVault()
  const first = await createSigningKeys(vault)
  const second = await createSigningKeys(vault)
  const [one, other] = [await first.signer(), await second.signer()]
  t.equal(other.kid, one.kid)
  t.ok(other.privateKey.equals(one.privateKey))
  t.equal(vault.store.keys.jwt.length, 1)
})

await t.test('processes that start together use the key that was stored', async (t) => {
  const vault = createVault()
  const all = await Promise.all([createSigningKeys(vault), createSigningKeys(vault), createSigningKeys(vault)])
  t.same(await Promise.all(all.map(async (keys) => (await keys.signer()).kid)), Array(3).fill(vault.store.keys.jwt[0]!.kid))
})

await t.test('a stored key is sealed, for its purpose and its id only', async (t) => {
  const vault = createVault()
  const { privateKey, kid } = await (await createSigningKeys(vault)).signer()
  const stored = vault.store.keys.jwt[0]!
  const der = privateKey.export({ format: 'der', type: 'pkcs8' })
  t.notOk(JSON.stringify(stored).includes(der.subarray(16).toString('base64').slice(0, 20)))
  t.same(vault.keyring.open(stored.secret, `key|jwt|${kid}`), der)

  vault.store.keys.link.push(stored)
  await t.rejects(readLinkKey(vault), { name: 'SealError' })
  vault.store.keys.jwt = [{ ...stored, kid: 'another' }]
  await t.rejects(createSigningKeys(vault), { name: 'SealError' })
})

await t.test('another master key is found out at the start', async (t) => {
  const vault = createVault()
  await createSigningKeys(vault)
  await t.rejects(createSigningKeys({ ...vault, keyring: createKeyring(randomBytes(32)) }), {
    name: 'SealError',
    message: /DISPATCH_MASTER_KEY/
  })
})

await t.test('the link key has 32 bytes and stays', async (t) => {
  const vault = createVault()
  const key = await readLinkKey(vault)
  t.equal(key.length, 32)
  t.same(await readLinkKey(vault), key)
})

await t.test('a new key signs once every process knows it, and older ones stay known', async (t) => {
  const vault = createVault()
  const [here, there] = [await createSigningKeys(vault), await createSigningKeys(vault)]
  const first = (await here.signer()).kid
  vault.clock.advance(3600)
  const later = await rotateSigningKey(vault, 'kept')
  vault.clock.advance(119.999)
  t.equal((await here.signer()).kid, first, 'another process may not have read it yet')
  has(t, await there.find(later), { kid: later })
  vault.clock.advance(0.001)
  t.equal((await here.signer()).kid, later)
  t.equal((await there.signer()).kid, later)
  has(t, await there.find(first), { kid: first })
})

await t.test('a key that became known is gone from every process within a minute', async (t) => {
  const vault = createVault()
  const there = await createSigningKeys(vault)
  const known = (await there.signer()).kid
  vault.clock.advance(59.999)
  const next = await rotateSigningKey(vault, 'revoked')
  has(t, await there.find(known), { kid: known })
  vault.clock.advance(0.001)
  t.equal(await there.find(known), undefined)
  t.equal((await there.signer()).kid, next, 'there is nothing else to sign with')
})

await t.test('after 90 days a key is replaced by itself, by one process', async (t) => {
  const vault = createVault()
  const [here, there] = [await createSigningKeys(vault), await createSigningKeys(vault)]
  const first = (await here.signer()).kid
  vault.clock.advance(90 * 24 * 3600)
  await Promise.all([here.find('any'), there.find('any')])
  t.equal(vault.store.keys.jwt.length, 1, 'not a moment before')
  vault.clock.advance(60)
  await Promise.all([here.find('any'), there.find('any')])
  t.equal(vault.store.keys.jwt.length, 2)
  vault.clock.advance(120)
  t.not((await here.signer()).kid, first)
  t.equal((await here.signer()).kid, (await there.signer()).kid)
})

await t.test('a replaced key goes when no token of its can be refreshed any more', async (t) => {
  const vault = createVault()
  await createSigningKeys(vault)
  const second = await rotateSigningKey(vault, 'kept')
  vault.clock.advance(27 * 3600)
  const third = await rotateSigningKey(vault, 'kept')
  t.equal(vault.store.keys.jwt.length, 3)
  vault.clock.advance(0.001)
  const fourth = await rotateSigningKey(vault, 'kept')
  t.same(vault.store.keys.jwt.map(({ kid }) => kid), [fourth, third, second])
})

await t.test('unknown key ids cost one look a minute', async (t) => {
  const vault = createVault()
  const keys = await createSigningKeys(vault)
  vault.clock.advance(60)
  const before = vault.store.counts.loads
  await Promise.all(Array.from({ length: 50 }, (unused, index) => keys.find(`forged ${index}`)))
  vault.clock.advance(59.999)
  await keys.find('forged')
  t.equal(vault.store.counts.loads - before, 1)
  vault.clock.advance(0.001)
  await keys.find('forged')
  t.equal(vault.store.counts.loads - before, 2)
})

await t.test('a store that keeps nothing is a fault', async (t) => {
  const vault = createVault()
  const store = { load: () => Promise.resolve([]), insertUnlessNewer: () => Promise.resolve([]), remove: () => Promise.resolve() }
  await t.rejects(createSigningKeys({ ...vault, store }), { message: /has not kept the key/ })
})

import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createKeyring, createSigningKeys, readLinkKey, type KeyVault } from '@dispatch/core'
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
  t.equal(second.newest().kid, first.newest().kid)
  t.ok(second.newest().privateKey.equals(first.newest().privateKey))
  t.equal(vault.store.keys.jwt.length, 1)
})

await t.test('processes that start together use the key that was stored', async (t) => {
  const vault = createVault()
  const all = await Promise.all([createSigningKeys(vault), createSigningKeys(vault), createSigningKeys(vault)])
  t.same(all.map((keys) => keys.newest().kid), Array(3).fill(vault.store.keys.jwt[0]!.kid))
})

await t.test('a stored key is sealed, for its purpose and its id only', async (t) => {
  const vault = createVault()
  const { privateKey, kid } = (await createSigningKeys(vault)).newest()
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
  await t.rejects(createSigningKeys({ ...vault, keyring: createKeyring(randomBytes(32)) }), { name: 'SealError', message: /DISPATCH_MASTER_KEY/ })
})

await t.test('the link key has 32 bytes and stays', async (t) => {
  const vault = createVault()
  const key = await readLinkKey(vault)
  t.equal(key.length, 32)
  t.same(await readLinkKey(vault), key)
})

await t.test('a key that another process made later is found, and older ones stay known', async (t) => {
  const vault = createVault()
  const keys = await createSigningKeys(vault)
  const first = keys.newest().kid
  const later = await addNewerKey(vault)
  t.equal(await keys.find(later), undefined, 'looked a moment ago')
  vault.clock.advance(60)
  t.match(await keys.find(later), { kid: later })
  t.equal(keys.newest().kid, later)
  t.match(await keys.find(first), { kid: first })
})

await t.test('unknown key ids cost one look a minute, known ones none', async (t) => {
  const vault = createVault()
  const keys = await createSigningKeys(vault)
  vault.clock.advance(60)
  const before = vault.store.counts.loads
  await Promise.all(Array.from({ length: 50 }, (unused, index) => keys.find(`forged ${index}`)))
  vault.clock.advance(59.999)
  await keys.find('forged')
  t.equal(vault.store.counts.loads - before, 1)
  vault.clock.advance(0.001)
  await keys.find(keys.newest().kid)
  t.equal(vault.store.counts.loads - before, 1)
  await keys.find('forged')
  t.equal(vault.store.counts.loads - before, 2)
})

await t.test('a store that keeps nothing is a fault', async (t) => {
  const vault = createVault()
  const store = { load: () => Promise.resolve([]), insertIfAbsent: () => Promise.resolve([]) }
  await t.rejects(createSigningKeys({ ...vault, store }), { message: /has not kept the key/ })
})

async function addNewerKey (vault: KeyVault & { store: ReturnType<typeof createKeyStore> }): Promise<string> {
  const elsewhere = createKeyStore()
  const { kid } = (await createSigningKeys({ ...vault, store: elsewhere })).newest()
  vault.store.keys.jwt.unshift(...elsewhere.keys.jwt)
  return kid
}

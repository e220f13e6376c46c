import { createKeyring, type Envelope, SealError } from '@dispatch/common'
import fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { contains, lacks } from '../../../../test/support/matching.ts'

const masterKey = Buffer.alloc(32, 7)
const keyring = createKeyring(masterKey)

await t.test('whatever is sealed opens again, in its own context', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), fc.string({ unit: 'binary' }),
      (plain, context) => Buffer.from(plain).equals(keyring.open(keyring.seal(plain, context), context)))
  )
  t.equal(keyring.open(keyring.seal('clé', 'a'), 'a').toString(), 'clé')
  t.end()
})

await t.test('an envelope survives the database', (t) => {
  const stored = JSON.parse(JSON.stringify(keyring.seal('secret', 'a'))) as Envelope
  t.equal(stored.v, 1, 'the version of the form, for a later one to know it by')
  t.equal(createKeyring(masterKey).open(stored, 'a').toString(), 'secret')
  t.end()
})

await t.test('an envelope moved to another record does not open', (t) => {
  const envelope = keyring.seal('secret', 'company 1|acme|user')
  for (const context of ['company 2|acme|user', '', 'company 1|acme|user ']) t.throws(() => keyring.open(envelope, context), SealError)
  t.end()
})

await t.test('no bit of an envelope can be changed', (t) => {
  const envelope = keyring.seal('secret', 'a')
  fc.assert(fc.property(fc.constantFrom('wrappedKey', 'sealed'), fc.nat(), fc.integer({ min: 0, max: 7 }), (field, at, bit) => {
    const bytes = Buffer.from(envelope[field], 'base64')
    const index = at % bytes.length
    bytes.writeUInt8(bytes.readUInt8(index) ^ (1 << bit), index)
    return failsToOpen({ ...envelope, [field]: bytes.toString('base64') })
  }))
  t.end()
})

await t.test('an envelope cut short, empty or mixed with another does not open', (t) => {
  const [one, other] = [keyring.seal('secret', 'a'), keyring.seal('secret', 'a')]
  const broken: Partial<Envelope>[] = [
    { wrappedKey: other.wrappedKey },
    { sealed: other.sealed },
    { sealed: one.wrappedKey },
    { wrappedKey: one.sealed },
    { sealed: '' },
    { wrappedKey: '' },
    { sealed: one.sealed.slice(0, -4) },
    { wrappedKey: one.wrappedKey.slice(4) },
    { sealed: Buffer.from(one.sealed, 'base64').subarray(0, 12 + 4).toString('base64') }
  ]
  for (const change of broken) t.ok(failsToOpen({ ...one, ...change }), JSON.stringify(change))
  t.end()
})

await t.test('another master key says which one is needed, and nothing secret', (t) => {
  const stranger = createKeyring(randomBytes(32))
  const envelope = keyring.seal('secret', 'a')
  t.throws(() => stranger.open(envelope, 'a'), {
    name: 'SealError',
    message: new RegExp(`${keyring.kid}.*${stranger.kid}.*DISPATCH_MASTER_KEY`)
  })
  t.throws(() => stranger.open({ ...envelope, kid: stranger.kid }, 'a'), {
    name: 'SealError',
    message: 'A stored secret cannot be opened: it was altered, or it belongs to another record.'
  })
  t.end()
})

await t.test('the key id is stable and reveals no byte of the master key', (t) => {
  t.equal(createKeyring(masterKey).kid, keyring.kid)
  contains(t, keyring.kid, /^[0-9a-f]{16}$/)
  lacks(t, masterKey.toString('hex'), keyring.kid)
  t.end()
})

await t.test('the same secret sealed twice looks different, and is not to be seen', (t) => {
  const [one, other] = [keyring.seal('canary-secret', 'a'), keyring.seal('canary-secret', 'a')]
  t.not(one.sealed, other.sealed)
  t.not(one.wrappedKey, other.wrappedKey)
  t.notOk(Buffer.from(one.sealed, 'base64').includes('canary'))
  const ivOf = (text: string): string => Buffer.from(text, 'base64').toString('hex', 0, 12)
  t.equal(new Set([one.sealed, one.wrappedKey, other.sealed, other.wrappedKey].map(ivOf)).size, 4, 'of AES-GCM no iv is used twice')
  t.end()
})

await t.test('with the key before beside it, both open and the new one seals', (t) => {
  const next = randomBytes(32)
  const both = createKeyring(next, masterKey)
  t.same(both.kids, [createKeyring(next).kid, keyring.kid])
  t.equal(both.open(keyring.seal('secret', 'a'), 'a').toString(), 'secret')
  t.equal(createKeyring(next).open(both.seal('secret', 'a'), 'a').toString(), 'secret')
  t.throws(() => keyring.open(both.seal('secret', 'a'), 'a'), SealError)
  t.end()
})

await t.test('a rewrapped envelope is the same record in its own context, under the new key alone', (t) => {
  const next = randomBytes(32)
  const envelope = keyring.seal('secret', 'a')
  const rewrapped = createKeyring(next, masterKey).rewrap(envelope)
  t.equal(rewrapped.sealed, envelope.sealed, 'the record itself is not touched')
  t.equal(createKeyring(next).open(rewrapped, 'a').toString(), 'secret')
  t.throws(() => createKeyring(next).open(rewrapped, 'b'), SealError)
  t.throws(() => keyring.open(rewrapped, 'a'), SealError)
  t.throws(() => createKeyring(next).rewrap(envelope), SealError, 'without the key before it cannot be')
  t.throws(() => createKeyring(next, masterKey).rewrap({ ...envelope, wrappedKey: rewrapped.wrappedKey }), SealError,
    'nor when it was altered')
  t.end()
})

function failsToOpen (envelope: Envelope): boolean {
  try {
    keyring.open(envelope, 'a')
    return false
  } catch (error) {
    return error instanceof SealError
  }
}

import { createSigningKeys, createTokens } from '@dispatch/accounts'
import { createKeyring } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import fc from 'fast-check'
import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from 'jose'
import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { accountWith, createAccess, createClock, createKeyStore } from './fixtures/access.ts'

const invalid = { word: 'unauthorized', status: 401, message: 'The token is not valid: log in again.' }
const expired = { word: 'unauthorized', status: 401, message: /has expired/ }
const account = accountWith()
const hours = 3600

await t.test('a token says who, since when and until when', async (t) => {
  const { tokens, clock } = await createAccess()
  const claims = await tokens.verify(await tokens.issue(account))
  t.same(claims, { userId: 7, companyId: 3, passwordVersion: 1, provedAt: clock.now(), expiresAt: new Date('2026-03-14T11:30:00.000Z') })
})

await t.test('a token holds nothing but ids and times', async (t) => {
  const { tokens, keys } = await createAccess()
  const token = await tokens.issue(account)
  t.same(decodeProtectedHeader(token), { alg: 'EdDSA', typ: 'access+jwt', kid: (await keys.signer()).kid })
  t.same(Object.keys(decodeJwt(token)).sort(), ['aud', 'auth_time', 'company', 'exp', 'iat', 'iss', 'pwv', 'sub'])
})

await t.test('an impersonation is a part of the token', async (t) => {
  const { tokens } = await createAccess()
  const token = await tokens.issue(account, { impersonator: accountWith({ userId: 9, passwordVersion: 4 }) })
  t.same(decodeJwt(token)['act'], { sub: '9', pwv: 4 })
  t.same((await tokens.verify(token)).impersonator, { userId: 9, passwordVersion: 4 })
})

await t.test('a token lasts 120 minutes, to the second, also when it is remembered', async (t) => {
  const { tokens, clock } = await createAccess()
  const [used, unused] = [await tokens.issue(account), await tokens.issue(accountWith({ userId: 8 }))]
  await tokens.verify(used)
  clock.advance(2 * hours - 1)
  has(t, await tokens.verify(used), { userId: 7 })
  clock.advance(1)
  await t.rejects(tokens.verify(used), expired)
  await t.rejects(tokens.verify(unused), expired)
})

await t.test('the lifetime can be set', async (t) => {
  const { keys, clock } = await createAccess()
  const tokens = createTokens({ keys, now: clock.now, lifetime: 60 })
  t.same((await tokens.verify(await tokens.issue(account))).expiresAt, new Date(clock.now().getTime() + 60_000))
})

await t.test('a token is good in every process that shares the keys, and in no other', async (t) => {
  const { now } = createClock()
  const vault = { store: createKeyStore(), keyring: createKeyring(randomBytes(32)), now }
  const [one, other] = [
    createTokens({ keys: await createSigningKeys(vault), now }),
    createTokens({ keys: await createSigningKeys(vault), now })
  ]
  has(t, await other.verify(await one.issue(account)), { userId: 7 })
  const { tokens: stranger } = await createAccess()
  await t.rejects(stranger.verify(await one.issue(account)), invalid)
})

await t.test('a token expired for less than 24 hours can be refreshed, up to 30 days after the login', async (t) => {
  const { tokens, clock } = await createAccess()
  const token = await tokens.issue(account)
  clock.advance(26 * hours - 1)
  has(t, await tokens.verifyForRefresh(token), { userId: 7 })
  await t.rejects(tokens.verify(token), expired)
  clock.advance(1)
  await t.rejects(tokens.verifyForRefresh(token), expired)

  const provedAt = new Date(clock.now().getTime() - 30 * 24 * hours * 1000)
  const old = await tokens.issue(account, { provedAt })
  t.same((await tokens.verifyForRefresh(old)).provedAt, provedAt)
  clock.advance(1)
  await t.rejects(tokens.verifyForRefresh(old), { word: 'unauthorized', message: /more than 30 days/ })
  has(t, await tokens.verify(old), { userId: 7 }, 'it serves until it expires')
})

await t.test('a token that was signed otherwise is not valid', async (t) => {
  const { tokens, keys, clock } = await createAccess()
  const genuine = await tokens.issue(account)
  const [head, body, signature] = genuine.split('.') as [string, string, string]
  const { kid, privateKey, publicKey } = await keys.signer()
  const claims = decodeJwt(genuine)
  const sign = (header: Record<string, unknown>, changes: Record<string, unknown> = {}, key = privateKey) =>
    new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'EdDSA', typ: 'access+jwt', kid, ...header }).sign(key)
  const hmacWith = (secret: Uint8Array | string) => {
    const input = `${encode({ alg: 'HS256', typ: 'access+jwt', kid })}.${body}`
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
  }
  has(t, await tokens.verify(await sign({})), { userId: 7 }, 'the forger below only differs where it says')

  const forged: Record<string, string> = {
    'alg none': new UnsecuredJWT(claims).encode(),
    'alg none under our header': `${encode({ alg: 'none', typ: 'access+jwt', kid })}.${body}.`,
    'alg none with a signature': `${encode({ alg: 'none', typ: 'access+jwt', kid })}.${body}.${signature}`,
    'HS256 with the public key (PEM)': hmacWith(publicKey.export({ format: 'pem', type: 'spki' })),
    'HS256 with the public key (DER)': hmacWith(publicKey.export({ format: 'der', type: 'spki' })),
    'another key under our kid': await sign({}, {}, generateKeyPairSync('ed25519').privateKey),
    'an unknown kid': await sign({ kid: 'another' }),
    'no kid': await sign({ kid: undefined }),
    'no typ': await sign({ typ: undefined }),
    'another typ': await sign({ typ: 'JWT' }),
    'the key in the header': await sign({ kid: 'mine', jwk: publicKey.export({ format: 'jwk' }) }),
    'another user': `${head}.${encode({ ...claims, sub: '1' })}.${signature}`,
    'another header': `${encode({ alg: 'EdDSA', typ: 'access+jwt', kid, extra: 1 })}.${body}.${signature}`,
    'no signature': `${head}.${body}.`,
    'a signature cut short': genuine.slice(0, -4),
    'another issuer': await sign({}, { iss: 'someone' }),
    'another audience': await sign({}, { aud: 'someone' }),
    'no expiry': await sign({}, { exp: undefined }),
    'no password version': await sign({}, { pwv: undefined }),
    'no login time': await sign({}, { auth_time: undefined }),
    'a user that is no number': await sign({}, { sub: '7 or 1' }),
    'an impersonator without version': await sign({}, { act: { sub: '9' } })
  }
  for (const [name, token] of Object.entries(forged)) {
    await t.rejects(tokens.verify(token), invalid, name)
    await t.rejects(tokens.verifyForRefresh(token), invalid, name)
  }
  clock.advance(hours)
  has(t, await tokens.verify(genuine), { userId: 7 }, 'no forgery has spoiled the genuine one')
})

await t.test('no character of a token can be changed, although the genuine one is remembered', async () => {
  const { tokens } = await createAccess()
  const token = await tokens.issue(account)
  await tokens.verify(token)
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: token.length - 2 }), fc.constantFrom('A', 'b', '-', '.', '=', ' '),
      async (at, character) =>
        token[at] === character || await isRefused(tokens.verify(token.slice(0, at) + character + token.slice(at + 1))))
  )
})

await t.test('whatever text stands in the place of a token is unauthorized', async () => {
  const { tokens } = await createAccess()
  const part = fc.oneof(fc.base64String(), fc.string(), fc.json().map((json) => Buffer.from(json).toString('base64url')))
  await fc.assert(fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => await isRefused(tokens.verify(parts.join('.')))))
})

await t.test('a fault of the key store is not a wrong token', async (t) => {
  const { clock, keys } = await createAccess()
  const broken = createTokens({ keys: { ...keys, find: () => Promise.reject(new Error('The database is away.')) }, now: clock.now })
  await t.rejects(broken.verify(await broken.issue(account)), { message: 'The database is away.' })
})

await t.test('a good token is verified once, a bad one every time', async (t) => {
  const { clock, keys } = await createAccess()
  const tokens = createTokens({ keys, now: clock.now })
  const token = await tokens.issue(account)
  const claims = await tokens.verify(token)
  for (const times of [1, 2, 3]) t.equal(await tokens.verify(token), claims, `the same object, ${times}`)
  const bad = `${token.slice(0, -5)}AAAAA`
  t.ok(await isRefused(tokens.verify(bad)) && await isRefused(tokens.verify(bad)))
})

await t.test('a token whose key was revoked is refused, remembered or not', async (t) => {
  const { clock, keys } = await createAccess()
  const revoked = { is: false }
  const tokens = createTokens({
    keys: { ...keys, find: (kid) => revoked.is ? Promise.resolve(undefined) : keys.find(kid) },
    now: clock.now
  })
  const [used, unused] = [await tokens.issue(account), await tokens.issue(accountWith({ userId: 8 }))]
  await tokens.verify(used)
  revoked.is = true
  t.ok(await isRefused(tokens.verify(used)) && await isRefused(tokens.verify(unused)) && await isRefused(tokens.verifyForRefresh(used)))
})

function encode (value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

async function isRefused (verification: Promise<unknown>): Promise<boolean> {
  return await verification.then(() => false, (error: unknown) => error instanceof DispatchError && error.word === 'unauthorized')
}

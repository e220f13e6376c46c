import fc from 'fast-check'
import { createHash, createHmac } from 'node:crypto'
import t from 'tap'
import { basic, hmac, vendorKey } from '../../../../test/core/work/support.ts'
import { verifyBasic as judgeBasic } from '../webhook/credentials.ts'
import type { WebhookRequest } from '../webhook/event-request.ts'
import { keptRequest } from '../webhook/kept-request.ts'
import { createKeySources } from '../webhook/keys.ts'
import type { Verifier } from '../webhook/language.ts'
import { createVendorSigningKey, signDelivery } from '../webhook/sign.ts'
import { verifyJws } from '../webhook/token.ts'
import { verifyWebhook } from '../webhook/verify.ts'

const at = new Date('2026-03-14T09:30:00.000Z')
const time = String(at.getTime() / 1000)
const key = vendorKey('k1')
const sources = createKeySources({
  fetchJson: () => Promise.reject(new Error('Nothing is fetched.')),
  now: () => at,
  onError: () => undefined
})
const keys = sources.of({ keys: [key.jwk] })
const requestOf = (request: WebhookRequest) => ({ request })
const signatureHeaders = (verifiers: readonly Verifier[], { headers }: Pick<WebhookRequest, 'headers'>) =>
  keptRequest(verifiers, { headers, body: Buffer.alloc(0) }).headers
const verifyBasic = (expected: string | undefined, request: WebhookRequest) => judgeBasic(expected, requestOf(request))
const bySecret = async (verify: Verifier, secret: string | undefined, request: WebhookRequest, when: Date) =>
  (await verifyWebhook([verify], request, { settings: () => secret === undefined ? {} : { secret }, keys: sources }, when)).verdict
const [verifyHmac, verifyJwt] = [bySecret, bySecret]
const jws = { kind: 'jws', header: 'X-JWS-Signature', algorithm: 'PS256', jwks: '' } as const
const judge = (body: Buffer, signature: string) => verifyJws(jws, keys.find, requestOf({ headers: { 'x-jws-signature': signature }, body }))

await t.test('a JWS holds for its body to the bit, and for no other', async (t) => {
  await fc.assert(fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.nat(), async (bytes, place) => {
    const body = Buffer.from(bytes)
    const signature = key.sign(body)
    const altered = Buffer.from(body)
    altered[place % body.length]! ^= 1
    return await judge(body, signature) === 'verified' && await judge(altered, signature) === 'wrong_signature' &&
      await judge(Buffer.concat([body, Buffer.from('\n')]), signature) === 'wrong_signature'
  }), { numRuns: 30 })
  t.equal(await judge(Buffer.alloc(0), key.sign('')), 'verified')
})

await t.test('a header of any shape is a verdict, never an error, and never the right one', async (t) => {
  const body = Buffer.from('{}')
  const segment = fc.oneof(fc.string(), fc.json().map((text) => Buffer.from(text).toString('base64url')),
    fc.constantFrom('', key.sign(body).split('.')[0] ?? ''))
  await fc.assert(
    fc.asyncProperty(fc.array(segment, { maxLength: 5 }), async (segments) => await judge(body, segments.join('.')) !== 'verified'),
    { numRuns: 300 }
  )
  t.equal(await judge(body, ''), 'no_signature')
})

await t.test('a key that the vendor does not have is unknown, and a symmetric or short one is of no use', async (t) => {
  const body = Buffer.from('{}')
  t.equal(await judge(body, vendorKey('k2').sign(body)), 'unknown_key')
  const odd = createKeySources({ fetchJson: () => Promise.resolve(null), now: () => at, onError: () => undefined }).of({
    keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'k1', alg: 'PS256' }]
  })
  t.equal(await verifyJws(jws, odd.find, requestOf({ headers: { 'x-jws-signature': key.sign(body) }, body })), 'unknown_key')
})

await t.test('Basic: the same bytes and nothing else', (t) => {
  const credentials = fc.tuple(fc.string({ minLength: 1 }).filter((user) => !user.includes(':')), fc.string({ minLength: 1 })).map((pair) =>
    pair.join(':')
  )
  fc.assert(fc.property(credentials, credentials, (right, other) => {
    const verdict = (given: string) => verifyBasic(right, { headers: basic(given), body: Buffer.alloc(0) })
    return verdict(right) === 'verified' && (other === right || verdict(other) === 'wrong_signature')
  }))
  t.end()
})

const secretless: [string, string | undefined][] = [
  ['none', undefined],
  ['empty', ''],
  ['a name alone', 'user'],
  ['no password', 'user:'],
  ['no name', ':password'],
  ['nothing on either side', ':']
]
for (const [name, expected] of secretless) {
  await t.test(`Basic credentials that are not whole accept nobody: ${name}`, (t) => {
    for (const given of ['', ':', 'user', 'user:', ':password', 'user:password', 'undefined']) {
      t.equal(verifyBasic(expected, { headers: basic(given), body: Buffer.alloc(0) }), 'no_secret')
    }
    t.end()
  })
}

const mac = { kind: 'hmac', header: 'X-Signature', algorithm: 'sha256', encoding: 'hex', secret: 'secret' } as const

await t.test('an HMAC holds for its secret and body, in the encoding that was declared', async (t) => {
  await fc.assert(fc.asyncProperty(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), fc.string(), async (secret, other, body) => {
    const right = hmac(secret, body)
    const verdict = (given: string, by = secret, encoding: 'hex' | 'base64' = 'hex') =>
      verifyHmac({ ...mac, encoding }, by, { headers: { 'x-signature': given }, body: Buffer.from(body) }, at)
    return await verdict(right) === 'verified' &&
      await verdict(Buffer.from(right, 'hex').toString('base64'), secret, 'base64') === 'verified' &&
      (other === secret || await verdict(right, other) === 'wrong_signature') && await verdict(right.slice(2)) === 'wrong_signature' &&
      await verdict('') === 'no_signature'
  }))
  t.equal(await verifyHmac(mac, '', { headers: { 'x-signature': hmac('', '{}') }, body: Buffer.from('{}') }, at), 'no_secret')
  t.equal(await verifyHmac(mac, undefined, { headers: { 'x-signature': hmac('undefined', '{}') }, body: Buffer.from('{}') }, at),
    'no_secret')
  t.equal(await verifyHmac(mac, 'secret', { headers: {}, body: Buffer.from('{}') }, at), 'no_signature')
})

await t.test('what is declared to stand before a signature stands there, and nothing else', async (t) => {
  const right = hmac('secret', '{}')
  const verdict = (given: string) =>
    verifyHmac({ ...mac, prefix: 'sha256=' }, 'secret', { headers: { 'x-signature': given }, body: Buffer.from('{}') }, at)
  t.equal(await verdict(`sha256=${right}`), 'verified')
  for (const given of [right, `sha512=${right}`, `SHA256=${right}`, ` sha256=${right}`]) {
    t.equal(await verdict(given), 'malformed_signature', given)
  }
})

await t.test('a signed time may differ by the tolerance, in seconds or milliseconds, and is part of what is signed', async (t) => {
  const verdict = (given: string, timestamp: { header: string, unit?: 'seconds' | 'milliseconds', tolerance?: number }, signed = given) =>
    verifyHmac({ ...mac, timestamp }, 'secret', {
      headers: { 'x-signature': hmac('secret', '{}', signed), 'x-time': given },
      body: Buffer.from('{}')
    }, at)
  const seconds = at.getTime() / 1000
  t.equal(await verdict(String(seconds - 300), { header: 'X-Time' }), 'verified')
  t.equal(await verdict(String(seconds + 300), { header: 'X-Time' }), 'verified')
  t.equal(await verdict(String(seconds - 301), { header: 'X-Time' }), 'wrong_time')
  t.equal(await verdict(String(seconds + 301), { header: 'X-Time' }), 'wrong_time')
  t.equal(await verdict(String(seconds - 11), { header: 'X-Time', tolerance: 10 }), 'wrong_time')
  t.equal(await verdict(String(at.getTime()), { header: 'X-Time', unit: 'milliseconds' }), 'verified')
  t.equal(await verdict(String(at.getTime()), { header: 'X-Time' }), 'wrong_time')
  t.equal(await verdict(time, { header: 'X-Time' }, String(seconds - 1)), 'wrong_signature')
  for (const odd of ['', 'now', '1e3', `${time}.5`, `-${time}`, 'NaN', ' ']) {
    t.equal(await verdict(odd, { header: 'X-Time' }), 'wrong_time', odd)
  }
})

await t.test('any one of numbered headers suffices, up to the hundredth', async (t) => {
  const numbered = { ...mac, header: 'X-Sign-*' }
  const verdict = (headers: Record<string, string>) => verifyHmac(numbered, 'secret', { headers, body: Buffer.from('{}') }, at)
  const right = hmac('secret', '{}')
  t.equal(await verdict({ 'x-sign-1': 'ff', 'x-sign-100': right }), 'verified')
  t.equal(await verdict({ 'x-sign-101': right, 'x-sign-0': right, 'x-sign-': right }), 'no_signature')
  t.equal(await verdict({ 'x-sign-1': 'ff', 'x-sign-2': '' }), 'wrong_signature')
  t.same(
    signatureHeaders([{ ...numbered, timestamp: { header: 'X-Time' } }], {
      headers: { 'x-sign-2': right, 'x-time': time, cookie: 'c', authorization: 'a' }
    }),
    { 'x-sign-2': right, 'x-time': time }
  )
  t.same(signatureHeaders([{ kind: 'basic' }, { ...mac, header: 'X-Mac' }], { headers: { authorization: 'a', cookie: 'c', 'x-mac': 'm' } }),
    { authorization: 'a', 'x-mac': 'm' })
})

const part = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A token as a vendor signs it, with another header, claims or secret where the test says so. */
function tokenOf (body: string, claims: object = {}, header: object = {}, secret = 'secret'): string {
  const digest = createHash('sha256').update(body).digest('hex')
  const signed = `${part({ alg: 'HS256', typ: 'JWT', ...header })}.${
    part({ iat: Number(time), jti: '1', payload_hash: digest, ...claims })
  }`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

const jwt = { kind: 'jwt', algorithm: 'HS256', secret: 'secret' } as const
const judgeToken = (token: string, body = '{}', verify: Verifier = jwt) =>
  verifyJwt(verify, 'secret', { headers: { authorization: `Bearer ${token}` }, body: Buffer.from(body) }, at)

await t.test('a JWT holds for the body whose hash it names, and for no other', async (t) => {
  t.equal(await judgeToken(tokenOf('{}')), 'verified')
  t.equal(await judgeToken(tokenOf('{}'), '{} '), 'wrong_signature')
  t.equal(await judgeToken(tokenOf('{}', { payload_hash: undefined })), 'wrong_signature')
  t.equal(await judgeToken(tokenOf('{}', { payload_hash: '' })), 'wrong_signature')
  t.equal(await judgeToken(tokenOf('{}', {}, {}, 'another')), 'wrong_signature')
  const digest = createHash('sha256').update('{}').digest('base64')
  t.equal(await judgeToken(tokenOf('{}', { body: digest }), '{}', { ...jwt, claim: 'body', encoding: 'base64', issuer: 'Acme' }),
    'wrong_signature')
  t.equal(
    await judgeToken(tokenOf('{}', { body: digest, iss: 'Acme' }), '{}', { ...jwt, claim: 'body', encoding: 'base64', issuer: 'Acme' }),
    'verified'
  )
})

await t.test('its time is near ours, and its end is not past', async (t) => {
  const now = Number(time)
  for (const [claims, verdict] of [
    [{ iat: now - 300 }, 'verified'],
    [{ iat: now + 300 }, 'verified'],
    [{ iat: now - 301 }, 'wrong_time'],
    [{ iat: now + 301 }, 'wrong_time'],
    [{ iat: undefined }, 'wrong_time'],
    [{ iat: time }, 'wrong_time'],
    [{ exp: now }, 'verified'],
    [{ exp: now - 1 }, 'wrong_time'],
    [{ exp: 'never' }, 'wrong_time'],
    [{ exp: null }, 'wrong_time']
  ] as const) t.equal(await judgeToken(tokenOf('{}', claims)), verdict, JSON.stringify(claims))
  t.equal(await judgeToken(tokenOf('{}', { iat: now - 11 }), '{}', { ...jwt, tolerance: 10 }), 'wrong_time')
})

await t.test('its algorithm is fixed, and without a secret nobody is believed', async (t) => {
  const [, claims = '', signature = ''] = tokenOf('{}').split('.')
  for (const [token, verdict] of [
    [`${part({ alg: 'none' })}.${claims}.`, 'wrong_algorithm'],
    [`${part({ alg: 'none' })}.${claims}.${signature}`, 'wrong_algorithm'],
    [tokenOf('{}', {}, { alg: 'HS512' }), 'wrong_algorithm'],
    [tokenOf('{}', {}, { alg: 'RS256' }), 'wrong_algorithm'],
    [tokenOf('{}', {}, { jwk: {} }), 'forbidden_header'],
    [tokenOf('{}', {}, { crit: ['x'] }), 'forbidden_header'],
    [`${claims}.${signature}`, 'malformed_signature'],
    [`${tokenOf('{}')}.x`, 'malformed_signature'],
    ['a.b.c', 'malformed_signature'],
    ['', 'no_signature']
  ] as const) t.equal(await judgeToken(token), verdict, token)
  const delivery = { headers: { authorization: `Bearer ${tokenOf('{}', {}, {}, '')}` }, body: Buffer.from('{}') }
  t.same(await Promise.all(['', undefined].map((secret) => verifyJwt(jwt, secret, delivery, at))), ['no_secret', 'no_secret'])
  t.same(signatureHeaders([jwt], { headers: { authorization: 'a', cookie: 'c' } }), { authorization: 'a' })
  const own = { headers: { 'x-token': tokenOf('{}') }, body: Buffer.from('{}') }
  t.equal(await verifyJwt({ ...jwt, header: 'X-Token' }, 'secret', own, at), 'verified')
})

await t.test('what the kit signs in this way is what is verified', async (t) => {
  const body = Buffer.from('{"a":1}')
  const by = { key: createVendorSigningKey('k1'), settings: { secret: 'secret' }, endpoint: '' }
  for (const verify of [jwt, { ...jwt, header: 'X-Token', claim: 'sum', encoding: 'base64', issuer: 'Acme' }] as const) {
    const delivery = await signDelivery([verify], body, by, at)
    t.equal(await verifyJwt(verify, 'secret', delivery, at), 'verified')
    t.equal(await verifyJwt(verify, 'another', delivery, at), 'wrong_signature')
  }
})

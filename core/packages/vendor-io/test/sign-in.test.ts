import { jwtVerify } from 'jose'
import { createHmac, generateKeyPairSync, hash, type KeyObject } from 'node:crypto'
import t from 'tap'
import { contains, has } from '../../../../test/support/matching.ts'
import { httpOf, vendorOf } from '../../../../test/support/vendor.ts'
import type { VendorBehaviour, VendorReply } from '../../conformance/vendor/vendor.ts'
import { Type } from '../../host/provider.ts'
import type { HttpCall } from '../http/call.ts'
import type { HttpOptions } from '../http/client.ts'
import { type Assertion, createAccessTokenCache, type OAuth2 } from '../http/oauth.ts'
import { oauth1Header } from '../http/oauth1.ts'
import { signRequest } from '../http/sigv4.ts'
import { createRedactor } from '../notes/redact.ts'
import { type Failure, failureOf } from '../outcome/failure.ts'
import { createProgress } from '../outcome/request-outcome.ts'

const { vendor, network } = await vendorOf(t)
const url = 'https://api.acme.test/v1/me'
const tokenUrl = 'https://api.acme.test/oauth/token'
const Anything = Type.Unknown()
const grant: OAuth2 = { grant: 'client_credentials', tokenUrl, clientId: 'me:1', clientSecret: 's/ecret+' }

const failed = (request: Promise<unknown>): Promise<Failure | undefined> =>
  request.then(() => undefined, (error: unknown) => failureOf(error) ?? Promise.reject(error as Error))
const requestsTo = (path: string) => vendor.requests.filter((request) => request.path === path)

/** A clock that stands still until it is set, tokens that follow it, and an API that takes every call. */
function begin (more: Partial<HttpOptions> = {}) {
  const clock = { now: new Date('2026-03-14T09:30:00.000Z') }
  const now = (): Date => clock.now
  vendor.requests.length = 0
  vendor.on('GET /v1/me', { json: {} })
  vendor.on('POST /v1/me', { json: {} })
  const tokens = createAccessTokenCache({ wire: network.transport, now })
  const http = (account = 'company 1') => httpOf({ transport: network.transport, accessTokens: tokens }, { account, now, ...more })
  return { clock, http }
}

const concealing = (reported: string[]): Partial<HttpOptions> => ({
  redact: { ...createRedactor([]), conceal: (secret) => reported.push(secret) }
})

/** A new token each time. */
function issue (expiresIn?: number | string): VendorBehaviour {
  let count = 0
  return (): VendorReply => ({
    json: { access_token: `token-${++count}`, token_type: 'Bearer', ...(expiresIn !== undefined && { expires_in: expiresIn }) }
  })
}

const simple: [string, HttpCall, Record<string, string>][] = [
  ['Basic', { basic: ['user', 'pass:wörd'] }, { authorization: `Basic ${Buffer.from('user:pass:wörd').toString('base64')}` }],
  ['Basic with an empty password', { basic: ['key', ''] }, { authorization: 'Basic a2V5Og==' }],
  ['bearer', { bearer: 'abc' }, { authorization: 'Bearer abc' }],
  ['a key in a header', { apiKey: { header: 'X-Api-Key', value: 'abc' } }, { 'x-api-key': 'abc' }]
]

for (const [kind, call, headers] of simple) {
  await t.test(`signs in by ${kind}`, async (t) => {
    await begin().http().get(url, call, Anything)
    has(t, vendor.requests.at(-1), { headers })
  })
}

const session: HttpCall = {
  session: {
    url: 'https://api.acme.test/login',
    json: { username: 'me', password: 's3cret-password' },
    token: '/session/token',
    lifetime: 600,
    header: 'X-Session',
    scheme: 'Acme'
  }
}

await t.test('signs in by a session of the vendor: opened once, renewed at its end and where the vendor refuses it', async (t) => {
  const reported: string[] = []
  const { clock, http } = begin(concealing(reported))
  let count = 0
  vendor.on('POST /login', () => ({ json: { session: { token: `session-token-${++count}` } } }))
  await Promise.all([1, 2, 3].map(() => http().get(url, session, Anything)))
  const [login] = requestsTo('/login')
  has(t, [login?.json, login?.headers['content-type']], [{ username: 'me', password: 's3cret-password' }, 'application/json'])
  t.same(requestsTo('/v1/me').map(({ headers }) => headers['x-session']), Array(3).fill('Acme session-token-1'))
  await http('company 2').get(url, session, Anything)
  t.equal(requestsTo('/v1/me').at(-1)?.headers['x-session'], 'Acme session-token-2', 'of another configuration')
  clock.now = new Date(clock.now.getTime() + 600_000)
  await http().get(url, session, Anything)
  t.equal(requestsTo('/v1/me').at(-1)?.headers['x-session'], 'Acme session-token-3')
  vendor.on('GET /v1/me', [{ status: 401 }, { json: {} }])
  await http().get(url, session, Anything)
  t.equal(requestsTo('/v1/me').at(-1)?.headers['x-session'], 'Acme session-token-4')
  for (const secret of ['session-token-1', 'session-token-4', 's3cret-password']) t.ok(reported.includes(secret), secret)
})

await t.test('the token of a session may be the whole answer, and the sign-in HTTP Basic with a form', async (t) => {
  const { http } = begin()
  vendor.on('POST /login', { text: 'plain-token' })
  const call: HttpCall = {
    session: { url: 'https://api.acme.test/login', form: { scope: 'all' }, basic: ['me', 'pass'], token: '', lifetime: 600 }
  }
  await http().get(url, call, Anything)
  has(t, requestsTo('/login'), [{ form: { scope: 'all' }, headers: { authorization: 'Basic bWU6cGFzcw==' } }])
  t.equal(requestsTo('/v1/me').at(-1)?.headers['authorization'], 'plain-token')
})

await t.test('the sign-in of a session may have headers and a signature, made when it is opened', async (t) => {
  const reported: string[] = []
  const { clock, http } = begin(concealing(reported))
  vendor.on('POST /login', { json: { token: 'signed-token' } })
  const call: HttpCall = {
    session: {
      url: 'https://api.acme.test/login',
      headers: { 'X-Service': 'shop' },
      signature: { key: 's3cret-key', text: 'shop', header: 'X-Signature', time: 'X-Time' },
      token: '/token',
      lifetime: 600
    }
  }
  const first = String(clock.now.getTime() / 1000)
  await http().get(url, call, Anything)
  clock.now = new Date(clock.now.getTime() + 60_000)
  await http().get(url, call, Anything)
  const signature = createHmac('sha256', 's3cret-key').update(`shop${first}`).digest('hex')
  has(t, requestsTo('/login'), [{ headers: { 'x-service': 'shop', 'x-time': first, 'x-signature': signature } }])
  t.equal(requestsTo('/login').length, 1, 'a minute later the session is open')
  t.ok(reported.includes('s3cret-key'))
})

await t.test('a session that is not opened sends nothing; at no other host than the declared ones', async (t) => {
  const answers: [VendorReply, Partial<Failure>][] = [
    [{ status: 401, json: { error: 'wrong password' } }, { word: 'authentication_error' }],
    [{ status: 503 }, { word: 'provider_unavailable' }],
    [{ json: { session: {} } }, { word: 'provider_unavailable' }],
    [{ json: { session: { token: 'two\r\nlines' } } }, { word: 'provider_unavailable' }],
    [{ json: { session: { token: '<html>Welcome</html>' } } }, { word: 'provider_unavailable' }],
    [{ json: { session: { token: '' } } }, { word: 'provider_unavailable' }]
  ]
  for (const [answer, failure] of answers) {
    const { http } = begin()
    vendor.on('POST /login', answer)
    has(t, await failed(http().post(url, session, Anything)), failure)
    t.same(requestsTo('/v1/me'), [])
  }
  const { http } = begin()
  const elsewhere: HttpCall = { session: { ...session.session!, url: 'https://evil.example/login' } }
  has(t, await failed(http().post(url, elsewhere, Anything)), { word: 'provider_unavailable' })
  t.same(vendor.requests, [])
})

await t.test('signs in by OAuth 1.0a, over the query and a form too', async (t) => {
  // RFC 5849, 1.2.
  const photos = { consumerKey: 'dpf43f3p2l4k3l03', consumerSecret: 'kd94hf93k423kf44', token: 'nnch734d00sl2jdk', realm: 'Photos' }
  const signed = oauth1Header({ ...photos, tokenSecret: 'pfkkdhi9sl3r4s00' }, {
    method: 'GET',
    url: new URL('http://photos.example.net/photos?file=vacation.jpg&size=original')
  }, [], new Date(137_131_202_000), 'chapoH')
  contains(t, oauth1Header({
    consumerKey: 'xvz1evFS4wEEPTGEFPHBog',
    consumerSecret: 'kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw',
    token: '370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb',
    tokenSecret: 'LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE'
  }, { method: 'POST', url: new URL('https://api.twitter.com/1.1/statuses/update.json?include_entities=true') }, [['status',
    'Hello Ladies + Gentlemen, a signed OAuth request!']], new Date(1_318_622_958_000), 'kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg'),
    'oauth_signature="hCtSmYh%2BiHYCEqBWrE7C7hYmtUk%3D"')
  contains(t, signed, /^OAuth realm="Photos", oauth_consumer_key="dpf43f3p2l4k3l03", .*oauth_timestamp="137131202"/)
  const call: HttpCall = {
    oauth1: { consumerKey: 'key', consumerSecret: 's&cret', token: 'token', tokenSecret: 'tok/en', algorithm: 'HMAC-SHA256' },
    query: { b: '2 +', a: ['z', 'a'] },
    form: { 'b-c': '~é', b: '' }
  }
  await begin().http().post(url, call, Anything)
  const sent = Object.fromEntries(
    [...vendor.requests.at(-1)!.headers['authorization']!.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value])
  )
  t.equal(sent.oauth_timestamp, String(Date.parse('2026-03-14T09:30:00.000Z') / 1000))
  const parameters = [
    ...['a=a', 'a=z', 'b=', 'b=2%20%2B', 'b-c=~%C3%A9', 'oauth_consumer_key=key', `oauth_nonce=${sent.oauth_nonce}`],
    ...['oauth_signature_method=HMAC-SHA256', `oauth_timestamp=${sent.oauth_timestamp}`, 'oauth_token=token', 'oauth_version=1.0']
  ]
  const base = `POST&${encodeURIComponent(url)}&${encodeURIComponent(parameters.join('&'))}`
  const expected = createHmac('sha256', 's%26cret&tok%2Fen').update(base).digest('base64')
  t.equal(decodeURIComponent(sent.oauth_signature), expected)
})

await t.test('client credentials', async (t) => {
  await t.test('are exchanged for a token once, however many requests there are', async (t) => {
    const { http } = begin()
    vendor.on('POST /oauth/token', issue(3600))
    await Promise.all(Array.from({ length: 5 }, () => http().get(url, { oauth2: grant }, Anything)))
    await http().get(url, { oauth2: grant }, Anything)
    t.equal(requestsTo('/oauth/token').length, 1)
    t.strictSame(requestsTo('/v1/me').map(({ headers }) => headers['authorization']), Array(6).fill('Bearer token-1'))
  })

  await t.test('go into the header, form-encoded first, or into the body', async (t) => {
    const { http } = begin()
    vendor.on('POST /oauth/token', issue(3600))
    await http().get(url, { oauth2: { ...grant, scope: 'a b', audience: 'https://aud', parameters: { tenant: 'x' } } }, Anything)
    await http().get(url, { oauth2: { ...grant, clientAuth: 'body' } }, Anything)
    has(t, requestsTo('/oauth/token').map(({ headers, form }) => ({ authorization: headers['authorization'], form })), [
      {
        authorization: `Basic ${Buffer.from('me%3A1:s%2Fecret%2B').toString('base64')}`,
        form: { grant_type: 'client_credentials', scope: 'a b', audience: 'https://aud', tenant: 'x' }
      },
      { authorization: undefined, form: { grant_type: 'client_credentials', client_id: 'me:1', client_secret: 's/ecret+' } }
    ])
  })

  await t.test('of another account, or other ones, are another token', async (t) => {
    const { http } = begin()
    vendor.on('POST /oauth/token', issue(3600))
    await http('company 1').get(url, { oauth2: grant }, Anything)
    await http('company 2').get(url, { oauth2: grant }, Anything)
    await http('company 1').get(url, { oauth2: { ...grant, clientSecret: 'changed' } }, Anything)
    t.strictSame(requestsTo('/v1/me').map(({ headers }) => headers['authorization']), [
      'Bearer token-1',
      'Bearer token-2',
      'Bearer token-3'
    ])
  })
})

const lifetimes: [string, number | string | undefined, number, number][] = [
  ['an hour', 3600, 3539, 3540],
  ['an hour, as a text', '3600', 3539, 3540],
  ['a minute', 60, 53, 54],
  ['nobody knows how long', undefined, 269, 270]
]

for (const [lifetime, expiresIn, still, over] of lifetimes) {
  await t.test(`a token that lives for ${lifetime} is renewed before it expires`, async (t) => {
    const { http, clock } = begin()
    vendor.on('POST /oauth/token', issue(expiresIn))
    const start = clock.now.getTime()
    for (const seconds of [0, still, over]) {
      clock.now = new Date(start + seconds * 1000)
      await http().get(url, { oauth2: grant }, Anything)
    }
    t.strictSame(requestsTo('/v1/me').map(({ headers }) => headers['authorization']), [
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-2'
    ])
  })
}

await t.test('the password grant sends user and client', async (t) => {
  vendor.on('POST /oauth/token', issue(3600))
  const { http } = begin()
  await http().get(url, {
    oauth2: { grant: 'password', tokenUrl, username: 'ada', password: 'pw', clientId: 'c', clientSecret: 's', clientAuth: 'body' }
  }, Anything)
  await http().get(url, { oauth2: { grant: 'password', tokenUrl, username: 'ada', password: 'pw', clientId: 'public' } }, Anything)
  t.strictSame(requestsTo('/oauth/token').map(({ form }) => form), [
    { grant_type: 'password', username: 'ada', password: 'pw', client_id: 'c', client_secret: 's' },
    { grant_type: 'password', username: 'ada', password: 'pw', client_id: 'public' }
  ])
})

const pem = { type: 'pkcs8', format: 'pem' } as const
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ed = generateKeyPairSync('ed25519')
const assertions: { algorithm: Assertion['algorithm'], key: string, publicKey: KeyObject }[] = [
  { algorithm: 'RS256', key: rsa.privateKey.export(pem), publicKey: rsa.publicKey },
  { algorithm: 'RS256', key: rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }), publicKey: rsa.publicKey },
  { algorithm: 'ES256', key: ec.privateKey.export(pem), publicKey: ec.publicKey },
  { algorithm: 'EdDSA', key: ed.privateKey.export(pem), publicKey: ed.publicKey }
]

for (const { algorithm, key, publicKey } of assertions) {
  await t.test(`a JWT bearer assertion by ${algorithm} is one that its receiver can verify`, async (t) => {
    vendor.on('POST /oauth/token', issue(3600))
    const { http, clock } = begin()
    const assertion: Assertion = {
      algorithm,
      key,
      keyId: 'k1',
      issuer: 'client',
      subject: 'user',
      audience: 'account.acme.test',
      claims: { scope: 'signature impersonation' }
    }
    await http().get(url, { oauth2: { grant: 'jwt_bearer', tokenUrl, assertion } }, Anything)
    const form = requestsTo('/oauth/token')[0]!.form!
    t.equal(form['grant_type'], 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    const { payload, protectedHeader } = await jwtVerify(form['assertion']!, publicKey, {
      issuer: 'client',
      subject: 'user',
      audience: 'account.acme.test',
      currentDate: clock.now
    })
    has(t, payload, { scope: 'signature impersonation', iat: 1773480600, exp: 1773480900, jti: String })
    t.strictSame(protectedHeader, { alg: algorithm, typ: 'JWT', kid: 'k1' })
  })
}

await t.test('a JWT that the host signs is the bearer of a request', async (t) => {
  const secret = 'a shared secret of thirty-two bytes'
  const shared = { algorithm: 'HS256', key: secret, publicKey: Buffer.from(secret) } as const
  for (const { algorithm, key, publicKey } of [...assertions, shared]) {
    const { http, clock } = begin()
    await http().get(url, {
      jwt: { algorithm, key, issuer: 'me', lifetime: 900, claims: { application_id: 'a1', acl: { paths: ['/*'] } } }
    }, Anything)
    const token = requestsTo('/v1/me')[0]!.headers['authorization']!.replace(/^Bearer /, '')
    const { payload, protectedHeader } = await jwtVerify(token, publicKey as KeyObject, { issuer: 'me', currentDate: clock.now })
    has(t, payload, { iss: 'me', application_id: 'a1', acl: { paths: ['/*'] }, iat: 1773480600, exp: 1773481500, jti: String })
    t.strictSame(protectedHeader, { alg: algorithm, typ: 'JWT' })
  }
})

await t.test('it is signed once until it nears its end, for each configuration and each content, and is a secret', async (t) => {
  const concealed: string[] = []
  const { http, clock } = begin(concealing(concealed))
  const jwt = { algorithm: 'HS256', key: 'a shared secret of thirty-two bytes', issuer: 'me', lifetime: 300 } as const
  const tokens = async (account: string, issuer = 'me'): Promise<string> => {
    await http(account).get(url, { jwt: { ...jwt, issuer } }, Anything)
    return vendor.requests.at(-1)!.headers['authorization']!
  }
  const first = await tokens('company 1')
  clock.now = new Date(clock.now.getTime() + 260_000)
  t.equal(await tokens('company 1'), first)
  t.not(await tokens('company 2'), first)
  t.not(await tokens('company 1', 'somebody'), first)
  clock.now = new Date(clock.now.getTime() + 15_000)
  t.not(await tokens('company 1'), first)
  t.ok(concealed.includes(first.replace(/^Bearer /, '')))
})

await t.test('a key that cannot sign is refused before anything is sent', async (t) => {
  const { http } = begin()
  const wrong = { algorithm: 'RS256', issuer: 'me' } as const
  has(t, await failed(http().get(url, { jwt: { ...wrong, key: 'none' } }, Anything)), {
    word: 'authentication_error',
    message: 'The private key of the settings cannot be read: it is PEM, beginning with "-----BEGIN".'
  })
  has(t, await failed(http().get(url, { jwt: { ...wrong, key: ec.privateKey.export(pem) } }, Anything)), {
    word: 'authentication_error',
    message: 'The key of the settings cannot sign with RS256.'
  })
  t.equal(requestsTo('/v1/me').length, 0)
})

await t.test('a token that the vendor does not take is dropped, and the request is sent once more', async (t) => {
  const { http } = begin()
  vendor.on('POST /oauth/token', issue(3600))
  await http().get(url, { oauth2: grant }, Anything)
  vendor.on('POST /v1/me', [{ status: 401 }, { json: { ok: true } }])
  t.strictSame(await http().post(url, { oauth2: grant, json: { n: 1 } }, Anything), { ok: true })
  t.strictSame(requestsTo('/v1/me').map(({ headers, json }) => [headers['authorization'], json]), [
    ['Bearer token-1', undefined],
    ['Bearer token-1', { n: 1 }],
    ['Bearer token-2', { n: 1 }]
  ])
})

await t.test('a new token that is not taken either is the vendor\'s refusal', async (t) => {
  const { http } = begin()
  vendor.on('POST /oauth/token', issue(3600))
  vendor.on('POST /v1/me', { status: 401 })
  has(t, await failed(http().post(url, { oauth2: grant }, Anything)), { word: 'authentication_error', status: 401 })
  t.equal(requestsTo('/v1/me').length, 1, 'a fresh token is not tried twice')
  has(t, await failed(http().post(url, { oauth2: grant }, Anything)), { word: 'authentication_error', status: 401 })
  t.equal(requestsTo('/v1/me').length, 3)
})

await t.test('only a 401 makes a request be sent again', async (t) => {
  const { http } = begin()
  vendor.on('POST /oauth/token', issue(3600))
  await http().get(url, { oauth2: grant }, Anything)
  for (const answer of [{ status: 403 }, { status: 500 }, { cut: 'after-body' }] as const) {
    vendor.on('POST /v1/me', answer)
    const before = requestsTo('/v1/me').length
    await failed(http().post(url, { oauth2: grant }, Anything))
    t.equal(requestsTo('/v1/me').length, before + 1)
  }
})

const refusals: [string, VendorBehaviour, Partial<Failure>][] = [
  [
    'is refused',
    { status: 400, json: { error: 'invalid_grant', error_description: 'Wrong password.' } },
    { word: 'authentication_error', code: 'invalid_grant', message: '"api.acme.test" refused to sign in: Wrong password.' }
  ],
  [
    'is refused without a word',
    { status: 401 },
    { word: 'authentication_error', code: '401', message: '"api.acme.test" refused to sign in: 401' }
  ],
  ['is asked to wait', { status: 429 }, { word: 'provider_unavailable' }],
  ['meets a fault', { status: 500 }, { word: 'provider_unavailable' }],
  ['is cut off', { cut: 'after-body' }, { word: 'provider_unavailable' }],
  ['gets an answer without a token', { json: {} }, { word: 'provider_unavailable' }],
  ['gets garbage', { text: '<html>' }, { word: 'provider_unavailable' }]
]

for (const [what, answer, failure] of refusals) {
  await t.test(`a sign-in that ${what} leaves nothing accepted, and is not remembered`, async (t) => {
    const { http } = begin()
    vendor.on('POST /oauth/token', answer)
    has(t, await failed(http().post(url, { oauth2: grant }, Anything)), failure)
    t.equal(requestsTo('/v1/me').length, 0)
    vendor.on('POST /oauth/token', issue(3600))
    await http().post(url, { oauth2: grant }, Anything)
  })
}

await t.test('a sign-in that fails after something was accepted leaves the outcome unknown', async (t) => {
  const progress = createProgress({ passed: true })
  const { http } = begin({ progress })
  vendor.on('POST /oauth/token', { status: 400 })
  await http().post(url, {}, Anything)
  has(t, await failed(http().get(url, { oauth2: grant }, Anything)), { word: 'outcome_unknown' })
})

await t.test('a token is asked for at declared hosts only, and a key must be one', async (t) => {
  const { http } = begin()
  has(t, await failed(http().get(url, { oauth2: { ...grant, tokenUrl: 'https://evil.test/token' } }, Anything)), {
    word: 'provider_unavailable',
    message: /may not call "evil.test"/
  })
  has(t, await failed(
    http().get(url, {
      oauth2: { grant: 'jwt_bearer', tokenUrl, assertion: { algorithm: 'RS256', key: 'nonsense', issuer: 'a', audience: 'b' } }
    }, Anything)
  ), { word: 'authentication_error', message: /^The private key of the settings cannot be read/ })
  t.equal(vendor.requests.length, 0)
})

await t.test('a token is told of, so that it can be kept out of sight', async (t) => {
  const secrets: string[] = []
  const { http } = begin(concealing(secrets))
  vendor.on('POST /oauth/token', issue(3600))
  await http().get(url, { oauth2: grant }, Anything)
  t.strictSame(secrets, ['s/ecret+', 'token-1'])
})

const basicOf = (text: string): string => Buffer.from(text).toString('base64')

/** What of a request proves who sends it; names and numbers prove nothing. */
const proofs: [string, HttpCall, string[]][] = [
  ['Basic', { basic: ['the-user', 'the-password'] }, ['the-password']],
  ['Basic without a password', { basic: ['the-long-key', ''] }, ['the-long-key']],
  ['bearer', { bearer: 'a-token-of-its-own' }, ['a-token-of-its-own']],
  ['a word that may stand anywhere', { bearer: 'sandbox' }, []],
  ['a key in a header', { apiKey: { header: 'x-key', value: 'the-long-key' } }, ['the-long-key']],
  ['SigV4', { sigv4: { accessKeyId: 'id', secretAccessKey: 'the-long-key', region: 'eu', service: 's3' } }, ['the-long-key']],
  ['a scheme of the vendor', { headers: { Authorization: 'Token user-1:the-token' } }, ['user-1:the-token', 'the-token']],
  ['Basic by hand', { headers: { authorization: `Basic ${basicOf('user:pass:word')}` } }, [basicOf('user:pass:word'), 'pass:word']],
  ['parameters', { headers: { authorization: 'HMAC keyId="key-1", signature="abc12345"' } }, ['abc12345']],
  ['a token in base64', { headers: { authorization: 'Bearer dG9rZW4=' } }, ['dG9rZW4=']],
  ['headers', { headers: { 'x-signature': 'abc12345', 'x-account-id': 'number-1', 'idempotency-token': 'again' } }, ['abc12345']],
  ['a query', { query: { api_key: 'the-long-key', account: 'number-1', page_token: 'next' } }, ['the-long-key']]
]

await t.test('what signs a request in is kept out of sight, whoever has made it', async (t) => {
  for (const [kind, call, expected] of proofs) {
    const secrets: string[] = []
    const { http } = begin(concealing(secrets))
    await http().get(url, call, Anything)
    t.strictSame(secrets, expected, kind)
  }
})

/** "Signature Calculations for the Authorization Header", Amazon S3 API Reference: the published examples with their signatures. */
const sha256 = (text: string): string => hash('sha256', text)
const s3 = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 's3'
}
const examples: [string, string, string, Record<string, string>, string, string, string][] = [
  [
    'an object',
    'GET',
    '/test.txt',
    { range: 'bytes=0-9' },
    '',
    'host;range;x-amz-content-sha256;x-amz-date',
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41'
  ],
  [
    'an upload',
    'PUT',
    '/test%24file.text',
    { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
    'Welcome to Amazon S3.',
    'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd'
  ],
  [
    'a setting of the bucket',
    'GET',
    '/?lifecycle',
    {},
    '',
    'host;x-amz-content-sha256;x-amz-date',
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'
  ],
  [
    'a list',
    'GET',
    '/?max-keys=2&prefix=J',
    {},
    '',
    'host;x-amz-content-sha256;x-amz-date',
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'
  ]
]

for (const [what, method, path, headers, body, signed, signature] of examples) {
  await t.test(`SigV4: the published signature of ${what}`, async (t) => {
    const request = {
      method,
      url: new URL(`https://examplebucket.s3.amazonaws.com${path}`),
      headers,
      body: { sha256: () => sha256(body), open: () => undefined }
    }
    const answer = await signRequest(s3, request, new Date('2013-05-24T00:00:00Z'))
    t.equal(answer['authorization'],
      `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=${signed}, ` +
        `Signature=${signature}`)
  })
}

await t.test('SigV4 signs what is sent, and says so when a body is not covered', async (t) => {
  await begin().http().post(url, { sigv4: { ...s3, sessionToken: 'session' }, json: { a: 1 } }, Anything)
  has(t, vendor.requests.at(-1), {
    headers: {
      'x-amz-content-sha256': sha256('{"a":1}'),
      'x-amz-date': '20260314T093000Z',
      'x-amz-security-token': 'session',
      authorization:
        /^AWS4-HMAC-SHA256 .*SignedHeaders=accept;content-type;host;user-agent;x-amz-content-sha256;x-amz-date;x-amz-security-token, /
    }
  })
  await begin().http().post(url, { sigv4: s3, multipart: { a: 1 } }, Anything)
  has(t, vendor.requests.at(-1), { headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } })
})

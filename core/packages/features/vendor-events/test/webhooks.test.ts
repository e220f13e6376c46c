import { createHmac } from 'node:crypto'
import t from 'tap'
import { readConfig } from '../../../../../plugins/config/config.ts'
import { basic, hmac, hookService, jwksUrl, jws, paths, serverAuth, until, vendorKey } from '../../../../../test/core/work/support.ts'
import { contains, has } from '../../../../../test/support/matching.ts'
import { shippedProviders } from '../../../../../test/support/service.ts'
import { webhookRefusals } from '../../../../../test/support/webhook-refusals.ts'

const key = vendorKey('scd_1')
const service = await hookService(t)
const { post, accepted, delivery, inbound, vendor } = service
vendor.on('GET /jwks.json', { json: { keys: [key.jwk] } })

/** An event of the first provider, rightly signed unless told. */
const sealed = (event: object, headers: (body: string) => Record<string, string> = (body) => ({ 'x-jws-signature': key.sign(body) })) => {
  const body = JSON.stringify(event)
  return post(paths.seal, body, headers(body))
}

const refusals = () => Object.values(webhookRefusals(service.log)).reduce((sum, times) => sum + times, 0)

await t.test('a signed event moves the delivery status of its dispatch, once it has been verified with the vendor\'s keys', async (t) => {
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_1' })
  const before = await service.send('GET', `/api/v1/dispatches/${dispatchId}`)
  t.equal(before.body.steps[0].deliveryStatus, null)
  const answer = await sealed({ id: 'evt_1', transaction: 'tx_1', type: 'started', where: 'Paris' })
  t.same(answer, { status: 200, text: '{"received":true}', type: 'application/json; charset=utf-8' })
  await until('the event is applied', async () => (await delivery(dispatchId)).status === 'started')
  const view = await service.send('GET', `/api/v1/dispatches/${dispatchId}`)
  t.equal(view.body.steps[0].deliveryStatus, 'started')
  const { body } = await service.send('GET', `/api/v1/dispatches/${dispatchId}/events`)
  has(t, body.data.at(-1), {
    kind: 'webhook',
    service: 'esign',
    actor: { kind: 'provider', code: 'seal-one' },
    facts: { type: 'started', status: 'started', changed: true, eventId: 'evt_1', where: 'Paris' }
  })
  t.equal((await inbound())[0]?.body.toString(), '{"id":"evt_1","transaction":"tx_1","type":"started","where":"Paris"}',
    'the raw body is kept')
})

await t.test('whatever is not the vendor\'s is answered like everything else, and nothing of it is kept', async (t) => {
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_2' })
  const stranger = vendorKey('scd_1')
  const event = { id: 'evt_2', transaction: 'tx_2', type: 'done' }
  const other = JSON.stringify({ ...event, type: 'refused' })
  const none = () => Buffer.alloc(0)
  const attacks: [string, (body: string) => Record<string, string>][] = [
    ['unsigned', () => ({})],
    ['an empty signature', () => ({ 'x-jws-signature': '' })],
    ['another key under the same name', (body) => ({ 'x-jws-signature': stranger.sign(body) })],
    ['the signature of another body', () => ({ 'x-jws-signature': key.sign(other) })],
    ['an altered signature', (body) => ({ 'x-jws-signature': key.sign(body).replace(/.{4}$/, (end) => end === 'AAAA' ? 'BBBB' : 'AAAA') })],
    ['alg none', (body) => ({ 'x-jws-signature': jws({ alg: 'none', kid: key.kid }, body, none) })],
    ['alg none with a signature', (body) => ({ 'x-jws-signature': key.sign(body, { alg: 'none' }) })],
    ['RS256', (body) => ({ 'x-jws-signature': key.sign(body, { alg: 'RS256' }) })],
    [
      'HS256 under the public key',
      (body) => ({
        'x-jws-signature': jws({ alg: 'HS256', kid: key.kid }, body,
          (input) => createHmac('sha256', JSON.stringify(key.jwk)).update(input).digest())
      })
    ],
    ['a key of its own', (body) => ({ 'x-jws-signature': stranger.sign(body, { jwk: stranger.jwk }) })],
    ['an address of a key', (body) => ({ 'x-jws-signature': key.sign(body, { jku: jwksUrl }) })],
    ['a certificate\'s address', (body) => ({ 'x-jws-signature': key.sign(body, { x5u: jwksUrl }) })],
    ['a critical header', (body) => ({ 'x-jws-signature': key.sign(body, { crit: ['exp'], exp: 1 }) })],
    ['an unencoded payload', (body) => ({ 'x-jws-signature': key.sign(body, { b64: false, crit: ['b64'] }) })],
    ['no name of a key', (body) => ({ 'x-jws-signature': key.sign(body, { kid: undefined }) })],
    [
      'an attached payload',
      (body) => ({ 'x-jws-signature': key.sign(body).replace('..', `.${Buffer.from(body).toString('base64url')}.`) })
    ],
    ['a list of signatures', (body) => ({ 'x-jws-signature': `${key.sign(body)}, ${key.sign(body)}` })],
    ['no JWS', () => ({ 'x-jws-signature': 'Basic aGVsbG8=' })]
  ]
  const kept = (await inbound()).length
  for (const [name, headers] of attacks) {
    const refused = refusals()
    t.same(await sealed(event, headers), { status: 200, text: '{"received":true}', type: 'application/json; charset=utf-8' }, name)
    t.equal(refusals(), refused + 1, `${name}: counted`)
  }
  t.equal((await inbound()).length, kept)
  t.same(await delivery(dispatchId), { status: null, events: [] })
  const lines = service.log.filter((line) => line.includes('webhook refused'))
  has(t, JSON.parse(lines.at(-1) ?? ''), { service: 'esign', provider: 'seal-one', reason: 'malformed_signature' })
  t.notOk(service.log.some((line) => line.includes('evt_2') || line.includes('aGVsbG8')), 'neither a body nor a header is logged')
  await sealed(event)
  await until('the same event, signed, counts', async () => (await delivery(dispatchId)).status === 'completed')
})

await t.test('an event that comes again changes nothing, whether its body or only its id is the same', async (t) => {
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_3' })
  const event = { id: 'evt_3', transaction: 'tx_3', type: 'viewed' }
  await Promise.all([sealed(event), sealed(event), sealed(event)])
  await until('it is applied', async () => (await delivery(dispatchId)).events.length === 1)
  await sealed(event)
  await sealed({ ...event, retry: 1 })
  await until('the repetition is recognised', async () => (await inbound()).some(({ state }) => state === 'duplicate'))
  t.equal((await delivery(dispatchId)).events.length, 1)
  t.equal((await inbound()).filter(({ body }) => body.toString().includes('tx_3')).length, 2)
})

await t.test('what comes late or is unknown stands in the timeline and changes nothing', async (t) => {
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_4' })
  for (const [index, type] of ['done', 'started', 'chat.message'].entries()) {
    await sealed({ transaction: 'tx_4', type })
    await until(type, async () => (await delivery(dispatchId)).events.length === index + 1)
  }
  const { status, events } = await delivery(dispatchId)
  t.equal(status, 'completed')
  t.same(events.map(({ facts }) => facts), [
    { type: 'done', status: 'completed', changed: true },
    { type: 'started', status: 'started', before: 'completed', changed: false },
    { type: 'chat.message', status: 'unknown', before: 'completed', changed: false }
  ])
})

await t.test('a letter that was delivered may come back, and never the other way', async (t) => {
  const { dispatchId } = await accepted({ provider: 'post-one', service: 'postal', remoteId: 'l_1' })
  for (const [index, type] of ['there', 'back', 'there'].entries()) {
    t.same(await post(paths.post, { transaction: 'l_1', type, nth: index }, basic(serverAuth)), {
      status: 200,
      text: 'OK',
      type: 'text/plain; charset=utf-8'
    })
    await until(type, async () => (await delivery(dispatchId)).events.length === index + 1)
  }
  const { status, events } = await delivery(dispatchId)
  t.equal(status, 'returned')
  t.same(events.map(({ facts }) => facts.changed), [true, true, false])
})

await t.test('an event that comes before its dispatch is recorded waits for it', async (t) => {
  await sealed({ transaction: 'tx_5', type: 'started' })
  await until('it is held', async () => (await inbound()).some(({ state, body }) => state === 'held' && body.toString().includes('tx_5')))
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_5' })
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'started')
  t.equal((await delivery(dispatchId)).events.length, 1)
})

await t.test('an event that its provider does not read now is read again', async (t) => {
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_8' })
  await sealed({ transaction: 'tx_8', type: 'started', wait: 'once' })
  await until('it is held', async () => (await inbound()).some(({ state, body }) => state === 'held' && body.toString().includes('tx_8')))
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'started')
  t.equal((await delivery(dispatchId)).events.length, 1)
})

await t.test('an id means the dispatches of this provider and service alone', async (t) => {
  const elsewhere = await accepted({ provider: 'post-one', service: 'postal', remoteId: 'tx_6' })
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_6' })
  await sealed({ transaction: 'tx_6', type: 'started' })
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'started')
  t.same(await delivery(elsewhere.dispatchId), { status: null, events: [] })
})

await t.test('what is verified but cannot be read is kept and changes nothing', async (t) => {
  const bodies = ['{ broken', '[]', '{"transaction":"tx_1"}', '"\ud800"', '']
  for (const body of bodies) t.equal((await post(paths.seal, body, { 'x-jws-signature': key.sign(body) })).status, 200)
  await post(paths.seal, Buffer.from([0xff, 0xfe]), { 'x-jws-signature': key.sign(Buffer.from([0xff, 0xfe])) })
  await until('all are kept', async () => (await inbound()).filter(({ state }) => state === 'kept').length === bodies.length + 1)
  has(t, (await inbound()).find(({ body }) => body.toString() === '{ broken'), { note: 'The body is not JSON.' })
})

await t.test('Basic credentials of the server: none but the right ones', async (t) => {
  const { dispatchId } = await accepted({ provider: 'post-one', service: 'postal', remoteId: 'l_2' })
  const event = { transaction: 'l_2', type: 'printed' }
  const refused = refusals()
  const wrong = ['hook-user:', ':hook-password', 'hook-user:hook-passwor', 'hook-user:hook-password2', 'HOOK-USER:hook-password',
    'hook-user', ''].map(basic)
  for (const headers of [...wrong, {}, { authorization: 'Bearer x' }, { authorization: Buffer.from(serverAuth).toString('base64') }]) {
    await post(paths.post, event, headers)
  }
  t.equal(refusals(), refused + 10)
  t.same(await delivery(dispatchId), { status: null, events: [] })
  await post(paths.post, event, basic(serverAuth))
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'printed')
})

await t.test('a provider without credentials, and one with an empty secret, take nothing', async (t) => {
  const search = await service.configure('mac-one', {})
  const body = JSON.stringify({ transaction: 'm_0', type: 'printed' })
  const time = String(Math.floor(Date.now() / 1000))
  const refused = refusals()
  await post(paths.mac + search, body, { 'x-mac-1': `sha256=${hmac('', body, time)}`, 'x-mac-time': time })
  await post(paths.mac, body, { 'x-mac-1': `sha256=${hmac('', body, time)}`, 'x-mac-time': time })
  const bare = await hookService(t, { config: { webhookAuth: {} } })
  for (const credentials of [':', 'undefined', 'undefined:undefined', serverAuth]) await bare.post(paths.ask, body, basic(credentials))
  t.equal(refusals(), refused + 2)
  t.same(webhookRefusals(bare.log), { 'esign ask-one no_secret': 4 })
  t.same(await bare.inbound(), [])
})

await t.test('HMAC: under the secret of the configuration that the address names, within five ' +
  'minutes, by any of the headers', async (t) => {
  const search = await service.configure('mac-one', { hookSecret: 'first-secret' })
  const { dispatchId } = await accepted({ provider: 'mac-one', service: 'postal', remoteId: 'm_1' })
  const body = JSON.stringify({ transaction: 'm_1', type: 'posted' })
  const seconds = (ago: number) => String(Math.floor(Date.now() / 1000) - ago)
  const signed = (secret: string, time: string, by = 'x-mac-1') => ({ [by]: `sha256=${hmac(secret, body, time)}`, 'x-mac-time': time })
  const right = signed('first-secret', seconds(0))
  const refused = refusals()
  const attempts: [string, string, Record<string, string>][] = [
    ['another secret', search, signed('other-secret', seconds(0))],
    ['too old', search, signed('first-secret', seconds(400))],
    ['from the future', search, signed('first-secret', seconds(-400))],
    ['another time than the signed one', search, { ...right, 'x-mac-time': seconds(60) }],
    ['no time', search, { 'x-mac-1': right['x-mac-1'] ?? '' }],
    ['no prefix', search, { ...right, 'x-mac-1': hmac('first-secret', body, right['x-mac-time']) }],
    ['no address', '', right],
    ['an address that is nobody\'s', '?account=00000000-0000-4000-8000-000000000000', right],
    ['an address that is none', '?account=\'; drop table inbound; --', right],
    ['two addresses', `${search}&account=1`, right]
  ]
  for (const [name, query, headers] of attempts) {
    t.equal((await post(paths.mac + query, body, headers)).status, 200, name)
  }
  t.equal(refusals(), refused + attempts.length)
  await post(paths.mac + search, body, { ...signed('first-secret', seconds(100), 'x-mac-100'), 'x-mac-1': 'sha256=00' })
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'mailed')
})

await t.test('an event verified for one configuration touches its owner\'s dispatches alone', async (t) => {
  const { companyId, admin } = await service.company('other-company')
  const { user_id: userId } = await service.app.get('database').owner.selectFrom('users').select('user_id').where('email', '=', admin.email)
    .executeTakeFirstOrThrow()
  const ours = await service.configure('mac-one', { hookSecret: 'our-secret' })
  const theirs = await service.configure('mac-one', { hookSecret: 'their-secret' }, 'company', admin)
  const mine = await service.configure('mac-one', { hookSecret: 'my-secret' }, 'my', admin)
  t.equal(new Set([ours, theirs, mine]).size, 3)
  const remoteId = 'm_shared'
  const steps = {
    ours: await accepted({ provider: 'mac-one', service: 'postal', remoteId }),
    theirs: await accepted({ provider: 'mac-one', service: 'postal', remoteId, companyId, userId }),
    mine: await accepted({ provider: 'mac-one', service: 'postal', remoteId, companyId, userId, configuredBy: 'user' })
  }
  const send = (search: string, secret: string, type: string) => {
    const [body, time] = [JSON.stringify({ transaction: remoteId, type }), String(Math.floor(Date.now() / 1000))]
    return post(paths.mac + search, body, { 'x-mac-1': `sha256=${hmac(secret, body, time)}`, 'x-mac-time': time })
  }
  const statuses = async () =>
    (await Promise.all(Object.values(steps).map(({ dispatchId }) => delivery(dispatchId)))).map(({ status }) => status)
  const refused = refusals()
  await send(ours, 'their-secret', 'back')
  await send(theirs, 'our-secret', 'back')
  t.equal(refusals(), refused + 2)
  await send(theirs, 'their-secret', 'printed')
  await until('theirs', async () => (await statuses())[1] === 'printed')
  await send(mine, 'my-secret', 'posted')
  await until('mine', async () => (await statuses())[2] === 'mailed')
  t.same(await statuses(), [null, 'printed', 'mailed'])
  const changed = await service.configure('mac-one', { hookSecret: 'newer-secret' }, 'company', admin)
  t.equal(changed, theirs, 'the address stays when the settings change')
  await send(theirs, 'their-secret', 'there')
  t.equal(refusals(), refused + 3)
})

await t.test('an id that two companies have means neither, when the vendor alone vouches for the event', async (t) => {
  const { companyId, admin } = await service.company('third-company')
  const { user_id: userId } = await service.app.get('database').owner.selectFrom('users').select('user_id').where('email', '=', admin.email)
    .executeTakeFirstOrThrow()
  const steps = [
    await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_7' }),
    await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_7', companyId, userId })
  ]
  await sealed({ transaction: 'tx_7', type: 'done' })
  await until('it is kept', async () => (await inbound()).some(({ note }) => note?.includes('several companies') === true))
  for (const { dispatchId } of steps) t.same(await delivery(dispatchId), { status: null, events: [] })
})

await t.test('an address that is nobody\'s, or another provider\'s, refuses what the vendor itself has signed', async (t) => {
  const other = await service.configure('mac-one', { hookSecret: 'our-secret' })
  const own = await service.configure('seal-one', {})
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_8' })
  const body = JSON.stringify({ transaction: 'tx_8', type: 'started' })
  const refused = refusals()
  for (const search of ['?account=00000000-0000-4000-8000-000000000000', '?account=', '?account=1', other]) {
    await post(paths.seal + search, body, { 'x-jws-signature': key.sign(body) })
  }
  t.equal(refusals(), refused + 4)
  t.same(await delivery(dispatchId), { status: null, events: [] })
  await post(paths.seal + own, body, { 'x-jws-signature': key.sign(body) })
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'started')
})

await t.test('the credentials of a configuration stand in for the server\'s', async (t) => {
  const search = await service.configure('post-one', { hookUser: 'own', hookPassword: 'own-password' })
  const { dispatchId } = await accepted({ provider: 'post-one', service: 'postal', remoteId: 'l_3' })
  const refused = refusals()
  await post(paths.post + search, { transaction: 'l_3', type: 'posted' }, basic(serverAuth))
  await post(paths.post, { transaction: 'l_3', type: 'posted' }, basic('own:own-password'))
  t.equal(refusals(), refused + 2)
  await post(paths.post + search, { transaction: 'l_3', type: 'posted' }, basic('own:own-password'))
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'mailed')
})

await t.test('an address that leads nowhere, and what cannot be read, are 200 too', async (t) => {
  const refused = refusals()
  for (const path of [
    'esign/providers/nobody/endpoint.json',
    'sms/providers/seal-one/endpoint.json',
    'postal/providers/seal-one/endpoint.json',
    'constructor/providers/__proto__/endpoint.json',
    `esign/providers/${'x'.repeat(90)}/endpoint.json`
  ]) {
    t.same(await post(path, {}), { status: 200, text: '{}', type: 'application/json; charset=utf-8' }, path)
  }
  has(t, await post(paths.seal, 'x'.repeat(1024 * 1024 + 1)), { status: 200 })
  has(t, await post(paths.seal, '{}', { 'x-api-version': '0.9' }), { status: 200 })
  t.equal(refusals(), refused + 7)
  t.notOk(service.log.some((line) => line.includes('__proto__') || line.includes('xxxx')))
  t.equal((await service.send('GET', `/api/webhooks/${paths.seal}`)).status, 200, 'a GET too: vendors try addresses so')
})

await t.test('names of any length, and such as cannot be decoded, are 200 too', async (t) => {
  const names = ['', 'x'.repeat(101), 'x'.repeat(10_000), '%zz', '%ff%fe', '%00', '%2F..%2F', '%F0%9F%98%80', '..%5c', ':provider', '*']
  for (const name of names) {
    for (const path of [
      `/api/webhooks/esign/providers/${name}/endpoint.json`,
      `/api/webhooks/${name}/providers/universign/endpoint.json?account=x`
    ]) {
      const { status, body } = await service.send('POST', path, { body: '{}' }, null)
      t.strictSame([status, body], [200, {}], path.slice(0, 80))
    }
  }
  t.equal((await service.send('POST', '/api/v1/providers/%zz', { body: '{}' })).status, 404, 'elsewhere they are not found')
})

await t.test('the type that a body says to be of does not matter', async (t) => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense', 'application/vnd.acme+json; charset=iso-8859-1']) {
    const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: `tx_${type}` })
    const body = JSON.stringify({ transaction: `tx_${type}`, type: 'started' })
    t.equal((await post(paths.seal, body, { 'content-type': type, 'x-jws-signature': key.sign(body) })).status, 200)
    await until(type, async () => (await delivery(dispatchId)).status === 'started')
  }
})

await t.test('an event that must be confirmed counts as the vendor says when it is asked', async (t) => {
  await service.configure('ask-one', {})
  const { dispatchId } = await accepted({ provider: 'ask-one', service: 'esign', remoteId: 'a_1' })
  vendor.on('GET /status/a_1', [{ status: 503 }, { json: { status: 'open' } }])
  await post(paths.ask, { transaction: 'a_1', type: 'done' }, basic(serverAuth))
  await until('it is confirmed', async () => (await delivery(dispatchId)).status === 'started')
  has(t, (await delivery(dispatchId)).events, [{ facts: { type: 'done', confirmed: 'open', status: 'started' } }])
})

await t.test('of some words alone the vendor is asked; why it is so is kept as it is told', async (t) => {
  await service.configure('ask-two', {})
  const { dispatchId } = await accepted({ provider: 'ask-two', service: 'esign', remoteId: 'b_1' })
  await post(paths.askSome, { transaction: 'b_1', type: 'viewed' }, basic(serverAuth))
  await until('it is told', async () => (await delivery(dispatchId)).status === 'viewed')
  t.notOk(vendor.requests.some(({ path }) => path === '/status/b_1'))
  vendor.on('GET /status/b_1', { json: { status: 'lapsed', reason: 'Nobody \n has\u202e signed.' } })
  await post(paths.askSome, { transaction: 'b_1', type: 'refused' }, basic(serverAuth))
  await until('it is confirmed', async () => (await delivery(dispatchId)).status === 'expired')
  has(t, (await delivery(dispatchId)).events.at(-1), {
    facts: { type: 'refused', confirmed: 'lapsed', status: 'expired', reason: 'Nobody has signed.' }
  })
  has(t, (await service.send('GET', `/api/v1/dispatches/${dispatchId}`)).body, {
    steps: [{ deliveryStatus: 'expired', deliveryReason: 'Nobody has signed.' }]
  })
})

await t.test('the server\'s credentials of a provider come from its environment, whole or not at all', (t) => {
  t.same(readConfig({ DISPATCH_WEBHOOKS_ENDPOINT_AUTH_POST_ONE: 'user:pass:word' }).webhookAuth, { POST_ONE: 'user:pass:word' })
  for (const value of ['user', 'user:', ':password']) {
    t.throws(() => readConfig({ DISPATCH_WEBHOOKS_ENDPOINT_AUTH_POST_ONE: value }), /DISPATCH_WEBHOOKS_ENDPOINT_AUTH_POST_ONE/)
  }
  t.end()
})

await t.test('a configuration of a provider with webhooks shows the address for its vendor, the same every time', async (t) => {
  const { body } = await service.send('PUT', '/api/v1/company/providers/seal-one', { body: { settings: {} } })
  contains(t, body.webhookUrl,
    /^https:\/\/dispatch\.example\.com\/api\/webhooks\/esign\/providers\/seal-one\/endpoint\.json\?account=[\da-f-]{36}$/)
  const { body: config } = await service.send('GET', '/api/v1/my/config')
  t.equal(config.company.providers.find(({ code }: { code: string }) => code === 'seal-one').webhookUrl, body.webhookUrl)
  const plain = await hookService(t, { config: { providerDirectories: [shippedProviders] } })
  const { body: without } = await plain.send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } })
  const urlOf = (service: string): string => without.webhookUrl.replace('/esign/', `/${service}/`)
  t.same([without.webhookUrls, new URL(without.webhookUrl).pathname], [
    { esign: urlOf('esign'), postal: urlOf('postal'), email: urlOf('email') },
    '/api/webhooks/esign/providers/simulator/endpoint.json'
  ])
  const { body: none } = await plain.send('PUT', '/api/v1/company/providers/disk', { body: { settings: {} } })
  t.equal(Object.hasOwn(none, 'webhookUrl') || Object.hasOwn(none, 'webhookUrls'), false)
})

await t.test('a secret of the configuration that an event repeats is kept nowhere in the timeline', async (t) => {
  const secret = 'own-password-4711'
  const repeated = {
    header: basic(`own:${secret}`).authorization,
    backwards: Array.from(secret).toReversed().join(''),
    in: [{ [secret]: secret }]
  }
  const own = await service.configure('post-one', { hookUser: 'own', hookPassword: secret })
  const letter = await accepted({ provider: 'post-one', service: 'postal', remoteId: 'l_repeating' })
  await post(paths.post + own, { transaction: 'l_repeating', type: 'there', ...repeated }, basic(`own:${secret}`))
  await until('it is applied', async () => (await delivery(letter.dispatchId)).status === 'delivered')

  await service.configure('seal-one', { hookSecret: secret })
  const contract = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_repeating' })
  await sealed({ transaction: 'tx_repeating', type: 'started', ...repeated })
  await until('it is applied, from the address that companies share',
    async () => (await delivery(contract.dispatchId)).status === 'started')

  for (const { dispatchId } of [letter, contract]) {
    const { events: [event] } = await delivery(dispatchId)
    has(t, event?.facts, { backwards: '[redacted]', in: [{ '[redacted]': '[redacted]' }] })
    t.notOk(JSON.stringify(event).includes(Buffer.from(`own:${secret}`).toString('base64').slice(8, -4)))
  }
})

import type { Json } from '@dispatch/common'
import { type RecordedCall, recordFixture, runConformance } from '@dispatch/conformance'
import { hash } from 'node:crypto'
import { cp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { directory, provide } from '../../../../test/fixtures/providers/folders.ts'
import { contains, has } from '../../../../test/support/matching.ts'
import { vendorOf } from '../../../../test/support/vendor.ts'
import { connectAccount } from '../record/connect.ts'
import { tokenMasks } from '../record/mask.ts'
import { reveals } from '../run/canary.ts'

const healthy = fileURLToPath(new URL('../../../../test/fixtures/zoo/healthy', import.meta.url))
const settings = { apiKey: 'zoo_live_9f3b1c7d2e5a4086', webhookSecret: 'zoo_hook_c4n4ry7s1gn1ng' }
const secrets = Object.values(settings)
const nobody = { port: 0, tell: () => undefined }
const sms = { verb: 'dispatch', service: 'sms', settings, request: { sms: { phoneNumber: '+33612345678', message: 'Hello' } } } as const

/** The healthy provider without fixtures, and its vendor. */
async function begin (t: Test) {
  const { vendor, network } = await vendorOf(t)
  const folder = join(await directory(t), 'zoo')
  await cp(healthy, folder, { recursive: true })
  await rm(join(folder, 'fixtures'), { recursive: true })
  const record = (call: Omit<RecordedCall, 'folder'>, name: string, existing: 'refuse' | 'replace' = 'refuse') =>
    recordFixture({ folder, ...call }, { name, existing, network, connecting: nobody })
  const failed = async () =>
    (await runConformance(folder, { only: ['replay', 'question'] })).cases.filter(({ status }) => status === 'failed').map(({ name }) =>
      name
    )
  return { vendor, network, folder, record, failed }
}

await t.test('a dispatch is recorded as a fixture with which the kit agrees, without its secrets', async (t) => {
  const { vendor, record, failed } = await begin(t)
  vendor.on('POST /v1/messages', { status: 201, json: { id: 'msg_77', status: 'queued', session_token: 'tok_5e55107c4n4ry' } })
  const text = await readFile(await record(sms, 'recorded'), 'utf8')
  for (const secret of [...secrets, 'tok_5e55107c4n4ry']) t.notOk(reveals(text, secret), text)
  const { settings: masked, exchange, ...rest } = JSON.parse(text)
  t.strictSame(rest, {
    service: 'sms',
    request: sms.request,
    result: { outcome: 'accepted', response: { id: 'msg_77', status: 'queued' } }
  })
  contains(t, masked.apiKey, /^zoo_live_[0-9a-f]{16}$/)
  t.strictSame(exchange[0].expect, {
    method: 'POST',
    url: 'https://api.zoo.test/v1/messages',
    bearer: masked.apiKey,
    json: { to: '+33612345678', text: 'Hello', reference: '{{reference}}', test: false }
  })
  t.equal(exchange[0].answer.status, 201)
  t.equal(vendor.requests[0]?.headers['authorization'], `Bearer ${settings.apiKey}`)
  t.strictSame(await failed(), ['the verb "status" of "postal"'])
})

await t.test('documents, steps and keys of a dispatch are recorded, and queries too', async (t) => {
  const { vendor, record, failed, folder } = await begin(t)
  vendor.on('POST /v1/letters', { status: 201, json: { id: 'ltr_9', status: 'draft' } })
  vendor.on('POST /v1/letters/ltr_9/send', { json: { id: 'ltr_9', status: 'accepted' } })
  vendor.on('GET /v1/letters/ltr_9', { json: { id: 'ltr_9', status: 'posted' } })
  vendor.on('DELETE /v1/letters/ltr_9', { status: 422, json: { code: 'too_late', message: 'It is in the post.' } })
  vendor.on('GET /v1/messages', { json: [] })
  const recipient = { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
  const content = Buffer.from('%PDF-1.7\nA real one, for the vendor.\n')
  const letter = { verb: 'dispatch', service: 'postal', settings, request: { postal: { recipient } }, content } as const
  const { exchange, result } = JSON.parse(await readFile(await record(letter, 'letter'), 'utf8'))
  t.strictSame(exchange[0].expect.headers, { 'idempotency-key': '{{idempotencyKey}}' })
  t.equal(exchange[0].expect.multipart.file.document, '/document')
  t.equal(exchange[1].expect.headers['idempotency-key'], '{{idempotencyKey}}-send')
  t.strictSame(result, { outcome: 'accepted', response: { id: 'ltr_9', status: 'accepted' }, checkpoint: 'ltr_9' })
  const query = { id: 'ltr_9' }
  await record({ verb: 'status', service: 'postal', settings, query }, 'posted')
  const refused = JSON.parse(await readFile(await record({ verb: 'cancel', service: 'postal', settings, query }, 'late'), 'utf8'))
  t.strictSame(refused.result, {
    outcome: 'rejected',
    error: { word: 'provider_error', code: 'too_late', message: 'It is in the post.' }
  })
  const absent = JSON.parse(await readFile(await record({ verb: 'lookup', service: 'sms', settings }, 'absent'), 'utf8'))
  t.strictSame([absent.exchange[0].expect.query, absent.result], [{ reference: '{{reference}}' }, { found: 'absent' }])
  t.strictSame((await readdir(join(folder, 'fixtures'))).sort(), [
    'cancel.late.json',
    'lookup.absent.json',
    'send.letter.json',
    'status.posted.json'
  ])
  t.strictSame(await failed(), [])
})

await t.test('tokens that the vendor gives, and those that the provider signs, are not in the file', async (t) => {
  const { vendor, network } = await vendorOf(t)
  vendor.on('POST /token', { json: { access_token: 'ey-c4n4ry-of-the-vendor-1234', token_type: 'Bearer', expires_in: 300 } })
  vendor.on('POST /v1/messages', { json: { id: '1', status: 'sent' } })
  vendor.on('POST /v1/login', { json: { jwt: 'c4n4ry.of-a-session.of-the-vendor' } })
  vendor.on('PUT /v1/session', { json: {} })
  const folder = await provide(await directory(t), 'signs', {
    'index.js': `import { createHmac } from 'node:crypto'
import { defineProvider, Secret, Type } from '@dispatch/core/provider'
const api = 'https://api.signs.test'
export default defineProvider({
  code: 'signs',
  name: 'Signs',
  hosts: ['api.signs.test'],
  settings: Type.Object({ id: Type.String(), secret: Secret() }),
  services: { sms: { idempotency: { kind: 'none' }, async dispatch ({ sms }, { settings, http, reference }) {
    const oauth2 = { grant: 'client_credentials', tokenUrl: api + '/token', clientId: settings.id, clientSecret: settings.secret, clientAuth: 'body' }
    const own = createHmac('sha256', settings.secret).update(String(Math.random())).digest('base64url')
    const login = { bearer: own, headers: { 'x-signature': own }, form: { reference } }
    const { jwt } = await http.post(api + '/v1/login', login, Type.Object({ jwt: Type.String() }))
    await http.put(api + '/v1/session', { bearer: jwt, json: {} }, Type.Unknown())
    return await http.post(api + '/v1/messages', { oauth2, json: { text: sms.message } }, Type.Object({ id: Type.String(), status: Type.String() }))
  } } }
})`
  })
  const given = { id: 'client-1', secret: 'c4n4ry/of+the=client' }
  const file = await recordFixture({ folder, ...sms, settings: given }, { name: 'signed', existing: 'refuse', network, connecting: nobody })
  const text = await readFile(file, 'utf8')
  for (const secret of [given.secret, 'ey-c4n4ry-of-the-vendor-1234', 'c4n4ry.of-a-session.of-the-vendor']) {
    t.notOk(reveals(text, secret), text)
  }
  const { settings: { secret }, exchange: [login, session, token, message] } = JSON.parse(text)
  t.strictSame([login.expect.bearer, login.expect.headers], ['{{any}}', { 'x-signature': '{{any}}' }])
  t.equal(session.expect.bearer, login.answer.json.jwt)
  t.strictSame(token.expect.form, { grant_type: 'client_credentials', client_id: 'client-1', client_secret: secret })
  t.equal(message.expect.bearer, token.answer.json.access_token)
  const { cases } = await runConformance(folder, { only: ['replay'] })
  t.strictSame(cases.map(({ name, status }) => [name, status]), [['send.signed', 'passed']])
})

await t.test('documents in base64 and answers in XML are recorded too', async (t) => {
  const { vendor, network } = await vendorOf(t)
  const body = Buffer.from('<sent><id>7</id><status>queued</status></sent>')
  vendor.on('POST /v1/files', { headers: { 'content-type': 'application/xml' }, body })
  const folder = await provide(await directory(t), 'xml', {
    'index.js': `import { defineProvider, Type } from '@dispatch/core/provider'
const Sent = Type.Object({ sent: Type.Object({ id: Type.String(), status: Type.String() }) })
export default defineProvider({ code: 'xml', name: 'XML', hosts: ['api.xml.test'], settings: Type.Object({}), services: { upload: {
  idempotency: { kind: 'none' },
  dispatch: async ({ document }, { http }) =>
    (await http.post('https://api.xml.test/v1/files', { json: { file: document }, replyAs: 'xml' }, Sent)).sent
} } })`
  })
  const upload = { folder, verb: 'dispatch', service: 'upload', settings: {}, content: Buffer.from('%PDF-1.7 of ours') } as const
  const file = await recordFixture(upload, { name: 'file', existing: 'refuse', network, connecting: nobody })
  const { exchange: [{ expect, answer }], result } = JSON.parse(await readFile(file, 'utf8'))
  t.strictSame(expect.json, { file: '{{base64/document}}' })
  t.strictSame(answer, { headers: { 'content-type': 'application/xml' }, text: body.toString() })
  t.strictSame(result.response, { id: '7', status: 'queued' })
})

await t.test('a fixture that is there is replaced only when that is asked for', async (t) => {
  const { vendor, record } = await begin(t)
  vendor.on('POST /v1/messages', [{ json: { id: 'first', status: 'queued' } }, { json: { id: 'second', status: 'queued' } }])
  const file = await record(sms, 'recorded')
  await t.rejects(record(sms, 'recorded'), /send\.recorded\.json is there already: choose another name, or replace it with --force/)
  contains(t, await readFile(file, 'utf8'), '"id": "first"')
  t.equal(vendor.requests.length, 1, 'the vendor is not asked in vain')
  await record(sms, 'recorded', 'replace')
  contains(t, await readFile(file, 'utf8'), '"id": "second"')
})

await t.test('nothing is written where nothing was said to the vendor', async (t) => {
  const { vendor, record, folder } = await begin(t)
  await t.rejects(record({ ...sms, settings: { apiKey: 'zoo_live_9f3b1c7d2e5a4086' } }, 'bad'), /\/settings\/webhookSecret .*required/)
  await t.rejects(record({ ...sms, verb: 'status', query: { id: '1' } }, 'bad'), /no verb "status" for "sms"/)
  await t.rejects(record(sms, '../bad'), /"\.\.\/bad" is no name of a fixture/)
  vendor.on('POST /v1/messages', { cut: 'after-body' })
  await t.rejects(record(sms, 'bad'), /The vendor was not asked: /)
  await t.rejects(readdir(join(folder, 'fixtures')), { code: 'ENOENT' })
})

await t.test('only declared hosts are asked', async (t) => {
  const { vendor, network } = await vendorOf(t)
  const folder = await provide(await directory(t), 'strays', {
    'index.js': `import { defineProvider, Type } from '@dispatch/core/provider'
export default defineProvider({ code: 'strays', name: 'Strays', hosts: ['api.strays.test'], settings: Type.Object({}), services: { sms: {
  idempotency: { kind: 'none' },
  dispatch: (request, { http }) => http.post('https://elsewhere.test/', {}, Type.Object({ id: Type.String(), status: Type.String() }))
} } })`
  })
  await t.rejects(recordFixture({ folder, ...sms, settings: {} }, { name: 'bad', existing: 'refuse', network, connecting: nobody }),
    /may not call "elsewhere\.test"/)
  t.equal(vendor.requests.length, 0)
})

/** A provider whose accounts are connected, and an OAuth server that checks what it is asked for. */
async function connectable (t: Test) {
  const { vendor, network } = await vendorOf(t)
  const folder = await provide(await directory(t), 'ledger', {
    'index.js': `import { defineProvider, Secret, Type } from '@dispatch/core/provider'
export default defineProvider({
  code: 'ledger', name: 'Ledger', hosts: ['ledger.example.com', 'login.ledger.example.com'],
  settings: Type.Object({ clientId: Type.String({ title: 'Client' }), clientSecret: Secret({ title: 'Secret' }) }),
  connect: {
    authorizationUrl: 'https://login.ledger.example.com/authorize', tokenUrl: 'https://login.ledger.example.com/token',
    clientId: 'clientId', clientSecret: 'clientSecret', facts: { realm: { redirect: 'realmId', pattern: '[0-9]{1,20}' } }
  },
  services: { sms: { idempotency: { kind: 'none' }, dispatch: ({ sms }, { http, facts }) =>
    http.post('https://ledger.example.com/' + facts.realm + '/messages',
      { oauth2: { grant: 'authorization_code' }, json: { to: sms.phoneNumber } }, Type.Object({ id: Type.String(), status: Type.String() })) } }
})`
  })
  vendor.on('POST /token', ({ body }) => {
    const requested = new URLSearchParams(body.toString())
    const isOurs = requested.get('code') === 'code-1' && hash('sha256', requested.get('code_verifier') ?? '', 'base64url') === challenge
    return isOurs
      ? { json: { access_token: access, refresh_token: refresh, expires_in: 3_600 } }
      : { status: 400, json: { error: 'invalid_grant' } }
  })
  vendor.on('POST /9130357766900001/messages', { json: { id: 'msg_1', status: 'queued', realm: '9130357766900001' } })
  let challenge = ''
  const connect = (back: Record<string, string>) => ({
    port: 0,
    tell (page: string) {
      const { searchParams } = new URL(page)
      challenge = searchParams.get('code_challenge') ?? ''
      const callback = new URL(searchParams.get('redirect_uri') ?? '')
      callback.search = String(new URLSearchParams({ state: searchParams.get('state') ?? '', ...back }))
      void fetch(new URL('/callback?state=wrong&code=other', callback))
        .then(() => fetch(`${callback.origin}//`)).then(() => fetch(callback))
    }
  })
  return {
    vendor,
    folder,
    record: (back: Record<string, string>, name: string) =>
      recordFixture({ ...sms, folder, settings: client }, { name, existing: 'refuse', network, connecting: connect(back) })
  }
}

const [access, refresh] = ['at_9f3b1c7d2e5a4086c4n4ry', 'rt_5e55107d2e5a4086c4n4ry']
const client = { clientId: 'ABcdef123456client', clientSecret: 'cs_9f3b1c7d2e5a4086s3cr3t' }

await t.test('an account is connected for the call; of it, its tokens and its client nothing stands in the fixture', async (t) => {
  const { vendor, folder, record } = await connectable(t)
  const text = await readFile(await record({ code: 'code-1', realmId: '9130357766900001' }, 'real'), 'utf8')
  for (const was of [access, refresh, '9130357766900001', ...Object.values(client)]) t.notOk(reveals(text, was), was)
  const { facts, exchange, result } = JSON.parse(text)
  contains(t, facts.realm, /^[0-9]{16}$/)
  has(t, exchange, [{ expect: { url: `https://ledger.example.com/${facts.realm}/messages`, bearer: 'token-of-the-connection' } }])
  t.equal(exchange.length, 1, 'the sign-in is the host\'s')
  t.strictSame(result, { outcome: 'accepted', response: { id: 'msg_1', status: 'queued', realm: facts.realm } })
  t.equal(vendor.requests.at(-1)?.headers['authorization'], `Bearer ${access}`)
  const { cases } = await runConformance(folder, { only: ['replay'] })
  t.strictSame(cases.filter(({ status }) => status === 'failed'), [])

  await t.rejects(record({ error: 'access_denied', error_description: 'She said no' }, 'denied'), /did not permit it: She said no\./)
  await t.rejects(record({ code: 'code-2', realmId: '9130357766900001' }, 'wrong'))
  await t.rejects(record({ code: 'code-1', realmId: 'x' }, 'strange'), /has not said realm of the account/)
  t.strictSame(await readdir(join(folder, 'fixtures')), ['send.real.json'])
})

await t.test('who never comes back is waited for in vain, and the client of an operator is a secret', async (t) => {
  const { vendor, network } = await vendorOf(t)
  vendor.on('POST /token', { json: { access_token: access, refresh_token: refresh, expires_in: 3_600 } })
  const connect = {
    client: 'operator',
    authorizationUrl: 'https://login.ledger.example.com/authorize',
    tokenUrl: 'https://login.ledger.example.com/token'
  }
  const installed = { manifest: { connect, hosts: ['login.ledger.example.com'], settings: { properties: {} } } } as unknown as Parameters<
    typeof connectAccount
  >[0]
  const connecting = { network, port: 0, client }
  const account = { settings: {}, sandbox: false }
  await t.rejects(connectAccount(installed, account, { ...connecting, within: 1, tell: () => undefined }), /did not come back/)
  const connected = await connectAccount(installed, account, {
    ...connecting,
    tell (page) {
      const { searchParams } = new URL(page)
      void fetch(`${searchParams.get('redirect_uri') ?? ''}?code=code-1&state=${searchParams.get('state') ?? ''}`)
    }
  })
  t.strictSame(connected?.secrets, [refresh, client.clientId, client.clientSecret])
})

await t.test('tokens are found in JSON, XML and other texts, whatever the case of their names', (t) => {
  const recorded = (text: string, json?: Json): Parameters<typeof tokenMasks>[0][number] =>
    ({ answer: { status: 200, headers: {}, body: Buffer.from(text), ...(json !== undefined && { json }) } }) as never
  const found = (text: string, json?: Json): string[] => tokenMasks([recorded(text, json)], []).map(({ was }) => was)
  const secret = '9f3b1c7d2e5a4086'
  const json = { data: [{ SessionKey: secret }] }
  t.strictSame(found(JSON.stringify(json), json), [secret])
  for (const text of [
    `<a:AuthToken xmlns:a="urn:a">${secret}</a:AuthToken>`,
    `<session apiKey="${secret}"/>`,
    `ok=1&ACCESS_TOKEN=${secret}&n=1`,
    `Password: ${secret}\n`
  ]) t.strictSame(found(text), [secret], text)
  t.strictSame(found(`<name>${secret}</name>`), [])
  t.end()
})

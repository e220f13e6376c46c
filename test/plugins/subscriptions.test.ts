import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { contains, has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, type Login, seededDatabase, startService } from '../support/service.ts'
import { vendorOf } from '../support/vendor.ts'
import { openConsole } from './support/console.ts'
import { testProviders } from './support/providers.ts'

const { vendor, network } = await vendorOf(t)
const providers = await testProviders(t)
const hooks = 'https://api.vendor.example/hooks'
const any = { type: 'object' } as const

/** A vendor of text messages that gives back an id and a signing secret, or takes the secret that it is given. */
await providers.add('hooked', {
  of: 'sms',
  settings: '{ apiKey: Secret(), hookSecret: Type.Optional(Secret()), plain: Type.Optional(Type.String()) }',
  service: 'idempotency: { kind: \'none\' }',
  errors: '{ at: \'/code\', message: \'/message\', map: { 401: \'authentication_error\' } }',
  more: `webhooks: { sms: {
    verify: { kind: 'hmac', header: 'x-mac', algorithm: 'sha256', encoding: 'hex', secret: 'hookSecret' },
    body: Type.Object({ id: Type.String() }), read: ({ id }) => ({ remoteId: id, type: 'done' }), events: { done: 'delivered' }
  } },`
}, () => Promise.resolve({ id: '1', status: 'sent' }), {
  async subscribe ({ url, secret, id }, { settings, http }) {
    const requested = { bearer: settings['apiKey'] as string, json: { url, secret } }
    const made = await (id === undefined ? http.post(hooks, requested, any) : http.put(`${hooks}/${id}`, requested, any)) as {
      id: string
      key?: string
    }
    return settings['plain'] === 'stray'
      ? { id: made.id, secrets: { plain: 'x' } }
      : { id: made.id, secrets: { hookSecret: made.key ?? secret } }
  },
  unsubscribe: ({ id }, { settings, http }) => http.delete(`${hooks}/${id}`, { bearer: settings['apiKey'] as string }, any)
})

const service = await startService(t, {
  databaseUrl: await seededDatabase(t),
  config: { providerDirectories: providers.directories, limits: { auth: 0, dispatch: 0, validation: 0, requests: 0 } },
  replacements: { network, renderer: quickRenderer }
})
const { send } = service
const path = '/api/v1/company/providers/hooked'
const key = 'key-of-the-account-5f2b8c91'
const save = (login: Login, settings: object = { apiKey: key }): Promise<Answer> => send('PUT', path, { body: { settings } }, login)
const remove = (login: Login, query = ''): Promise<Answer> => send('DELETE', `${path}${query}`, {}, login)
const configured = async (login: Login) =>
  (await send('GET', '/api/v1/my/config', {}, login)).body.company.providers.find(({ code }: { code: string }) => code === 'hooked')
const requested = () =>
  vendor.requests.splice(0).map(({ method, path: place, json, headers }) => ({ method, place, json, key: headers['authorization'] }))
const stored = async (companyId: number) =>
  await service.app.get('database').owner.selectFrom('configurations').select(['secrets', 'subscriptions']).where('company_id', '=',
    companyId)
    .where('provider_code', '=', 'hooked').executeTakeFirst()

await t.test('the webhook is registered when the configuration is saved, and what the vendor gives back verifies its events', async (t) => {
  const { admin, companyId } = await service.company('registers')
  vendor.on('POST /hooks', { json: { id: 'wh_1', key: 'signing-key-of-the-vendor-1' } })
  const answer = await save(admin)
  has(t, answer, { status: 200, body: { valid: true, settings: { hookSecret: { set: true } }, webhooksRegistered: { sms: String } } })
  const [registered, ...others] = requested()
  t.same(others, [])
  has(t, registered, { method: 'POST', json: { url: answer.body.webhookUrl, secret: /^[\w-]{43}$/ }, key: `Bearer ${key}` })
  t.notOk(JSON.stringify(await stored(companyId)).includes('signing-key-of-the-vendor'), 'it is sealed')
  t.notOk(JSON.stringify(answer.body).includes('signing-key-of-the-vendor'))
  const { secrets } = await stored(companyId) ?? {}

  await t.test('its events are verified with it, and with nothing else', async (t) => {
    const sms = { phoneNumber: '+33612345678', message: 'Bonjour' }
    const { body: { dispatchId } } = await send('POST', '/api/sms', { body: { sms, providerName: 'hooked' } }, admin)
    const event = async (secret: string): Promise<string | null> => {
      const body = JSON.stringify({ id: '1' })
      await fetch(String(answer.body.webhookUrl).replace('https://dispatch.example.com', service.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-mac': createHmac('sha256', secret).update(body).digest('hex') },
        body
      })
      const { pool } = service.app.get('database')
      while ((await pool.query('select from inbound where state = \'waiting\'')).rowCount !== 0) await pause(20)
      const read = await send('GET', `/api/v1/dispatches/${String(dispatchId)}`, { headers: { 'x-api-version': '1.1.0' } }, admin)
      return read.body.steps[0].deliveryStatus
    }
    t.equal(await event('another-key-of-somebody'), null)
    t.equal(await event('signing-key-of-the-vendor-1'), 'delivered')
  })

  await t.test('saved again, it is the same registration', async (t) => {
    vendor.on('PUT /hooks/wh_1', { json: { id: 'wh_1' } })
    has(t, await save(admin, {}), { status: 200 })
    const [again, ...more] = requested()
    t.same(more, [])
    has(t, again, { method: 'PUT', json: { url: answer.body.webhookUrl } })
    t.not((await stored(companyId))?.secrets['hookSecret']?.sealed, secrets?.['hookSecret']?.sealed, 'with the secret of now')
  })

  await t.test('one in its place takes the earlier one back, with the settings of then', async (t) => {
    vendor.on('PUT /hooks/wh_1', { json: { id: 'wh_2', key: 'signing-key-of-the-vendor-2' } })
    vendor.on('DELETE /hooks/wh_1', { json: {} })
    has(t, await save(admin, { apiKey: 'key-of-another-account' }), { status: 200 })
    has(t, requested(), [{ method: 'PUT', key: 'Bearer key-of-another-account' }, {
      method: 'DELETE',
      place: '/hooks/wh_1',
      key: `Bearer ${key}`
    }])
  })

  await t.test('removed with the configuration; where the vendor cannot be asked, nothing is', async (t) => {
    vendor.on('DELETE /hooks/wh_2', { status: 503 })
    has(t, await remove(admin), { status: 504, body: { error: 'outcome_unknown', message: /nothing was removed/ } })
    t.ok(await configured(admin))
    vendor.on('DELETE /hooks/wh_2', { json: {} })
    has(t, await remove(admin), { status: 204 })
    t.equal(await configured(admin), undefined)
  })
})

await t.test('what the vendor refuses is the answer, and nothing is saved', async (t) => {
  const { admin, companyId } = await service.company('refused')
  requested()
  for (const [answer, status, error] of [
    [{ status: 401, json: { code: 'no', message: 'Who are you?' } }, 422, 'authentication_error'],
    [{ status: 422, json: { code: 'bad_url', message: 'No such place.' } }, 422, 'provider_error'],
    [{ status: 500 }, 504, 'outcome_unknown'],
    [{ status: 429 }, 503, 'provider_unavailable']
  ] as const) {
    vendor.on('POST /hooks', answer)
    has(t, await save(admin), { status, body: { error, message: /has not registered.*nothing was saved/ } }, error)
    t.equal(await stored(companyId), undefined, error)
  }
  vendor.on('POST /hooks', { json: { id: 'wh_9' } })
  has(t, await save(admin, { apiKey: key, plain: 'stray' }), { status: 504, body: { message: /cannot be read/ } },
    'a secret for a plain setting')
  t.equal(await stored(companyId), undefined)
})

await t.test('a configuration whose vendor has forgotten the registration, or is gone for good, can be removed', async (t) => {
  const { admin } = await service.company('forgotten')
  vendor.on('POST /hooks', { json: { id: 'wh_5' } })
  await save(admin)
  vendor.on('DELETE /hooks/wh_5', { status: 500 })
  has(t, await remove(admin), { status: 504 })
  has(t, await remove(admin, '?force=true'), { status: 204 })
  vendor.on('POST /hooks', { json: { id: 'wh_6' } })
  await save(admin)
  vendor.on('DELETE /hooks/wh_6', { status: 404, json: { code: 'gone', message: 'There is none.' } })
  has(t, await remove(admin), { status: 204 })
})

await t.test('two who save at once leave one registration, and one of them is told', async (t) => {
  const { admin } = await service.company('both')
  let count = 0
  const both = Promise.withResolvers<undefined>()
  vendor.on('POST /hooks', async () => {
    const id = `wh_both_${++count}`
    if (count === 2) both.resolve(undefined)
    await both.promise
    return { json: { id } }
  })
  vendor.on('DELETE /hooks/wh_both_1', { json: {} })
  vendor.on('DELETE /hooks/wh_both_2', { json: {} })
  requested()
  const answers = await Promise.all([save(admin), save(admin)])
  t.same(answers.map(({ status }) => status).sort(), [200, 409])
  const gone = requested().filter(({ method }) => method === 'DELETE')
  t.equal(gone.length, 1, 'what was registered for nothing is taken back')
})

await t.test('the console says that nobody enters the address', async (t) => {
  const { admin } = await service.company('seen')
  vendor.on('POST /hooks', { json: { id: 'wh_7' } })
  await save(admin)
  const console = openConsole(service)
  contains(t, (await console.open('/providers/hooked', await console.signIn(admin))).body, 'There is nothing to enter.')
})

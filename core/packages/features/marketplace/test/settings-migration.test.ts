import { openConfiguration } from '@dispatch/core'
import { createHmac } from 'node:crypto'
import t, { type Test } from 'tap'
import { packed } from '../../../../../test/support/adapters.ts'
import { has, lacks } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, operator, startService } from '../../../../../test/support/service.ts'
import type { InstalledProvider } from '../../../host/load/load.ts'
import { webhookVerifier } from '../../vendor-events/service/webhook-verifier.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const market = (method: string, path = '', body?: unknown): Promise<Answer> =>
  service.send(method, `/api/v1/marketplace${path}`, body === undefined ? {} : { body }, operator)
const consent = { hosts: ['api.acme.test'], services: ['invoicing'] }
const nothing = { hosts: [], services: [] }

const secret = { type: 'string', 'x-secret': true }
const destination = { type: 'string', 'x-destination': true }
/** The form of the first version, and that of the second one, which has other names for the same. */
const first = { type: 'object', properties: { token: secret, region: { type: 'string' } }, required: ['token'] }
const second = { type: 'object', properties: { apiKey: secret, area: { type: 'string' } }, required: ['apiKey', 'area'] }
const canary = 'canary-secret-of-the-first-form'

/** An adapter in its first version, configured; and its second one, which migrates so. */
async function upgraded (
  t: Test,
  code: string,
  migrate: string,
  forms: { first: object, second: object } = { first, second },
  settings: object = { token: canary, region: 'eu' }
): Promise<void> {
  const add = async (packing: { version: string, settings: object, migrate?: string }): Promise<void> => {
    const bytes = Buffer.from(packed({ code, ...packing })).toString('base64')
    t.equal((await market('POST', '/packages', { package: bytes })).status, 201)
  }
  await add({ version: '1.0.0', settings: forms.first })
  t.equal((await market('POST', `/${code}/install`, { consent })).status, 200)
  t.equal((await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings } })).status, 200)
  await add({ version: '2.0.0', settings: forms.second, migrate })
  has(t, await market('POST', `/${code}/upgrade`, { version: '2.0.0', consent: nothing }), { status: 200, body: { version: '2.0.0' } })
}

const configuration = async (code: string): Promise<any> =>
  (await service.send('GET', '/api/v1/my/config')).body.company.providers.find((one: { code: string }) => one.code === code)
const dispatched = async (code: string): Promise<unknown> => {
  const { body } = await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: code }) })
  return body.providerResponse?.status ?? body
}

/** What the company has stored for an adapter, in clear text. */
async function storedOf (code: string): Promise<unknown> {
  const { body: { company: { id } } } = await service.send('GET', '/api/v1/my/config')
  const { configurations } = await service.app.get('configurations').latest(id)
  const stored = configurations.find(({ providerCode }) => providerCode === code)
  return stored && openConfiguration(service.app.get('keyring'), id, stored)
}

/** What becomes of an event of "mover" that is signed with its secret, where a version of it verifies it with this field. */
async function eventVerdict (provider: InstalledProvider | undefined, secretField: string): Promise<string | undefined> {
  if (provider === undefined) return undefined
  const { id } = (await service.send('GET', '/api/v1/my/config')).body.company
  const { configurations } = await service.app.get('configurations').latest(id)
  const account = configurations.find(({ providerCode }) => providerCode === 'mover')?.account ?? null
  const verify = { kind: 'hmac', header: 'x-signature', algorithm: 'sha256', encoding: 'hex', secret: secretField } as const
  const manifest = { ...provider.manifest, webhooks: { esign: { verify, body: {}, events: {} } } }
  const body = Buffer.from('{}')
  const delivery = { body, headers: { 'x-signature': createHmac('sha256', canary).update(body).digest('hex') } }
  const incoming = { provider: { ...provider, manifest }, service: 'esign', account, delivery, receivedAt: new Date() } as const
  return (await service.app.find(webhookVerifier).verify(incoming)).outcome
}

await t.test('settings become what the newer version makes of them, with the secrets under their new names', async (t) => {
  await upgraded(t, 'mover',
    '({ version, settings: { token, region } }) => ({ apiKey: token, area: `${region} ${version} ${token.includes("canary")}` })')
  has(t, await configuration('mover'), { valid: true, settings: { apiKey: { set: true }, area: 'eu 1.0.0 false' } })
  t.same(await storedOf('mover'), { apiKey: canary, area: 'eu 1.0.0 false' })
  t.equal(await dispatched('mover'), '2.0.0')
  const { body: { data } } = await service.send('GET', '/api/v1/audit?action=configuration.migrated')
  t.same(data.map(({ facts }: { facts: { fields: string[] } }) => facts.fields.sort()), [['apiKey', 'area', 'region', 'token']])

  // A vendor signs its events with the secret, whatever the name of its field.
  const newer = service.app.get('host').find('mover')
  t.same([await eventVerdict(newer, 'apiKey'), await eventVerdict(newer?.before, 'token')], ['verified', 'verified'])

  t.equal((await market('POST', '/mover/rollback')).status, 200)
  t.equal(await dispatched('mover'), '1.0.0', 'the version before has the settings as they were')
  has(t, await configuration('mover'), { valid: true, settings: { token: { set: true }, region: 'eu' } })
  t.equal((await market('POST', '/mover/upgrade', { version: '2.0.0', consent: nothing })).status, 200)
  t.equal(await dispatched('mover'), '2.0.0')

  const changed = await service.send('PUT', '/api/v1/company/providers/mover', { body: { settings: { area: 'us' } } })
  has(t, changed, { status: 200, body: { settings: { apiKey: { set: true }, area: 'us' } } })
  t.same(await storedOf('mover'), { apiKey: canary, area: 'us' })

  // Each version is served with what was written in its form, backwards and forwards.
  t.equal((await market('POST', '/mover/rollback')).status, 200)
  t.equal(await dispatched('mover'), '1.0.0')
  has(t, await configuration('mover'), { valid: true, settings: { token: { set: true }, region: 'eu' } })
  const older = await service.send('PUT', '/api/v1/company/providers/mover', { body: { settings: { region: 'fr' } } })
  has(t, older, { status: 200, body: { settings: { token: { set: true }, region: 'fr' } } })
  t.equal(await dispatched('mover'), '1.0.0')
  t.equal((await market('POST', '/mover/rollback')).status, 200)
  t.equal(await dispatched('mover'), '2.0.0')
  has(t, await configuration('mover'), { valid: true, settings: { apiKey: { set: true }, area: 'us' } })

  // Who has settings in the form of the newer version alone would be stopped.
  t.equal((await service.send('DELETE', '/api/v1/company/providers/mover')).status, 204)
  const anew = await service.send('PUT', '/api/v1/company/providers/mover', { body: { settings: { apiKey: canary, area: 'it' } } })
  t.equal(anew.status, 200)
  const refused = await market('POST', '/mover/rollback')
  has(t, refused, {
    status: 409,
    body: { details: [{ code: 'settings_of_newer_version', message: /^Those of the company "Demo" \(\d+\)\.$/ }] }
  })
  t.equal(await dispatched('mover'), '2.0.0')
})

await t.test('settings that were corrected after an upgrade leave those of the version before as they were', async (t) => {
  await upgraded(t, 'corrected', '() => undefined', undefined, { token: canary, region: 'eu' })
  has(t, await configuration('corrected'), { valid: false, servedBy: '1.0.0' })
  const body = { settings: { apiKey: canary, area: 'us' } }
  t.equal((await service.send('PUT', '/api/v1/company/providers/corrected', { body })).status, 200)
  t.equal(await dispatched('corrected'), '2.0.0')
  t.equal((await market('POST', '/corrected/rollback')).status, 200)
  t.equal(await dispatched('corrected'), '1.0.0')
  has(t, await configuration('corrected'), { valid: true, settings: { token: { set: true }, region: 'eu' } })
})

await t.test('settings are kept in each form that they were written in; changes tell before whom they touch, and how', async (t) => {
  const forms = ['one', 'two', 'three'].map((name) => ({ type: 'object', properties: { [name]: secret }, required: [name] }))
  const [effects, put] = [
    async (query: string): Promise<any> => (await market('GET', `/former/effects?${query}`)).body,
    async (settings: object): Promise<void> => {
      t.equal((await service.send('PUT', '/api/v1/company/providers/former', { body: { settings } })).status, 200)
    }
  ]
  const { body: { company: { id: companyId } } } = await service.send('GET', '/api/v1/my/config')
  for (const [index, settings] of forms.entries()) {
    const bytes = Buffer.from(packed({ code: 'former', version: `${index + 1}.0.0`, settings })).toString('base64')
    t.equal((await market('POST', '/packages', { package: bytes })).status, 201)
  }
  t.equal((await market('POST', '/former/install', { version: '1.0.0', consent })).status, 200)
  await put({ one: canary })
  const upgrade = (version: string, force = ''): Promise<Answer> => market('POST', `/former/upgrade${force}`, { version, consent: nothing })
  has(t, await effects('change=upgrade&version=2.0.0'), {
    counts: { kept: 1 },
    refused: false,
    effects: [{ companyId, how: 'kept', version: '1.0.0' }]
  })
  t.equal((await upgrade('2.0.0')).status, 200)
  has(t, await effects('change=upgrade&version=3.0.0'), { counts: { stopped: 1 }, refused: true, effects: [{ companyId, how: 'stopped' }] })
  has(t, await upgrade('3.0.0'), { status: 409, body: { details: [{ code: 'settings_of_older_version' }] } })
  await put({ two: canary })
  t.equal((await upgrade('3.0.0')).status, 200)
  await put({ three: canary })
  t.equal(await dispatched('former'), '3.0.0')

  // Below the version before, and forward again: nobody writes anything anew.
  has(t, await effects('change=rollback'), { refused: false, effects: [{ how: 'restored', version: '2.0.0' }] })
  has(t, await effects('change=rollback&version=1.0.0'), { refused: false, effects: [{ how: 'restored', version: '1.0.0' }] })
  t.equal((await market('POST', '/former/rollback?version=1.0.0')).status, 200)
  t.equal(await dispatched('former'), '1.0.0')
  has(t, await configuration('former'), { valid: true, settings: { one: { set: true } } })
  for (const version of ['2.0.0', '3.0.0']) {
    t.equal((await upgrade(version)).status, 200)
    t.equal(await dispatched('former'), version)
  }
  has(t, await effects('change=disable'), {
    refused: false,
    counts: { stopped: 1 },
    effects: [{ companyId, company: 'Demo', how: 'stopped' }]
  })
  has(t, await effects('change=offer&companies='), { refused: true, effects: [{ companyId, how: 'stopped' }] })
  has(t, await effects(`change=offer&companies=${companyId}`), { refused: false, counts: { goes_on: 1 } })
  has(t, await market('POST', '/former/rollback?version=3.1.0'), { status: 409, body: { details: [{ code: 'no_version_before' }] } })
  has(t, await market('GET', '/former/effects?change=upgrade'), {
    status: 400,
    body: { details: [{ path: '/version', code: 'required' }] }
  })
  lacks(t, JSON.stringify(await effects('change=rollback')), new RegExp(canary))
})

const places = {
  first: { type: 'object', properties: { token: secret, url: destination } },
  second: { type: 'object', properties: { apiKey: secret, url: destination, area: { type: 'string' } }, required: ['area'] }
}
for (const [code, what, migrate, forms] of [
  ['leaker', 'puts a secret into a setting that is not secret', '({ settings }) => ({ apiKey: "x", area: settings.token })', undefined],
  ['mailer', 'sends the secrets elsewhere', '({ settings }) => ({ apiKey: settings.token, area: "eu", url: "https://evil.test" })', places],
  ['thrower', 'throws', '() => { throw new Error("no luck") }', undefined],
  ['looper', 'does not end', '() => { for (;;); }', undefined],
  ['misfit', 'makes what does not fit', '() => ({ area: 7 })', undefined],
  ['giver-up', 'gives up', '() => undefined', undefined]
] as const) {
  await t.test(`a migration that ${what} changes nothing: the version before goes on`, async (t) => {
    await upgraded(t, code, migrate, forms, { token: canary })
    t.same(await storedOf(code), { token: canary })
    t.equal(await dispatched(code), '1.0.0')
    const view = await configuration(code)
    has(t, view, { valid: false, servedBy: '1.0.0' })
    t.ok(view.problems.length > 0)
    lacks(t, JSON.stringify(view), new RegExp(canary))
  })
}

await t.test('an upgrade after which nothing would serve a company is refused, unless it is forced', async (t) => {
  await upgraded(t, 'behind', '() => undefined', undefined, { token: canary })
  t.equal(await dispatched('behind'), '1.0.0')
  const third = { type: 'object', properties: { key: secret }, required: ['key'] }
  const bytes = Buffer.from(packed({ code: 'behind', version: '3.0.0', settings: third })).toString('base64')
  t.equal((await market('POST', '/packages', { package: bytes })).status, 201)
  const upgrade = { version: '3.0.0', consent: nothing }
  const refused = await market('POST', '/behind/upgrade', upgrade)
  has(t, refused, { status: 409, body: { error: 'conflict', details: [{ code: 'settings_of_older_version' }] } })
  t.equal(refused.body.details.length, 1)
  t.equal(await dispatched('behind'), '1.0.0', 'it goes on as before')
  has(t, await market('POST', '/behind/upgrade?force=true', upgrade), { status: 200, body: { version: '3.0.0' } })
  has(t, await dispatched('behind'), { error: 'configuration_missing' })
  // Its process runs, and still nothing can be dispatched.
  const { body: { company: { id } } } = await service.send('GET', '/api/v1/my/config')
  has(t, await market('GET', '/behind'), {
    body: {
      health: {
        state: 'degraded',
        reason: new RegExp(`does not accept the settings of the company "Demo" \\(${id}\\)\\. Their dispatches are refused`)
      }
    }
  })
  t.equal((await service.send('PUT', '/api/v1/company/providers/behind', { body: { settings: { key: canary } } })).status, 200)
  has(t, await market('GET', '/behind'), { body: { health: { state: 'ok' } } })
})

await t.test('nothing is migrated where the consent is refused', async (t) => {
  const code = 'asker'
  for (const [version, settings, hosts] of [['1.0.0', first, ['api.acme.test']], ['2.0.0', second, ['api.acme.test',
    'eu.acme.test']]] as const)
  {
    const migrate = '({ settings: { token } }) => ({ apiKey: token, area: "eu" })'
    const bytes = Buffer.from(packed({ code, version, settings, hosts, migrate })).toString('base64')
    t.equal((await market('POST', '/packages', { package: bytes })).status, 201)
  }
  t.equal((await market('POST', `/${code}/install`, { version: '1.0.0', consent })).status, 200)
  t.equal((await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: { token: canary } } })).status, 200)
  const refused = await market('POST', `/${code}/upgrade`, { version: '2.0.0', consent: nothing })
  has(t, refused, { status: 409, body: { error: 'consent_required', details: [{ path: '/consent/hosts', code: 'host' }] } })
  t.same(await storedOf(code), { token: canary })
})

import { hashPassword } from '@dispatch/accounts'
import t from 'tap'
import { publishShared } from '../../core/packages/features/templates/store/shared-templates.ts'
import { tablesIn } from '../../core/packages/features/templates/store/tables.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, operator, seededDatabase, startService } from '../support/service.ts'
import { accepts, testProviders } from './support/providers.ts'
import { letter } from './support/templates.ts'

const databaseUrl = await seededDatabase(t)
const providers = await testProviders(t)
await providers.add('other', { settings: '{ token: Secret() }', more: 'sandbox: { kind: \'configuration\' },' }, accepts)
const options = { databaseUrl, config: { providerDirectories: providers.directories }, replacements: { renderer: quickRenderer } }
const [here, there] = [await startService(t, options), await startService(t, options)]
const { owner } = here.app.get('database')

const planned = async (login?: Login): Promise<unknown> => {
  const { body } = await there.send('POST', '/api/invoicing/validate', { body: invoiceRequest() }, login)
  return body.plan?.[0].providerName ?? body.error
}
const put = (path: string, body: unknown, login?: Login): Promise<Answer> => here.send('PUT', `/api/v1${path}`, { body }, login)
const turns = Array.from({ length: 50 }, (_, index) => index % 2 === 0 ? 'other' : 'simulator')

await t.test('a default switched in one process holds for the very next request of the other, 50 times', async (t) => {
  await put('/company/providers/other', { settings: { token: 'x' } })
  for (const providerName of turns) {
    await put('/company/defaults/invoicing', { providerName })
    t.equal(await planned(), providerName)
  }
})

await t.test('so it does while the other process is busy with requests of the same user', async (t) => {
  let busy = true
  const load = Promise.all(Array.from({ length: 4 }, async () => {
    while (busy) await planned()
  }))
  for (const providerName of turns.slice(0, 20)) {
    await put('/my/config/invoicing', { providerName })
    t.equal(await planned(), providerName)
  }
  await put('/my/config/invoicing', { providerName: null })
  busy = false
  await load
})

await t.test('so do a configuration, its removal, and the sandbox flag', async (t) => {
  await put('/company/defaults/invoicing', { providerName: 'other' })
  for (let turn = 0; turn < 5; turn++) {
    await here.send('DELETE', '/api/v1/company/providers/other')
    t.equal(await planned(), 'configuration_missing')
    await put('/company/providers/other', { settings: { token: 'x' }, sandbox: turn % 2 === 0 })
    const { body } = await there.send('POST', '/api/invoicing/validate', { body: invoiceRequest() })
    t.equal(body.plan[0].credits, turn % 2 === 0 ? 0 : 1)
  }
})

await t.test('what changes in the database itself about a user or a company holds for the next request, of either scheme', async (t) => {
  const { companyId, member } = await here.company('changing')
  const user = owner.updateTable('users').where('email', '=', member.email)
  const company = owner.updateTable('companies').where('company_id', '=', companyId)
  const { body: { data: { token } } } = await there.send('POST', '/auth', { body: { username: member.email, password: member.password } },
    null)
  let requested = 0
  // In turns, because the one after knows what the one before has learnt.
  const statuses = async (): Promise<number[]> => {
    const basic = async (): Promise<number> => (await there.send('GET', '/healthz', {}, member)).status
    const bearer = async (): Promise<number> =>
      (await there.send('GET', '/healthz', { headers: { authorization: `Bearer ${token}` } }, null)).status
    if (requested++ % 2 === 0) return [await basic(), await bearer()]
    return [await bearer(), await basic()].toReversed()
  }
  t.strictSame(await statuses(), [200, 200])
  for (let turn = 0; turn < 5; turn++) {
    if (turn % 2 === 1) t.strictSame(await statuses(), [200, 200])
    await user.set({ disabled_at: new Date() }).execute()
    t.strictSame(await statuses(), [403, 403], 'disabled')
    await user.set({ disabled_at: null }).execute()
    t.strictSame(await statuses(), [200, 200], 'enabled')
  }
  await company.set({ disabled_at: new Date() }).execute()
  t.strictSame(await statuses(), [403, 403], 'the company is disabled')
  await company.set({ disabled_at: null }).execute()

  const setDefault = async (): Promise<number> =>
    (await there.send('PUT', '/api/v1/company/defaults/invoicing', { body: { providerName: 'simulator' } }, member)).status
  t.equal(await setDefault(), 403)
  await user.set({ role: 'admin' }).execute()
  t.equal(await setDefault(), 200)
  await user.set({ role: 'member' }).execute()
  t.equal(await setDefault(), 403)

  t.equal(await planned(member), 'simulator')
  await user.set({ services: [] }).execute()
  t.equal(await planned(member), 'forbidden')
  await user.set({ services: ['invoicing'] }).execute()
  t.equal(await planned(member), 'simulator')

  await user.set({ password_hash: await hashPassword('another'), password_version: 2 }).execute()
  t.strictSame(await statuses(), [401, 401], 'another password')
  t.equal((await there.send('GET', '/healthz', {}, { ...member, password: 'another' })).status, 200)
})

await t.test('what a company publishes and takes back holds for the next request in every process', async (t) => {
  const dispatch = async (): Promise<unknown> =>
    (await there.send('POST', '/api/file', { body: { template: { id, data: { name: 'Ada' } } } })).body.error
  const { body: { id } } = await here.send('POST', '/api/v1/templates', { body: letter({ name: 'Fresh' }) })
  t.equal(await dispatch(), 'template_not_found')
  await here.send('POST', `/api/v1/templates/${id}/publish`, { body: { version: 1 } })
  t.equal(await dispatch(), undefined)
  const { schema } = letter()
  await here.send('PUT', `/api/v1/templates/${id}`, {
    body: {
      baseVersion: 1,
      ...letter({
        name: 'Fresh',
        schema: { ...schema, required: ['name', 'town'], properties: { ...schema.properties, town: { type: 'string' } } },
        sample: { name: 'Ada', town: 'London' }
      })
    }
  })
  t.equal(await dispatch(), undefined)
  await here.send('POST', `/api/v1/templates/${id}/publish`, { body: { version: 2 } })
  t.equal(await dispatch(), 'validation_failed')
  await here.send('POST', `/api/v1/templates/${id}/publish`, { body: { version: 1 } })
  t.equal(await dispatch(), undefined)
  await here.send('DELETE', `/api/v1/templates/${id}`)
  t.equal(await dispatch(), 'template_not_found')
})

await t.test('a new version of a template is the next request\'s', async (t) => {
  const { source, schema, sample } = await tablesIn(owner).selectFrom('template_versions').selectAll().where('template_id', '=', 2)
    .executeTakeFirstOrThrow()
  has(t, (await there.send('GET', '/api/v1/templates/2')).body, { version: 1 })
  const stricter = { ...schema, required: ['never'] } as typeof schema
  await publishShared(here.app.get('database'), [{
    id: 2,
    name: 'Quote',
    digest: 'stricter',
    source,
    schema: stricter,
    sample,
    yaml: ''
  }], new Date())
  has(t, (await there.send('GET', '/api/v1/templates/2')).body, { version: 2 })
  const { status, body } = await there.send('POST', '/api/invoicing/validate', {
    body: invoiceRequest({}, { documentType: 'QUOTE', template: { id: 2, data: sample } })
  })
  t.equal(status, 422)
  has(t, body.details, [{ path: '/template/data/never', code: 'required' }, { path: '/documentType', code: 'not_supported_by_provider' }])
})

await t.test('what is done about a user in one process holds for the next request of the other', async (t) => {
  const { admin } = await here.company('managed')
  const login = { email: 'user@managed.example.com', password: 'a good password' }
  const { body: { id } } = await here.send('POST', '/api/v1/users', { body: { ...login, role: 'member', services: ['*'] } }, admin)
  const { body: { data: { token } } } = await there.send('POST', '/auth', { body: { username: login.email, password: login.password } },
    null)
  const statuses = async (password = login.password): Promise<number[]> => [
    (await there.send('GET', '/healthz', {}, { ...login, password })).status,
    (await there.send('GET', '/healthz', { headers: { authorization: `Bearer ${String(token)}` } }, null)).status
  ]
  t.strictSame(await statuses(), [200, 200])
  for (let turn = 0; turn < 3; turn++) {
    await put(`/users/${String(id)}`, { disabled: true }, admin)
    t.strictSame(await statuses(), [403, 403])
    await put(`/users/${String(id)}`, { disabled: false }, admin)
    t.strictSame(await statuses(), [200, 200])
  }
  await put(`/users/${String(id)}`, { password: 'another good one' }, admin)
  t.strictSame(await statuses(), [401, 401], 'a password that Basic remembers, and a token')
  t.strictSame(await statuses('another good one'), [200, 401])
})

await t.test('a list of addresses holds for the next request of the other process, and so does its end', async (t) => {
  const { companyId, admin } = await here.company('listed')
  const status = async (): Promise<number> => (await there.send('GET', '/healthz', {}, admin)).status
  for (let turn = 0; turn < 3; turn++) {
    t.equal(await status(), 200)
    await put('/company', { addresses: ['192.0.2.0/24'], force: true }, admin)
    t.equal(await status(), 403)
    await put(`/companies/${companyId}`, { addresses: [] }, operator)
  }
  t.equal(await status(), 200)
})

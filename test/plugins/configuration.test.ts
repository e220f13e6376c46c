import t from 'tap'
import { directory } from '../fixtures/providers/folders.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { admin, type Answer, invoiceRequest, type Login, startService } from '../support/service.ts'
import { testProviders } from './support/providers.ts'

const providers = await testProviders(t)
/** What the provider "vendor" was called with. */
const seen: { settings: object, sandbox: boolean }[] = []
await providers.add('vendor', {
  more: 'sandbox: { kind: \'flag\' },',
  settings: '{ server: Host(), token: Secret(), password: Type.Optional(Secret()), region: Type.Optional(Type.String()) }'
}, (_request, { settings, sandbox }) => {
  seen.push({ settings, sandbox })
  return Promise.resolve({ id: '1', status: 'created' })
})
await providers.add('bucket', {
  more: 'hosts: [\'{bucket}.s3.vendor.example\'],',
  settings: '{ bucket: Host(), token: Secret() }'
}, () => Promise.resolve({ id: '1', status: 'created' }))
const service = await startService(t, { config: { providerDirectories: providers.directories }, replacements: { renderer: quickRenderer } })

const put = (path: string, body: unknown, login?: Login): Promise<Answer> => service.send('PUT', `/api/v1${path}`, { body }, login)
const remove = (path: string, login?: Login): Promise<Answer> => service.send('DELETE', `/api/v1${path}`, {}, login)
const mine = async (login?: Login): Promise<any> => (await service.send('GET', '/api/v1/my/config', {}, login)).body
const dispatch = (login: Login, more: object = {}): Promise<Answer> =>
  service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { ...more }) }, login)
const validate = (login: Login, more: object = {}): Promise<Answer> =>
  service.send('POST', '/api/invoicing/validate', { body: invoiceRequest({}, { ...more }) }, login)
const settings = { server: 'https://a.example', token: 's3cret-token', region: 'eu' }
const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

await t.test('the provider is the request\'s, else the user\'s choice, else the company\'s default', async (t) => {
  const { admin, member } = await service.company('choosing')
  const planOf = async (login: Login, more: object = {}): Promise<unknown> => {
    const { body: { plan: [{ providerName, chosenBy }] } } = await validate(login, more)
    return { providerName, chosenBy }
  }
  await put('/company/providers/vendor', { settings }, admin)
  t.strictSame(await planOf(member), { providerName: 'simulator', chosenBy: 'company' })
  t.equal((await put('/my/config/invoicing', { providerName: 'vendor' }, member)).status, 200)
  t.strictSame(await planOf(member), { providerName: 'vendor', chosenBy: 'user' })
  t.strictSame(await planOf(admin), { providerName: 'simulator', chosenBy: 'company' }, 'another user is not touched')
  t.strictSame(await planOf(member, { providerName: 'simulator' }), { providerName: 'simulator', chosenBy: 'request' })
  t.equal((await put('/company/defaults/invoicing', { providerName: 'vendor' }, admin)).status, 200)
  t.strictSame(await planOf(admin), { providerName: 'vendor', chosenBy: 'company' })
  t.equal((await put('/my/config/invoicing', { providerName: null }, member)).status, 200)
  t.strictSame(await planOf(member), { providerName: 'vendor', chosenBy: 'company' })
  t.equal((await put('/company/defaults/invoicing', { providerName: null }, admin)).status, 200)
  has(t, await validate(member), {
    status: 422,
    body: { error: 'configuration_missing', message: /No provider is chosen for "invoicing"/, details: [{ path: '/providerName' }] }
  })
})

await t.test('GET /api/v1/my/config tells the choices, the configurations and what they come to', async (t) => {
  const { admin, member, companyId } = await service.company('reading')
  await put('/company/providers/vendor', { settings }, admin)
  await put('/my/providers/simulator', { settings: { slowSeconds: 1 }, sandbox: true }, member)
  await put('/my/config/invoicing', { providerName: 'vendor' }, member)
  const masked = { server: 'https://a.example', region: 'eu', token: { set: true } }
  has(t, await mine(member), {
    user: {
      id: Number,
      email: member.email,
      choices: { invoicing: 'vendor' },
      providers: [{ code: 'simulator', settings: { slowSeconds: 1 }, sandbox: true, valid: true }]
    },
    company: {
      id: companyId,
      choices: { invoicing: 'simulator' },
      providers: [{ code: 'simulator' }, { code: 'vendor', settings: masked, sandbox: false, valid: true }]
    },
    services: { invoicing: { providerName: 'vendor', chosenBy: 'user', available: ['simulator', 'vendor'] } }
  })
  has(t, await mine(admin), {
    user: { choices: {}, providers: [] },
    services: { invoicing: { providerName: 'simulator', chosenBy: 'company' } }
  })
})

await t.test('an unknown, an unconfigured and an invalid provider are each configuration_missing, with what to do', async (t) => {
  const { admin } = await service.company('missing')
  for (const send of [dispatch, validate]) {
    has(t, await send(admin, { providerName: 'simulater' }), {
      status: 422,
      body: { error: 'configuration_missing', message: /no provider "simulater" installed \(did you mean "simulator"\?\)/ }
    })
    has(t, await send(admin, { providerName: 'vendor' }), {
      status: 422,
      body: { error: 'configuration_missing', message: /has no configuration: set one with PUT \/api\/v1\/company\/providers\/vendor/ }
    })
  }
  await put('/company/providers/vendor', { settings }, admin)
  await put('/company/providers/vendor', { settings: { ...settings, server: 'https://b.example', token: 'new' } }, admin)
  t.equal((await validate(admin, { providerName: 'vendor' })).status, 200)
})

await t.test('what is wrong with the configuration stands beside the other problems of the request', async (t) => {
  const { admin } = await service.company('beside')
  const { status, body } = await service.send('POST', '/api/invoicing/validate', {
    body: invoiceRequest({ total: 1 }, { providerName: 'vendor' })
  }, admin)
  t.equal(status, 422)
  t.equal(body.error, 'validation_failed')
  t.strictSame(body.details.map(({ path, code }: { path: string, code: string }) => `${path} ${code}`), [
    '/providerName configuration_missing',
    '/template/data/total total'
  ])
})

await t.test('a user\'s configuration stands alone: nothing of the company\'s is mixed in', async (t) => {
  const { admin, member } = await service.company('alone')
  await put('/company/providers/vendor', { settings: { ...settings, password: 'company-password' } }, admin)
  await put('/my/providers/vendor', { settings: { server: 'https://own.example', token: 'own-token' } }, member)
  await dispatch(member, { providerName: 'vendor' })
  t.strictSame(seen.at(-1), { settings: { server: 'https://own.example', token: 'own-token' }, sandbox: false })
  await dispatch(admin, { providerName: 'vendor' })
  t.strictSame(seen.at(-1), { settings: { ...settings, password: 'company-password' }, sandbox: false })

  has(t, await put('/my/providers/vendor', { settings: { server: 'https://own.example', token: null } }, member), {
    status: 422,
    body: { error: 'validation_failed' }
  }, 'no secret of the company steps in')
  t.equal((await remove('/my/providers/vendor', member)).status, 204)
  await dispatch(member, { providerName: 'vendor' })
  has(t, seen.at(-1), { settings: { token: 's3cret-token' } }, 'without one of their own, the company\'s holds')
})

await t.test('a secret never comes back, is kept when left out, and deleted by null', async (t) => {
  const { admin } = await service.company('secrets')
  const first = await put('/company/providers/vendor', { settings: { ...settings, password: 'pa55word' } }, admin)
  has(t, first, {
    status: 200,
    body: {
      code: 'vendor',
      settings: {
        server: 'https://a.example',
        region: 'eu',
        token: { set: true, updatedAt: isTime },
        password: { set: true, updatedAt: isTime }
      },
      sandbox: false,
      valid: true
    }
  })
  const kept = await put('/company/providers/vendor', { settings: { server: 'https://a.example', region: 'us' } }, admin)
  t.strictSame(kept.body.settings, { ...first.body.settings, region: 'us' })
  await dispatch(admin, { providerName: 'vendor' })
  t.strictSame(seen.at(-1)?.settings, { server: 'https://a.example', region: 'us', token: 's3cret-token', password: 'pa55word' })

  const without = await put('/company/providers/vendor', { settings: { server: 'https://a.example', password: null } }, admin)
  t.strictSame(Object.keys(without.body.settings).sort(), ['server', 'token'])
  await dispatch(admin, { providerName: 'vendor' })
  t.strictSame(seen.at(-1)?.settings, { server: 'https://a.example', token: 's3cret-token' })

  for (const answer of [first, kept, without, { body: await mine(admin) }]) lacks(t, JSON.stringify(answer.body), /s3cret|pa55/)
})

await t.test('no secret is readable in the database, in the log, or in what is recorded of a dispatch', async (t) => {
  const { admin, companyId } = await service.company('sealed')
  await put('/company/providers/vendor', { settings: { ...settings, token: 'only-once-8f3a' } }, admin)
  await dispatch(admin, { providerName: 'vendor' })
  const rows = await service.app.get('database').owner.selectFrom('configurations').selectAll().where('company_id', '=', companyId)
    .execute()
  const list = await service.send('GET', '/api/v1/dispatches', {}, admin)
  for (const text of [JSON.stringify(rows), service.log.join('\n'), JSON.stringify(list.body)]) lacks(t, text, /only-once-8f3a/)
})

await t.test('what is sealed for one company opens for no other', async (t) => {
  const companies = [await service.company('apart-1'), await service.company('apart-2')]
  for (const { admin } of companies) await put('/company/providers/vendor', { settings }, admin)
  const { owner } = service.app.get('database')
  const [one, two] = await owner.selectFrom('configurations').selectAll().where('provider_code', '=', 'vendor').where('company_id', 'in',
    companies.map(({ companyId }) => companyId)).execute()
  t.not(JSON.stringify(one?.secrets), JSON.stringify(two?.secrets))
  await owner.updateTable('configurations').set({ secrets: JSON.stringify(two?.secrets) }).where('company_id', '=', companies[0]!.companyId)
    .where('provider_code', '=', 'vendor').execute()
  const { status, body } = await validate(companies[0]!.admin, { providerName: 'vendor' })
  t.not(status, 200)
  lacks(t, JSON.stringify(body), 's3cret')
})

await t.test('what is sealed for a company opens for none of its users', async (t) => {
  const { admin, member, companyId } = await service.company('scopes')
  await put('/company/providers/vendor', { settings }, admin)
  await put('/my/providers/vendor', { settings }, member)
  const { owner } = service.app.get('database')
  const rows = owner.selectFrom('configurations').select('secrets').where('company_id', '=', companyId).where('provider_code', '=',
    'vendor').where('user_id', 'is', null)
  const { secrets } = await rows.executeTakeFirstOrThrow()
  await owner.updateTable('configurations').set({ secrets: JSON.stringify(secrets) }).where('company_id', '=', companyId).where('user_id',
    'is not', null).execute()
  t.not((await validate(member, { providerName: 'vendor' })).status, 200)
})

await t.test('changing where requests go drops the kept secrets', async (t) => {
  const { admin } = await service.company('moving')
  await put('/company/providers/vendor', { settings: { ...settings, password: 'pa55word' } }, admin)
  const refused = await put('/company/providers/vendor', { settings: { server: 'https://evil.example' } }, admin)
  has(t, refused, {
    status: 422,
    body: { error: 'validation_failed', details: [{ path: '/settings/token', code: 'required', message: /given for another destination/ }] }
  })
  const moved = await put('/company/providers/vendor', { settings: { server: 'https://b.example', token: 'other' } }, admin)
  t.strictSame(Object.keys(moved.body.settings).sort(), ['server', 'token'])
  t.same(moved.body.warnings.map(({ path, code }: Record<string, string>) => `${path} ${code}`), ['/settings/password not_kept'],
    'which the answer tells')
  await dispatch(admin, { providerName: 'vendor' })
  t.strictSame(seen.at(-1)?.settings, { server: 'https://b.example', token: 'other' })
})

await t.test('a password that is missed because the mail server has changed is asked for with the reason', async (t) => {
  const { admin } = await service.company('mailing')
  const mail = { host: 'mail.example.com', user: 'ada', allowedSenders: ['ada@example.com'] }
  t.equal((await put('/company/providers/smtp', { settings: { ...mail, password: 'pa55word' } }, admin)).status, 200)
  const { status, body } = await put('/company/providers/smtp', { settings: { ...mail, host: 'mx.example.com' } }, admin)
  t.equal(status, 422)
  t.strictSame(body.details.map(({ path, code }: Record<string, string>) => `${path} ${code}`), ['/settings/password required'])
  contains(t, body.details[0].message, /was deleted, because it was given for another destination: give it again/)
})

await t.test('a setting that is a part of a host is one label of it, and leads requests elsewhere when it changes', async (t) => {
  const { admin } = await service.company('buckets')
  for (const bucket of ['ours.evil', 'Ours', 'ours/', '-ours', 'https://ours']) {
    has(t, await put('/company/providers/bucket', { settings: { bucket, token: 's3cret-token' } }, admin), {
      status: 422,
      body: { error: 'validation_failed', details: [{ path: '/settings/bucket', code: 'not_a_label' }] }
    }, bucket)
  }
  t.equal((await put('/company/providers/bucket', { settings: { bucket: '127', token: 's3cret-token' } }, admin)).status, 200)
  has(t, await put('/company/providers/bucket', { settings: { bucket: 'theirs' } }, admin), {
    status: 422,
    body: { details: [{ path: '/settings/token', code: 'required', message: /given for another destination/ }] }
  })
})

await t.test('a destination whose host is an address and not public is refused when it is configured', async (t) => {
  const { admin } = await service.company('not-public')
  const problem = (path: string, host: string) => ({
    path,
    code: 'address_not_public',
    message: `Requests are sent to public addresses alone, and ${host} is none: give the public name of the receiver.`
  })
  for (const server of ['https://169.254.169.254/latest', '169.254.169.254:8443', '0xa9fea9fe']) {
    const { status, body } = await put('/company/providers/vendor', { settings: { ...settings, server } }, admin)
    t.same([status, body.details], [422, [problem('/settings/server', '169.254.169.254')]], server)
  }
  const mail = { host: 'fd00::1', allowedSenders: ['ada@example.com'] }
  const { status, body } = await put('/company/providers/smtp', { settings: mail }, admin)
  t.same([status, body.details], [422, [problem('/settings/host', '[fd00::1]')]])
  t.same((await mine(admin)).company.providers.map(({ code }: { code: string }) => code), ['simulator'])
})

await t.test('a provider that needs a disk is not to be chosen where the operator gives none', async (t) => {
  const { admin } = await service.company('diskless')
  await put('/company/providers/disk', { settings: {} }, admin)
  const { status, body } = await put('/company/defaults/upload', { providerName: 'disk' }, admin)
  t.same([status, body.error], [422, 'configuration_missing'])
  contains(t, body.message, /the operator has not provided one: DISPATCH_DISK_ROOT is not set/)
  t.strictSame((await mine(admin)).services.upload, { providerName: null, chosenBy: null, available: ['simulator'] })

  const generous = await startService(t, { config: { diskRoot: await directory(t) } })
  await generous.send('PUT', '/api/v1/company/providers/disk', { body: { settings: {} } })
  const { body: { services: { upload } } } = await generous.send('PUT', '/api/v1/company/defaults/upload', {
    body: { providerName: 'disk' }
  })
  t.strictSame(upload, { providerName: 'disk', chosenBy: 'company', available: ['disk', 'simulator'] })
})

await t.test('settings that do not fit the form are refused all together, and nothing is stored', async (t) => {
  const { admin } = await service.company('unfit')
  const { status, body } = await put('/company/providers/vendor', { settings: { server: '', region: 7, tokn: 'x' } }, admin)
  t.equal(status, 422)
  t.strictSame(body.details.map(({ path, code }: { path: string, code: string }) => `${path} ${code}`).sort(), [
    '/settings/region type',
    '/settings/server too_short',
    '/settings/token required',
    '/settings/tokn unknown_field'
  ])
  contains(t, JSON.stringify(body.details), /did you mean \\"token\\"/)
  t.strictSame((await mine(admin)).company.providers.map(({ code }: { code: string }) => code), ['simulator'])
})

await t.test('a sandbox dispatch costs nothing and is marked; useSandbox is another name of it', async (t) => {
  const { admin } = await service.company('sandbox', { credits: 0 })
  for (const flag of ['sandbox', 'useSandbox']) {
    await put('/company/providers/vendor', { settings, [flag]: false }, admin)
    t.equal((await dispatch(admin, { providerName: 'vendor' })).status, 402)
    has(t, await put('/company/providers/vendor', { settings, [flag]: true }, admin), { status: 200, body: { sandbox: true } })
    t.equal((await validate(admin, { providerName: 'vendor' })).body.plan[0].credits, 0)
    const { status, body } = await dispatch(admin, { providerName: 'vendor' })
    t.equal(status, 200)
    t.equal(seen.at(-1)?.sandbox, true)
    t.equal(body.sandbox, true, 'the answer says so')
    t.equal(
      (await service.send('POST', '/api/invoicing/validate', { body: invoiceRequest({}, { providerName: 'vendor' }) }, admin)).body.plan[0]
        .sandbox,
      true,
      'and the plan'
    )
    has(t, (await service.send('GET', `/api/v1/dispatches/${body.dispatchId}`, {}, admin)).body, {
      creditsCharged: 0,
      steps: [{ sandbox: true, creditsCharged: 0 }]
    })
  }
  has(t, (await service.send('GET', '/api/v1/credits', {}, admin)).body, { balance: 0, held: 0, ledger: [] })
})

await t.test('a configuration stays in its sandbox until somebody says otherwise', async (t) => {
  const { admin, member } = await service.company('flag')
  const cases = [['company', '/company/providers/vendor', admin], ['user', '/my/providers/vendor', member]] as const
  for (const [whose, path, login] of cases) {
    const flagAfter = async (flags: object): Promise<unknown> => (await put(path, { settings, ...flags }, login)).body.sandbox
    t.equal(await flagAfter({}), false, `${whose}: a new one is real`)
    t.equal(await flagAfter({ sandbox: true }), true)
    t.equal(await flagAfter({}), true, `${whose}: the flag is kept where it is left out`)
    t.equal(await flagAfter({ useSandbox: false }), false, `${whose}: it is turned off by name`)
    t.equal(await flagAfter({}), false)
  }
  await put('/company/providers/vendor', { settings, sandbox: true }, admin)
  await put('/company/providers/vendor', { settings: { ...settings, region: 'us' } }, admin)
  await put('/company/defaults/invoicing', { providerName: 'vendor' }, admin)
  const { body } = await dispatch(admin)
  t.equal(body.sandbox, true)
  has(t, seen.at(-1), { sandbox: true, settings: { region: 'us' } })
})

await t.test('a sandbox that the provider cannot have is refused when it is configured', async (t) => {
  const { admin } = await service.company('sandboxless')
  const smtp = { host: 'smtp.example.com', allowedSenders: ['@example.com'] }
  has(t, await put('/company/providers/smtp', { settings: smtp, sandbox: true }, admin), {
    status: 422,
    body: { error: 'validation_failed', details: [{ path: '/sandbox', code: 'no_sandbox', message: /"smtp" has no sandbox/ }] }
  })
  has(t, await put('/company/providers/smtp', { settings: smtp }, admin), { status: 200, body: { sandbox: false } })
  const twilio = { accountSid: `AC${'0'.repeat(32)}`, authToken: 'secret', from: '+15005550100' }
  has(t, await put('/company/providers/twilio', { settings: twilio, sandbox: true }, admin), {
    status: 422,
    body: { details: [{ path: '/settings/testAccountSid', code: 'required' }, { path: '/settings/testAuthToken', code: 'required' }] }
  })
  has(t, await put('/company/providers/stripe', { settings: { secretKey: 'sk_live_0123456789' }, sandbox: true }, admin), {
    status: 422,
    body: { details: [{ path: '/settings/secretKey', code: 'wrong_environment', message: /needs a test key/ }] }
  })
  has(t, await put('/company/providers/stripe', { settings: { secretKey: 'sk_test_0123456789' } }, admin), {
    status: 422,
    body: { details: [{ path: '/settings/secretKey', code: 'wrong_environment', message: /only a sandbox/ }] }
  })
  has(t, await put('/company/providers/stripe', { settings: { secretKey: 'sk_test_0123456789' }, sandbox: true }, admin), {
    status: 200,
    body: { sandbox: true, valid: true }
  })
  has(t, await put('/company/providers/stripe', { settings: {}, sandbox: false }, admin), {
    status: 422,
    body: { details: [{ path: '/settings/secretKey' }] }
  }, 'the key that is kept is looked at')
})

await t.test('sandbox and useSandbox that say two things are a 400', async (t) => {
  has(t, await put('/my/providers/vendor', { settings, sandbox: true, useSandbox: false }), {
    status: 400,
    body: { error: 'validation_error', details: [{ path: '/useSandbox', code: 'contradiction' }] }
  })
  t.equal((await put('/my/providers/vendor', { settings, sandbox: true, useSandbox: true })).status, 200)
  t.equal((await remove('/my/providers/vendor')).status, 204)
})

await t.test('a choice of what is not there is refused', async (t) => {
  has(t, await put('/my/config/invoicing', { providerName: 'vendr' }), {
    status: 422,
    body: { error: 'configuration_missing', message: /did you mean "vendor"/ }
  })
  has(t, await put('/my/config/postl', { providerName: 'vendor' }), { status: 404, body: { error: 'unknown_service' } })
  has(t, await put('/my/providers/vendr', { settings: {} }), { status: 404, body: { error: 'not_found' } })
  has(t, await remove('/my/providers/vendor'), { status: 404, body: { error: 'not_found' } })
  for (const body of [{}, { providerName: 7 }, { providerName: 'vendor', extra: 1 }, { providername: 'vendor' }]) {
    t.equal((await put('/my/config/invoicing', body)).status, 400)
  }
  for (const body of [{}, { settings: [] }, { settings: {}, sandbox: 'yes' }, { settings: {}, sand: true }]) {
    t.equal((await put('/my/providers/vendor', body)).status, 400)
  }
})

await t.test('members configure for themselves, admins for their company, operators for neither', async (t) => {
  const { admin, member, operator } = await service.company('roles')
  const company = (login: Login): Promise<Answer[]> =>
    Promise.all([
      put('/company/defaults/invoicing', { providerName: 'simulator' }, login),
      put('/company/providers/simulator', { settings: {} }, login),
      remove('/company/providers/vendor', login)
    ])
  for (const login of [member, operator]) t.strictSame((await company(login)).map(({ status }) => status), [403, 403, 403])
  t.strictSame((await company(admin)).map(({ status }) => status), [200, 200, 404])
  for (const login of [member, admin]) t.equal((await put('/my/providers/simulator', { settings: {} }, login)).status, 200)
})

await t.test('who may not use a service does not choose its default, neither for the company nor for themselves', async (t) => {
  const { admin, member } = await service.company('administering', { services: ['sms'] })
  t.equal((await put('/company/defaults/sms', { providerName: 'simulator' }, admin)).status, 200)
  has(t, await put('/company/defaults/invoicing', { providerName: 'simulator' }, admin), { status: 403, body: { error: 'forbidden' } })
  has(t, await put('/my/config/invoicing', { providerName: 'simulator' }, member), { status: 403, body: { error: 'forbidden' } })
})

await t.test('one company\'s configuration is nothing to another', async (t) => {
  const [one, two] = [await service.company('one'), await service.company('two')]
  await put('/company/providers/vendor', { settings }, one.admin)
  await put('/company/defaults/invoicing', { providerName: 'vendor' }, one.admin)
  has(t, (await mine(two.admin)).services.invoicing, { providerName: 'simulator', available: ['simulator'] })
  has(t, await dispatch(two.member, { providerName: 'vendor' }), { status: 422, body: { error: 'configuration_missing' } })
  has(t, (await mine(admin)).company.choices, { invoicing: 'simulator' })
})

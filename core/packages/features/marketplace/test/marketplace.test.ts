import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { packed, type Packing } from '../../../../../test/support/adapters.ts'
import { contains, has, matches } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { admin, type Answer, invoiceRequest, operator, seededDatabase, startService,
  type TestService } from '../../../../../test/support/service.ts'

const databaseUrl = await seededDatabase(t)
/** Whether this user of this machine may mount something. Nothing is awaited: tap ends a file that is idle between two tests. */
function mayMount (): boolean {
  const place = mkdtempSync(join(tmpdir(), 'dispatch-mount-'))
  const mounts = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', place]).status === 0
  if (mounts) spawnSync('umount', [place])
  rmdirSync(place)
  return mounts
}

const mounting = mayMount() ? {} : { skip: 'nothing can be mounted here' }
const options = { databaseUrl, replacements: { renderer: quickRenderer }, config: { prices: { invoicing: 0 } } }
const service = await startService(t, options)
const other = await startService(t, { ...options, config: { ...options.config, runsWorker: false } })
const folderOf = ({ app }: TestService): string => join(app.get('config').dataDirectory, 'adapters')

const market = (method: string, path = '', body?: unknown): Promise<Answer> =>
  service.send(method, `/api/v1/marketplace${path}`, body === undefined ? {} : { body }, operator)
const add = (packing: Packing): Promise<Answer> => market('POST', '/packages', { package: Buffer.from(packed(packing)).toString('base64') })
const consent = { hosts: ['api.acme.test'], services: ['invoicing'] }
const dispatch = ({ send }: TestService, providerName = 'acme'): Promise<Answer> =>
  send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName }) })
const statusOf = ({ body }: Answer): unknown => body.providerResponse?.status ?? body

/** The processes of adapters that a service has started. */
const processesOf = ({ app }: TestService): number => app.get('sandbox').state()?.processes ?? 0

await t.test('what is taken in is installed with the consent that it asks for, and dispatches from its own process', async (t) => {
  const added = await add({ code: 'acme', version: '1.0.0', changelog: 'It is new.' })
  has(t, added, {
    status: 201,
    body: {
      code: 'acme',
      state: 'available',
      version: '1.0.0',
      hosts: ['api.acme.test'],
      features: [],
      services: { invoicing: { documentTypes: ['INVOICE'] } }
    }
  })
  has(t, await market('GET', '?feature=cancel'), { body: { data: [] } })
  t.equal(processesOf(service), 0, 'its trial has ended')
  t.same(await readdir(folderOf(service)), [])

  const refused = await market('POST', '/acme/install', { consent: { hosts: [], services: ['invoicing'] } })
  has(t, refused, { status: 409, body: { error: 'consent_required', details: [{ path: '/consent/hosts', code: 'host' }] } })
  has(t, await market('POST', '/acme/install', { consent }), { status: 200, body: { state: 'installed', enabled: true, offer: 'all' } })
  has(t, await market('POST', '/acme/install', { consent }), { status: 409, body: { details: [{ code: 'already_installed' }] } })

  for (const { send } of [service, other]) {
    const configured = await send('PUT', '/api/v1/company/providers/acme', { body: { settings: {} } })
    t.equal(configured.status, 200, JSON.stringify(configured.body))
  }
  t.equal(processesOf(service), 0, 'nothing of it runs until it is called')
  t.equal(statusOf(await dispatch(service)), '1.0.0')
  t.equal(statusOf(await dispatch(other)), '1.0.0', 'the other process has followed')
  t.equal(processesOf(service), 1)
  has(t, (await market('GET', '/acme')).body, {
    licence: 'MIT',
    settings: { properties: {} },
    usedBy: 1,
    health: { state: 'ok', crashes: 0 },
    versions: [{ version: '1.0.0', sdk: '^1.0.0', conformance: { status: 'not_run' }, hosts: ['api.acme.test'], changelog: 'It is new.' }]
  })
  const { body: { data: processes } } = await service.send('GET', '/api/v1/providers/processes', {}, operator)
  t.same(processes.map(({ converged }: { converged: boolean }) => converged), [true, true])
})

await t.test('a version is switched without a failed request, and back', async (t) => {
  has(t, await add({ code: 'acme', version: '1.1.0', wait: 0.05 }), {
    status: 201,
    body: { state: 'updatable', version: '1.0.0', latest: '1.1.0' }
  })
  const answers: Promise<Answer>[] = []
  const sendTwenty = async (): Promise<void> => {
    for (let sent = 0; sent < 20; sent++) {
      answers.push(dispatch(service))
      await pause(20)
    }
  }
  await sendTwenty()
  const upgrade = { ended: false, answer: market('POST', '/acme/upgrade', { version: '1.1.0', consent: { hosts: [], services: [] } }) }
  void upgrade.answer.finally(() => {
    upgrade.ended = true
  })
  // A busy machine switches late: the dispatches go on for as long as that takes.
  while (!upgrade.ended) await sendTwenty()
  await sendTwenty()
  has(t, await upgrade.answer, { status: 200, body: { version: '1.1.0', previous: '1.0.0' } })
  const statuses = (await Promise.all(answers)).map(statusOf)
  t.same([...new Set(statuses)].sort(), ['1.0.0', '1.1.0'])
  t.same([...new Set(statuses.slice(-20))], ['1.1.0'], 'after the answer nothing begins on the version before')
  has(t, await market('POST', '/acme/rollback'), { status: 200, body: { version: '1.0.0', previous: '1.1.0', state: 'updatable' } })
  t.equal(statusOf(await dispatch(service)), '1.0.0')
})

await t.test('what became of the dispatches of the last day is told by version, and to operators who uses it', async (t) => {
  const { body: { data: [step] } } = await service.send('GET', '/api/v1/dispatches?limit=1')
  // A call that failed, one of yesterday, and one of a provider that was left for this one.
  await service.app.get('database').owner.transaction().execute(async (queries) => {
    const { step_id: id, company_id: company } = await queries.selectFrom('steps').select(['step_id', 'company_id'])
      .where('dispatch_id', '=', step.dispatchId).executeTakeFirstOrThrow()
    const error = JSON.stringify({ word: 'provider_unavailable', message: 'It is down.' })
    const row = { step_id: id, company_id: company, provider_version: '0.9.0', outcome: 'unavailable', error }
    const now = service.app.get('now')().getTime()
    const at = (hours: number) => ({ started_at: new Date(now - hours * 3_600_000), answered_at: new Date(now - hours * 3_600_000 + 400) })
    await queries.insertInto('attempts').values([{ ...row, ...at(1), number: 98 }, { ...row, ...at(25), number: 99 }]).execute()
  })
  const { body: { health: { lastDay }, users } } = await market('GET', '/acme')
  t.same(lastDay.map(({ version }: { version: string }) => version), ['1.1.0', '1.0.0', '0.9.0'])
  has(t, lastDay[2], { calls: 1, accepted: 0, failures: { provider_unavailable: 1 }, latency: { p50: 400, p95: 400 } })
  t.ok(lastDay[0].calls >= 20 && lastDay[0].accepted === lastDay[0].calls, 'all were accepted')
  has(t, users, [{ company: 'Demo' }])

  const { body: forAdmin } = await service.send('GET', '/api/v1/marketplace/acme')
  t.same([forAdmin.usedBy, forAdmin.users, forAdmin.health], [undefined, undefined, undefined],
    'an admin learns nothing of other companies')
})

await t.test('two or three adapters are read side by side, by whoever sees each of them', async (t) => {
  const texts = { fr: { title: 'Clé' } }
  await add({ code: 'french', version: '1.0.0', settings: { type: 'object', properties: { key: { type: 'string', 'x-texts': texts } } } })
  has(t, await market('GET', '?language=fr'), { body: { data: [{ code: 'french', languages: ['en', 'fr'] }] } })
  const compare = (codes: string, by = operator): Promise<Answer> =>
    service.send('GET', `/api/v1/marketplace-comparison?codes=${codes}`, {}, by)
  const { body: { data } } = await compare('acme,french')
  has(t, data, [{ code: 'acme', health: { state: 'ok' } }, { code: 'french', state: 'available' }])
  t.same(data[1], (await market('GET', '/french')).body, 'as each is read by itself')
  for (const codes of ['acme', 'acme,b,c,d', 'acme,', 'Acme,french']) has(t, await compare(codes), { status: 400 })
  has(t, await compare('acme,nobody'), { status: 404, body: { error: 'not_found' } })
  has(t, await compare('acme,french', admin), { status: 404, body: { error: 'not_found' } })
  t.equal((await market('DELETE', '/french')).status, 204)
})

await t.test('files that were changed on the disk are not run: they are extracted again', async (t) => {
  for (const name of await readdir(folderOf(other))) {
    await writeFile(join(folderOf(other), name, 'index.js'), 'export default { code: "evil" }')
  }
  // Whoever is asked for the first time gets a process of his own.
  const { admin } = await other.company('fresh')
  await other.send('PUT', '/api/v1/company/providers/acme', { body: { settings: {} } }, admin)
  const answer = await other.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'acme' }) }, admin)
  t.equal(statusOf(answer), '1.0.0')
})

await t.test('other bytes under a version that has run here are refused, until an operator says that they are meant', async (t) => {
  const { dataDirectory } = service.app.get('config')
  const lock = join(dataDirectory, 'adapters.lock.json')
  const { adapters } = JSON.parse(await readFile(lock, 'utf8'))
  const { body: { versions } } = await market('GET', '/acme')
  t.same(adapters, versions.map(({ version, integrity }: Record<string, string>) => ({ code: 'acme', version, integrity })).reverse())

  const start = () => startService(t, { ...options, config: { dataDirectory, runsWorker: false } })
  const reasonIn = async ({ send }: TestService): Promise<unknown> => {
    const { body: { data } } = await send('GET', '/api/v1/providers', {}, operator)
    return data.find(({ code, state }: { code: string, state: string }) => code === 'acme' && state === 'refused')?.health.reason
  }
  const other = `sha512-${Buffer.alloc(64).toString('base64')}`
  await writeFile(lock, JSON.stringify({ v: 1, adapters: [{ code: 'acme', version: '1.0.0', integrity: other }] }))
  const swapped = await start()
  matches(t, await reasonIn(swapped), /not the one that has run here: its integrity is sha512-.*remove it from that file/)
  t.same(JSON.parse(await readFile(lock, 'utf8')).adapters, [{ code: 'acme', version: '1.0.0', integrity: other }, adapters[1]],
    'it stays locked')
  await writeFile(lock, '{"v":1,"adap')
  matches(t, await reasonIn(await start()), /adapters\.lock\.json is damaged/)
  await rm(lock)
  const meant = await start()
  t.equal(await reasonIn(meant), undefined)
  t.same(JSON.parse(await readFile(lock, 'utf8')).adapters, adapters)
  await Promise.all([swapped, meant].map(({ app }) => app.close()))
})

await t.test('who it is not offered to does not see it, and cannot dispatch through it', async (t) => {
  const { admin, companyId } = await service.company('offered')
  const refused = await market('PUT', '/acme/offer', { companies: [companyId] })
  has(t, refused, { status: 409, body: { error: 'conflict' } })
  t.same(refused.body.details.map(({ code }: { code: string }) => code), ['configuration_needs_it', 'configuration_needs_it'])
  contains(t, refused.body.message, /^Companies that use "acme" would not have it any more.*"force"/)
  t.equal(statusOf(await dispatch(service)), '1.0.0', 'nothing has changed')
  has(t, await market('PUT', '/acme/offer?force=true', { companies: [companyId] }), { status: 200, body: { offer: [companyId] } })
  has(t, await market('PUT', '/acme/offer', { companies: [999_999] }), { status: 422, body: { details: [{ code: 'unknown_company' }] } })
  has(t, await dispatch(service), { status: 422, body: { error: 'configuration_missing' } })
  const codes = async (login?: typeof admin): Promise<string[]> =>
    (await service.send('GET', '/api/v1/marketplace', {}, login)).body.data.map(({ code }: { code: string }) => code)
  const providers = async (login?: typeof admin): Promise<unknown> =>
    (await service.send('GET', '/api/v1/providers', {}, login)).body.data.some(({ code }: { code: string }) => code === 'acme')
  t.same([await codes(), await codes(admin), await codes(operator)], [[], ['acme'], ['acme']])
  t.same([await providers(), await providers(admin), await providers(operator)], [false, true, true])
  const guide = async (login?: typeof admin): Promise<number> =>
    (await service.send('GET', '/api/v1/providers/acme/guide', {}, login)).status
  t.same([await guide(), await guide(admin), await guide(operator)], [404, 200, 200])
  t.equal((await service.send('GET', '/api/v1/marketplace/acme')).status, 404)
  t.equal((await service.send('PUT', '/api/v1/company/providers/acme', { body: { settings: {} } })).status, 404)
  t.equal((await market('PUT', '/acme/offer', { companies: 'all' })).status, 200)
  t.equal(statusOf(await dispatch(service)), '1.0.0')
})

await t.test('a disabled one dispatches nothing until it is enabled again, and says so', async (t) => {
  t.equal((await market('POST', '/acme/disable')).status, 200)
  const reported = 'The operator of the service has disabled the provider "acme".'
  has(t, await dispatch(service), { status: 422, body: { error: 'configuration_missing', details: [{ message: reported }] } })
  has(t, (await service.send('GET', '/api/v1/my/config')).body.company.providers.filter(({ code }: { code: string }) => code === 'acme'), [
    { valid: false, problems: [{ code: 'not_installed', message: reported }] }
  ])
  t.equal((await market('POST', '/acme/enable')).status, 200)
  t.equal(statusOf(await dispatch(service)), '1.0.0')
})

await t.test('a configuration that does not fit a newer form says where, and the version before goes on with it', async (t) => {
  const settings = { type: 'object', properties: { region: { type: 'string' } }, required: ['region'] }
  t.equal((await add({ code: 'acme', version: '2.0.0', settings })).status, 201)
  t.equal((await market('POST', '/acme/upgrade', { version: '2.0.0', consent: { hosts: [], services: [] } })).status, 200)
  const mine = async (): Promise<unknown[]> =>
    (await service.send('GET', '/api/v1/my/config')).body.company.providers.filter(({ code }: { code: string }) => code === 'acme')
  has(t, await mine(), [{ valid: false, problems: [{ path: '/settings/region' }], servedBy: '1.0.0' }])
  t.equal(statusOf(await dispatch(service)), '1.0.0')
  const queued = await service.send('POST', '/api/invoicing?async=true', { body: invoiceRequest({}, { providerName: 'acme' }) })
  const dispatched = async (): Promise<any> => (await service.send('GET', `/api/v1/dispatches/${queued.body.dispatchId}`)).body
  while (['queued', 'running'].includes((await dispatched()).status)) await pause(50)
  has(t, await dispatched(), { status: 'succeeded', steps: [{ providerResponse: { status: '1.0.0' } }] })

  const { admin, companyId } = await service.company('early')
  const configure = (body: object): Promise<Answer> => service.send('PUT', '/api/v1/company/providers/acme', { body }, admin)
  has(t, await configure({ settings: {} }), { status: 422, body: { details: [{ path: '/settings/region' }] } })
  t.equal((await configure({ settings: { region: 'eu' } })).status, 200)
  const answer = await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'acme' }) }, admin)
  t.equal(statusOf(answer), '2.0.0', 'who fits is served by the newer one')

  const refused = await market('POST', '/acme/rollback')
  has(t, refused, { status: 409, body: { error: 'conflict', details: [{ code: 'settings_of_newer_version' }] } })
  t.equal(refused.body.details.length, 1, 'who is served by the version before is not among them')
  contains(t, refused.body.details[0].message, `(${companyId}).`)
  t.equal(statusOf(await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'acme' }) }, admin)), '2.0.0')

  t.equal((await market('POST', '/acme/rollback?force=true')).status, 200)
  t.equal(statusOf(await dispatch(service)), '1.0.0')
  const [own] = await mine()
  has(t, own, { valid: true })
  t.notOk('servedBy' in Object(own))
  const left = await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'acme' }) }, admin)
  has(t, left, { status: 422, body: { error: 'configuration_missing' } }, 'after a rollback the newer one serves nobody')
  t.equal((await market('POST', '/acme/rollback')).status, 200, 'forward again stops nobody')
  t.equal(statusOf(await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'acme' }) }, admin)), '2.0.0')
  t.equal((await market('POST', '/acme/rollback?force=true')).status, 200)
})

await t.test('a code is its publisher\'s, also where a package of somebody else is newer', async (t) => {
  const theirs = { code: 'acme', version: '3.0.0', publisher: 'Somebody' }
  has(t, await add(theirs), {
    status: 409,
    body: { details: [{ code: 'whose_package', message: /by "Somebody", and the code "acme" belongs to / }] }
  })
  const body = { package: Buffer.from(packed(theirs)).toString('base64'), publisher: 'Somebody' }
  t.equal((await market('POST', '/packages', body)).status, 201)
  const refused = await market('POST', '/acme/upgrade', { version: '3.0.0', consent })
  has(t, refused, { status: 409, body: { details: [{ code: 'other_publisher' }] } })
})

await t.test('what a company needs is not removed; then it goes, with its files at the next start', async (t) => {
  has(t, await market('DELETE', '/acme'), {
    status: 409,
    body: { error: 'conflict', details: Array.from({ length: 3 }, () => ({ code: 'configuration_needs_it' })) }
  })
  const { pool } = service.app.get('database')
  await pool.query('delete from configurations where provider_code = $1', ['acme'])
  t.equal((await market('DELETE', '/acme')).status, 204)
  t.equal((await market('GET', '/acme')).status, 404)
  has(t, await dispatch(service), { status: 422, body: { error: 'configuration_missing' } })
  const again = await startService(t, { ...options, config: { dataDirectory: service.app.get('config').dataDirectory } })
  t.same(await readdir(folderOf(again)), [])
})

/** A fixture of a dispatch that is answered with this status. */
function shown (status: string): object {
  const request = { invoicing: { documentType: 'INVOICE' }, data: { number: '1' } }
  return { service: 'invoicing', settings: {}, request, result: { outcome: 'accepted', response: { id: '1', status } } }
}

/** The source that asks the vendor for something. */
function asking (path: string): string {
  return `await context.http.post('https://api.acme.test${path}', { json: { number: request.data.number } }, {})`
}

const requested = {
  ...shown('1.0.0'),
  exchange: [{ expect: { method: 'POST', url: 'https://api.acme.test/invoices', json: { number: '1' } }, answer: { json: {} } }]
}

await t.test('a package that does what its fixtures show is taken in, and no process of its trial is left', async (t) => {
  const before = processesOf(service)
  const added = await add({ code: 'shown', version: '1.0.0', does: asking('/invoices'), fixtures: { 'send.accepted': requested } })
  has(t, added, { status: 201, body: { versions: [{ version: '1.0.0', replayed: 1 }] } })
  t.equal(processesOf(service), before)
})

for (const [what, packing, code] of [
  ['throws when it is loaded', { code: 'broken', head: 'throw new Error("no luck")' }, 'does_not_load'],
  ['is not what its manifest says', { code: 'broken', says: { hosts: ['api.other.test'] } }, 'manifest_differs'],
  ['does not do what its fixtures show', { code: 'broken', fixtures: { 'send.accepted': shown('2.0.0') } }, 'fails_fixtures'],
  ['has a fixture that cannot be read', { code: 'broken', fixtures: { 'send.accepted': {} } }, 'fails_fixtures'],
  ['throws when it is called', { code: 'broken', does: 'throw new Error("no luck")', fixtures: { 'send.accepted': shown('1.0.0') } },
    'fails_fixtures'],
  ['asks a vendor for what its fixtures do not show', { code: 'broken', does: asking('/other'), fixtures: { 'send.accepted': requested } },
    'fails_fixtures']
] as const) {
  await t.test(`a package that ${what} is refused, and nothing of it stays`, async (t) => {
    const before = processesOf(service)
    const judged = async (): Promise<Answer> => {
      const answer = await add({ version: '1.0.0', ...packing })
      // On a machine that is busy.
      return answer.body.details?.[0]?.code === 'loads_too_slowly' ? await judged() : answer
    }
    has(t, await judged(), { status: 422, body: { error: 'validation_failed', details: [{ code }] } })
    t.same(await readdir(folderOf(service)), [])
    t.equal((await market('GET', '/broken')).status, 404)
    while (processesOf(service) > before) await pause(50)
  })
}

await t.test('a package that does not finish loading in time is not called broken: it may be this machine', async (t) => {
  has(t, await add({ version: '1.0.0', code: 'broken', head: 'for (;;);' }), {
    status: 503,
    body: { error: 'provider_unavailable', details: [{ code: 'loads_too_slowly' }] }
  })
  t.same(await readdir(folderOf(service)), [])
})

await t.test('the ends of its processes that nobody asked for are counted, with the last one', async (t) => {
  const does = 'setTimeout(() => process.exit(3), 50)'
  t.equal((await add({ code: 'crashing', version: '1.0.0', does })).status, 201)
  has(t, await market('POST', '/crashing/install', { consent }), { status: 200, body: { health: { state: 'ok', crashes: 0 } } })
  t.equal((await service.send('PUT', '/api/v1/company/providers/crashing', { body: { settings: {} } })).status, 200)
  t.equal(statusOf(await dispatch(service, 'crashing')), '1.0.0')
  let health = { crashes: 0 }
  while (health.crashes === 0) ({ body: { health } } = await market('GET', '/crashing'))
  has(t, health, { state: 'ok', crashes: 1, lastCrash: { reason: 'It ended by itself.' } })
  t.equal((await market('POST', '/crashing/disable')).body.health.state, 'stopped')
})

await t.test('of two operators who do the same at once, one does it, and the other is told why not', async (t) => {
  const both = (method: string, path: string, bodies: readonly unknown[]): Promise<Answer[]> =>
    Promise.all([service, other].map(({ send }, index) => send(method, `/api/v1/marketplace${path}`, { body: bodies[index] }, operator)))
  const reported = (answers: Answer[]): unknown[] => answers.map(({ status, body }) => [status, body.details?.[0]?.code ?? null]).sort()
  const base64 = (packing: Packing): { package: string } => ({ package: Buffer.from(packed(packing)).toString('base64') })
  const same = base64({ code: 'twice', version: '1.0.0' })
  t.same(reported(await both('POST', '/packages', [same, same])), [[201, null], [201, null]])
  const contents = [base64({ code: 'twice', version: '1.1.0' }), base64({ code: 'twice', version: '1.1.0', head: '// other' })]
  t.same(reported(await both('POST', '/packages', contents)), [[201, null], [409, 'version_taken']])
  const install = { version: '1.0.0', consent }
  t.same(reported(await both('POST', '/twice/install', [install, install])), [[200, null], [409, 'already_installed']])
  const upgrade = { version: '1.1.0', consent }
  t.same(reported(await both('POST', '/twice/upgrade', [upgrade, upgrade])), [[200, null], [409, 'not_newer']])
  has(t, await market('GET', '/twice'), { body: { version: '1.1.0', previous: '1.0.0' } })
  t.same(reported(await Promise.all([service, other].map(({ send }) => send('DELETE', '/api/v1/marketplace/twice', {}, operator)))), [
    [204, null],
    [404, 'adapter_unknown']
  ])
})

await t.test('a disk that is full refuses a package, and nothing of it stays; with room it is installed', mounting, async (t) => {
  const folder = folderOf(service)
  t.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', folder]).status, 0)
  try {
    const large = await add({ code: 'large', version: '1.0.0', head: `// ${'x'.repeat(300_000)}` })
    has(t, large, { status: 503, body: { error: 'service_unavailable', details: [{ code: 'disk_full' }] } })
    t.same(await readdir(folder), [])
    t.equal((await market('GET', '/large')).status, 404)
    t.equal((await add({ code: 'small', version: '1.0.0' })).status, 201)
    has(t, await market('POST', '/small/install', { consent }), { status: 200, body: { health: { state: 'ok' } } })
  } finally {
    spawnSync('umount', [folder])
  }
})

await t.test('bytes that are no package are refused with the word for what is wrong', async (t) => {
  const refused = await market('POST', '/packages', { package: Buffer.from('no package').toString('base64') })
  t.equal(refused.status, 422)
  t.same(refused.body.details.map(({ code }: { code: string }) => code), ['package_damaged'])
})

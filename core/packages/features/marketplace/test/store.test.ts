import { migrate } from '@dispatch/core'
import { openDatabase } from '@dispatch/database'
import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createGate } from '../../../../../test/support/gate.ts'
import { has } from '../../../../../test/support/matching.ts'
import { seededDatabase } from '../../../../../test/support/service.ts'
import { createConfigurations } from '../../../../store/configuration/configurations.ts'
import { needAdapters } from '../../../../store/configuration/provider-sources.ts'
import { readReloads } from '../../../../store/vendor/provider-processes.ts'
import type { Freshness } from '../../../database/freshness.ts'
import { idAt } from '../../../database/id-times.ts'
import { type AdapterEdit, addPackage, editAdapter } from '../store/adapter-changes.ts'
import { type AdapterState, listAdapters, listInstalledAdapters, listPresent, listUsedPackages, type NewPackage,
  readPackageBytes } from '../store/adapters.ts'
import { callsOfLastDay } from '../store/last-day.ts'

const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: (error) => t.fail(error.message) })
t.teardown(database.close)
await migrate(database)
const companyId = 1
let day = 0
/** Each change is a day later. */
const stamp = () => ({ author: null, at: new Date(2026, 0, ++day) })

function packageOf (code: string, version: string, more: Partial<NewPackage> = {}): NewPackage {
  return {
    integrity: `sha512-${code}${version}`,
    code,
    version,
    publisher: { packageName: `${code}-adapter`, author: 'Acme Ltd' },
    manifest: {
      v: 1,
      package: `${code}-adapter`,
      publisher: 'Acme Ltd',
      sdk: '^1.0.0',
      licence: 'MIT',
      changelog: '',
      conformance: { status: 'not_run' },
      provider: { code, name: code, version, hosts: [], services: {}, settings: {} }
    },
    definition: '{}',
    files: { 'index.js': 'ab' },
    bytes: Buffer.from(version),
    source: '',
    replayed: 0,
    ...more
  }
}

async function codeWith (...versions: string[]): Promise<string> {
  const code = `a${randomUUID()}`
  for (const version of versions) await addPackage(database, packageOf(code, version), companyId, stamp())
  return code
}

const state = (code: string, version: string, more: Partial<AdapterState> = {}): AdapterState => ({
  integrity: `sha512-${code}${version}`,
  previous: null,
  enabled: true,
  companies: null,
  consent: { hosts: [], services: ['sms'] },
  ...more
})
const put = (code: string, after: AdapterState | null): Promise<void> =>
  editAdapter(database, { code, companyId }, (): AdapterEdit => ({ action: 'adapter.installed', facts: {}, after }), stamp())
const versionsOf = async (code: string): Promise<string[]> =>
  (await listAdapters(database, code)).flatMap(({ packages }) => packages.map(({ version }) => version)).sort()

await t.test('a package is taken in once; the same version with other content is not', async (t) => {
  const code = await codeWith('1.0.0')
  await addPackage(database, packageOf(code, '1.0.0'), companyId, stamp())
  const other = packageOf(code, '1.0.0', { integrity: `sha512-other${code}` })
  await t.rejects(addPackage(database, other, companyId, stamp()), { message: /is here with other content/ })
  const { rows } = await database.pool.query<{ action: string }>('select action from audit where object_id = $1', [code])
  t.same(rows, [{ action: 'adapter.package_added' }])
  t.same(Buffer.from(await readPackageBytes(database, `sha512-${code}1.0.0`) ?? []).toString(), '1.0.0')
  t.equal(await readPackageBytes(database, 'sha512-none'), undefined)
})

await t.test('a package larger than 8 MiB is not stored', async (t) => {
  const code = await codeWith()
  await t.rejects(addPackage(database, packageOf(code, '1.0.0', { bytes: Buffer.alloc(8 * 1024 * 1024 + 1) }), companyId, stamp()))
  t.same(await listAdapters(database, code), [])
})

await t.test('a change is written, noted, and asks every process to follow, or none of it', async (t) => {
  const code = await codeWith('1.0.0')
  const number = await readReloads(database)
  await put(code, state(code, '1.0.0', { companies: [2] }))
  t.equal(await readReloads(database), number + 1)
  const [installed] = (await listInstalledAdapters(database)).filter((one) => one.code === code)
  has(t, installed, {
    taken: { version: '1.0.0', sdk: '^1.0.0', definition: '{}', revoked: null },
    previous: undefined,
    companies: [2],
    enabled: true,
    pin: { packageName: `${code}-adapter`, author: 'Acme Ltd' }
  })
  await t.rejects(editAdapter(database, { code, companyId }, () => {
    throw new Error('No.')
  }, stamp()), { message: 'No.' })
  t.equal(await readReloads(database), number + 1)
  const { rows } = await database.pool.query<{ count: number }>(
    'select count(*)::int as count from audit where object_id = $1 and action = $2',
    [code, 'adapter.installed']
  )
  t.same(rows, [{ count: 1 }])
})

await t.test('two operators change an adapter one after the other, each from what the other left', async (t) => {
  const code = await codeWith('1.0.0')
  const seen: boolean[] = []
  await Promise.all([1, 2, 3].map(() =>
    editAdapter(database, { code, companyId }, ({ adapter }) => {
      seen.push(adapter !== undefined)
      return { action: 'adapter.installed', facts: {}, after: state(code, '1.0.0') }
    }, stamp())
  ))
  t.same(seen, [false, true, true])
})

await t.test('what can be rolled back to is kept, and newer packages; what went before goes, and all with the adapter', async (t) => {
  const code = await codeWith(...Array.from({ length: 8 }, (_, minor) => `1.${minor}.0`))
  await put(code, state(code, '1.6.0', { previous: `sha512-${code}1.5.0` }))
  t.same(await versionsOf(code), Array.from({ length: 7 }, (_, minor) => `1.${minor + 1}.0`))
  t.same((await listUsedPackages(database)).filter((one) => one.includes(code)).sort(), [`sha512-${code}1.5.0`, `sha512-${code}1.6.0`])
  await put(code, null)
  t.same(await listAdapters(database, code), [])
})

await t.test('a disabled adapter is not run, and listed', async (t) => {
  const code = await codeWith('1.0.0')
  await put(code, state(code, '1.0.0', { enabled: false }))
  has(t, (await listInstalledAdapters(database)).find((one) => one.code === code), { enabled: false })
  t.equal((await listAdapters(database, code))[0]?.adapter?.enabled, false)
})

const owner = { companyId: 2, userId: null }
const sources = [{ present: listPresent }]
const configurations = createConfigurations(database, { check: () => Promise.resolve(), of: () => 0 } as unknown as Freshness, {
  listConnections: () => Promise.resolve(new Map()),
  sources
})
const configure = (code: string): Promise<unknown> =>
  configurations.edit(owner, { code, isAdapter: true }, () => ({
    edited: { userId: null, providerCode: code, settings: { plain: {}, secrets: {} }, sandbox: false, updatedAt: new Date() },
    destinations: [],
    forms: []
  }), stamp())
const chosen = (code: string): Promise<void> =>
  configurations.choose(owner, { service: 'sms', providers: [{ providerName: code }], adapters: [code] }, stamp())
const removed: AdapterEdit = { action: 'adapter.removed', facts: {}, after: null }

await t.test('what would need an adapter that is being removed is not stored', async (t) => {
  const code = await codeWith('1.0.0')
  await put(code, state(code, '1.0.0'))
  const gate = createGate()
  const removal = editAdapter(database, { code, companyId }, async ({ uses }) => {
    t.same(await uses(), [])
    await gate.pass()
    return removed
  }, stamp())
  await gate.reached
  const stored = Promise.allSettled([configure(code), chosen(code)])
  await pause(100)
  gate.open()
  await removal
  for (const one of await stored) has(t, one, { status: 'rejected', reason: { word: 'conflict', details: [{ code: 'adapter_removed' }] } })
  const { rows } = await database.pool.query('select from configurations where provider_code = $1 union all ' +
    'select from choices where provider_code = $1 union all select from audit where object_id = $1 and company_id = 2', [code])
  t.equal(rows.length, 0)
})

await t.test('a removal waits for what is being stored, and finds it', async (t) => {
  const code = await codeWith('1.0.0')
  await put(code, state(code, '1.0.0'))
  const gate = createGate()
  const storing = database.company(2, (queries) =>
    needAdapters(queries, { codes: [code], sources }, async () => {
      await queries.insertInto('configurations').values({
        company_id: 2,
        provider_code: code,
        settings: '{}',
        secrets: '{}',
        sandbox: false,
        updated_at: new Date()
      }).execute()
      await gate.pass()
    }))
  await gate.reached
  const removal = editAdapter(database, { code, companyId }, async ({ uses }) => {
    t.same(await uses(), [{ companyId: 2, company: 'Demo', kind: 'configuration', count: 1 }])
    throw new Error('Needed.')
  }, stamp())
  const refused = t.rejects(removal, { message: 'Needed.' })
  await pause(100)
  gate.open()
  await storing
  await refused
  await t.resolves(configure(code), 'two that need it do not wait for each other\'s end')
})

await t.test('who needs an adapter is told by company: configurations, choices', async (t) => {
  const code = await codeWith('1.0.0')
  await put(code, state(code, '1.0.0'))
  const { pool } = database
  await pool.query('update choices set provider_code = $1 where company_id = 2 and service = $2', [code, 'sms'])
  await pool.query(
    `insert into configurations (company_id, provider_code, settings, secrets, sandbox, updated_at) values (2, $1, '{}', '{}', false, now())`,
    [code]
  )
  await editAdapter(database, { code, companyId }, async ({ uses }) => {
    t.same(await uses(), [{ companyId: 2, company: 'Demo', kind: 'choice', count: 1 }, {
      companyId: 2,
      company: 'Demo',
      kind: 'configuration',
      count: 1
    }])
    return { action: 'adapter.enabled', facts: {}, after: state(code, '1.0.0') }
  }, stamp())
  t.equal((await listAdapters(database, code))[0]?.users, 1)
})

await t.test('a list that names an adapter needs it, whichever place it has', async (t) => {
  const code = await codeWith('1.0.0')
  await put(code, state(code, '1.0.0'))
  const providers = JSON.stringify([{ providerName: 'simulator' }, { providerName: code, weight: 1 }])
  await database.pool.query('update choices set providers = $1 where company_id = 2 and service = $2', [providers, 'email'])
  await editAdapter(database, { code, companyId }, async ({ uses }) => {
    t.same(await uses(), [{ companyId: 2, company: 'Demo', kind: 'choice', count: 1 }])
    return { action: 'adapter.enabled', facts: {}, after: state(code, '1.0.0') }
  }, stamp())
})

await t.test('the calls of the last day are those of the adapter, the newest ones, whatever others were given since', async (t) => {
  const [code, at] = [await codeWith('1.0.0'), new Date()]
  let ago = 60_000
  const call = async (provider: string, version: string, word?: string): Promise<void> => {
    const time = new Date(at.getTime() - ago--)
    const [id, outcome] = [idAt(time.getTime()), word === undefined ? 'accepted' : 'rejected']
    await sql`insert into steps (step_id, company_id, dispatch_id, position, service, provider_code, provider_version, sandbox, fields,
      request_settings, price, held, status) values (${id}, 2, ${id}, 0, 'sms', ${provider}, ${version}, false, '{}', '{}', 0, 0,
      ${outcome})`.execute(database.owner)
    await sql`insert into attempts (step_id, number, company_id, provider_version, started_at, answered_at, outcome, error) values
      (${id}, 1, 2, ${version}, ${time}, ${time}, ${word === undefined ? 'accepted' : 'rejected'}, ${
      word === undefined ? null : JSON.stringify({ word })
    })`
      .execute(database.owner)
  }
  for (const version of ['1.0.0', '1.1.0', '1.1.0']) await call(code, version)
  await call(code, '1.1.0', 'provider_error')
  for (let one = 0; one < 4; one++) await call('another', '1.0.0')
  const latency = { p50: 0, p95: 0 }
  const newer = { version: '1.1.0', calls: 3, accepted: 2, failures: { provider_error: 1 }, latency }
  t.same(await callsOfLastDay(database, code, at, 4), [newer, { version: '1.0.0', calls: 1, accepted: 1, failures: {}, latency }])
  t.same(await callsOfLastDay(database, code, at, 3), [newer], 'so many as are looked at')
  t.same(await callsOfLastDay(database, code, new Date(at.getTime() + 86_400_000), 4), [], 'of the last day')
})

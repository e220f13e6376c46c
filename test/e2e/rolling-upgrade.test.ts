import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createVendor, type Vendor } from '../../core/packages/conformance/vendor/vendor.ts'
import { columns } from '../../core/packages/tables/columns.ts'
import { until } from '../core/work/support.ts'
import { lacks } from '../support/matching.ts'
import { testDatabase } from '../support/postgres.ts'
import { invoiceRequest, operator, seededEnvironment } from '../support/service.ts'
import { checkoutOf, copyOfThis, hasCommit } from './support/checkouts.ts'
import { dataDirectory, refusalOf, root, send, type ServiceProcess, type Starting, startReady, stop } from './support/process.ts'

/**
 * The commit of the last release: its processes must work beside those of this checkout, and with its packages. One that only the last
 * release needs stays among the development dependencies until the next: `@fastify/multipart`, `uqr`.
 */
const commit = readFileSync(new URL('last-release.txt', import.meta.url), 'utf8').trim()
const skip = hasCommit(commit) ? false : `this checkout has no commit ${commit}`

function editIn (folder: string, path: string, change: (text: string) => string): void {
  const before = readFileSync(join(folder, path), 'utf8')
  const after = change(before)
  if (after === before) throw new Error(`${path} is as it was.`)
  writeFileSync(join(folder, path), after)
}

/** The release after this one: each table that is read whole has one more column, and the shared invoice has words of a new language. */
function nextRelease (t: Test): string {
  const folder = copyOfThis(t)
  const edit = (path: string, change: (text: string) => string): void => editIn(folder, path, change)
  writeFileSync(
    join(folder, 'core/store/migrations/999-next.ts'),
    `import { sql, type Kysely } from 'kysely'
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(\`${Object.keys(columns).map((table) => `alter table ${table} add column next integer;`).join('\n')}\`).execute(db)
}
`
  )
  edit('core/store/migrate.ts',
    (text) =>
      text.replace(/(const migrations: Migrations = \{[^}]*)\n\}/, '$1,\n  \'999-next\': () => import(\'./migrations/999-next.ts\')\n}'))
  edit('core/packages/tables/package.json', (text) => text.replace(/"version": ".*"/, '"version": "1.99.0"'))
  edit('core/packages/documents/model/model.ts', (text) => text.replace(/templateLanguage = \d+/, 'templateLanguage = 99'))
  edit('templates/invoice/template.yaml', (text) => text.replace('author: "{{ seller', 'author: "The next {{ seller'))
  return folder
}

const next = skip === false ? nextRelease(t) : ''

/** Who is told of asynchronous dispatches, at an address and at an endpoint, and of which. */
type Told = { receiver: Vendor, dispatches: string[] }

const placeOf = ({ receiver }: Told, path: string): string => `https://127.0.0.1:${receiver.port}${path}`

/** Where which dispatches were not told as successful. */
function untold ({ receiver, dispatches }: Told): string[] {
  const told = new Set(receiver.requests.map(({ path, json }: any) => `${path} ${json.type} ${json.data.dispatchId}`))
  return dispatches.flatMap((id) => ['/address', '/endpoint'].map((path) => `${path} dispatch.succeeded ${id}`)).filter((one) =>
    !told.has(one)
  )
}

async function allTold (t: Test, told: Told): Promise<void> {
  await until('all is told', () => untold(told).length === 0).catch(() => undefined)
  t.same(untold(told), [])
}

/**
 * Requests of every kind, by four clients, until it is told to end: how many were answered well, and what the others were told. They leave
 * room for the process that starts beside them: where they take all of it, it only starts later.
 */
function load (service: ServiceProcess, told: Told): { end: () => Promise<{ good: number, bad: string[] }> } {
  let ends = false
  let [good, number] = [0, 0]
  const bad: string[] = []
  async function ask (method: string, path: string, body?: unknown): Promise<any> {
    const { status, body: told } = await send(service.url(), method, path, body)
    if (status < 300) good++
    else bad.push(`${method} ${path}: ${status} ${JSON.stringify(told)}`)
    return told
  }
  const client = async (): Promise<void> => {
    while (!ends) {
      const { dispatchId } = await ask('POST', '/api/invoicing', invoiceRequest({ number: `L-${number++}-${service.pid}` }))
      await ask('GET', `/api/v1/dispatches/${dispatchId}`)
      const { dispatchId: later } = await ask('POST', '/api/invoicing?async=true',
        invoiceRequest({ number: `A-${number++}-${service.pid}` }, { callbackUrl: placeOf(told, '/address') }))
      told.dispatches.push(later)
      await ask('GET', '/api/v1/dispatches?limit=5')
      await ask('GET', '/api/v1/templates')
      await ask('GET', '/api/v1/my/config')
      await ask('GET', '/api/v1/credits')
      await pause(250)
    }
  }
  const clients = [1, 2, 3, 4].map(() => client())
  return {
    async end () {
      ends = true
      await Promise.all(clients)
      return { good, bad: bad.slice(0, 3) }
    }
  }
}

/** On an empty database, which an older release fills, or on one that this release has filled. */
async function begin (t: Test, isEmpty: boolean): Promise<{ starting: Starting, told: Told }> {
  const seeded = await seededEnvironment(t)
  const receiver = await createVendor()
  t.teardown(receiver.close)
  receiver.answer({ status: 204 })
  const data = dataDirectory(t)
  const NODE_EXTRA_CA_CERTS = join(dirname(data), 'authority.pem')
  writeFileSync(NODE_EXTRA_CA_CERTS, receiver.ca)
  const env = {
    ...seeded,
    ...isEmpty ? { DATABASE_URL: (await testDatabase(t)).url } : {},
    DISPATCH_DISPATCH_LIMIT: '0',
    DISPATCH_CONSOLE: 'off',
    NODE_EXTRA_CA_CERTS
  }
  return { starting: { dataDirectory: data, env }, told: { receiver, dispatches: [] } }
}

/** The version of the shared invoice with which a service works now. */
async function invoiceVersion (service: ServiceProcess): Promise<number> {
  const { body } = await send(service.url(), 'POST', '/api/invoicing', invoiceRequest({ number: `V-${process.hrtime.bigint()}` }))
  const { body: dispatch } = await send(service.url(), 'GET', `/api/v1/dispatches/${body.dispatchId}`)
  return dispatch.template.version
}

/** Two releases: where the older and the newer one are; undefined: this checkout. */
const pairs: Record<string, (t: Test) => [older: string | undefined, newer: string | undefined]> = {
  'the last release works beside this one': (t) => [checkoutOf(t, commit), undefined],
  'this release works beside the next one': () => [undefined, next]
}

/** The shared invoice of a checkout: each release works with its own, though the other's is there. */
function invoiceIn ({ cwd = root }: { cwd?: string }): string {
  return ['template.yaml', 'schema.json'].map((file) => readFileSync(join(cwd, 'templates/invoice', file), 'utf8')).join('')
}

for (const [what, pair] of Object.entries(pairs)) {
  await t.test(`${what} under load, starts again, and goes on alone`, { skip }, async (t) => {
    const [olderIn, newerIn] = pair(t)
    const { starting, told } = await begin(t, olderIn !== undefined)
    const [older, newer] = [olderIn, newerIn].map((cwd) => cwd === undefined ? starting : { ...starting, cwd })
    if (older === undefined || newer === undefined) throw new Error('Two releases are needed.')
    const old = await startReady(t, older)
    const companies = await send(old.url(), 'GET', '/api/v1/companies', undefined, operator)
    const { id } = companies.body.data.find(({ name }: { name: string }) => name === 'Demo')
    await send(old.url(), 'POST', `/api/v1/companies/${id}/credits`, { amount: 100_000, reason: 'load' }, operator)
    await send(old.url(), 'POST', '/api/v1/company/callback-endpoints', { name: 'All', url: placeOf(told, '/endpoint') })
    const before = await invoiceVersion(old)
    const first = load(old, told)
    await pause(1_000)
    const fresh = await startReady(t, newer)
    const second = load(fresh, told)
    await pause(2_000)
    const [ofOld, ofNew] = [await first.end(), await second.end()]
    t.same([ofOld.bad, ofNew.bad], [[], []])
    t.ok(ofOld.good > 20 && ofNew.good > 20, JSON.stringify([ofOld.good, ofNew.good]))
    await stop(old)
    lacks(t, old.stdout(), /the run of a dispatch failed|is left to a process/, 'the older process could read all that it took')
    await allTold(t, told)
    // Alone it uses its own invoice, and beside the older release, which could not read that, the one before.
    const own = invoiceIn(older) === invoiceIn(newer) ? before : before + 1
    await until('the newer invoice is used', async () => await invoiceVersion(fresh) === own)
    const again = await startReady(t, older)
    t.equal(await invoiceVersion(again), before)
    await until('the invoice is used that both can read', async () => await invoiceVersion(fresh) === before)
    await stop(fresh)
    const last = load(again, told)
    await pause(500)
    t.same((await last.end()).bad, [])
    await allTold(t, told)
    await stop(again)
  })
}

await t.test('a release that the schema has left behind does not start, and says which one does', { skip }, async (t) => {
  const { starting } = await begin(t, false)
  editIn(next, 'core/store/migrate.ts', (text) => text.replace(/const needs = '.*'/, 'const needs = \'999-next\''))
  await stop(await startReady(t, { ...starting, cwd: next }))
  const { code, stderr } = await refusalOf(t, starting)
  t.equal(code, 1)
  t.equal(stderr.startsWith('Document Dispatch could not start: This is version '), true, stderr)
  t.ok(stderr.includes('version 1.99.0 has changed it (999-next)'), stderr)
})

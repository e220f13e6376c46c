import { sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { auditRow } from '../../../core/packages/accounts/audit/audit.ts'
import { createCompanies } from '../../../core/packages/accounts/store/accounts.ts'
import { updateSettings } from '../../../core/packages/accounts/store/companies.ts'
import { changeCredits, type CreditChange, readCredits } from '../../../core/packages/credits/ledger.ts'
import { openDatabase } from '../../../core/packages/database/database.ts'
import { makeIndexes } from '../../../core/packages/tables/concurrent-indexes.ts'
import type { PreparedJobs } from '../../../core/packages/tables/jobs.ts'
import { createDatabaseFunctions } from '../../../core/store/calls/database-functions.ts'
import { findDispatch } from '../../../core/store/dispatch/dispatch-views.ts'
import { openDispatch } from '../../../core/store/dispatch/dispatches.ts'
import type { DispatchStart } from '../../../core/store/dispatch/lease.ts'
import { cancelDispatch, resumeDispatch } from '../../../core/store/dispatch/runs.ts'
import { beginAttempt, settleStep } from '../../../core/store/dispatch/steps.ts'
import { createLogger } from '../../../plugins/hooks/logging.ts'
import { has } from '../../support/matching.ts'
import { seededDatabase } from '../../support/service.ts'

const connectionString = await seededDatabase(t)
/** One connection for companies: what a call leaves there, the next one finds. */
const database = openDatabase({ connectionString }, { connections: 1, onError: (error) => t.fail(error.message) })
t.teardown(() => database.close())
await sql`create table noted (text text)`.execute(database.owner)

type Owner = { companyId: number, userId: number }

let companies = 0
async function company (credits = 10): Promise<Owner> {
  const email = `user-${++companies}@example.com`
  const [companyId = 0] = await createCompanies(database, [{
    name: email,
    credits,
    users: [{ email, role: 'member', services: [], passwordHash: '' }]
  }], new Date())
  const { user_id: userId } = await database.owner.selectFrom('users').select('user_id').where('email', '=', email)
    .executeTakeFirstOrThrow()
  return { companyId, userId }
}

type Of = { companyId: number, dispatchId: string, stepId: string, runId: string }

/** A dispatch of one step, at a price in credits. */
async function open (
  { companyId, userId }: Owner,
  { price = 3, key, jobs }: { price?: number, key?: string, jobs?: readonly PreparedJobs[] } = {}
): Promise<Of> {
  const of: Of = { companyId, dispatchId: randomUUIDv7(), stepId: randomUUIDv7(), runId: randomUUIDv7() }
  const beginning: DispatchStart = jobs === undefined ? { lease: { runId: of.runId, seconds: 15 } } : { jobs }
  await openDispatch(database, {
    dispatchId: of.dispatchId,
    companyId,
    actor: { kind: 'user', userId },
    requestId: 'r',
    services: ['invoicing'],
    metadata: {},
    steps: [{
      stepId: of.stepId,
      service: 'invoicing',
      by: { code: 'simulator', version: '1.0.0', chosenBy: 'company', configuredBy: 'company', sandbox: false },
      fields: {},
      requestSettings: {},
      template: { template: { id: 1, version: 1 }, data: {} },
      price
    }],
    ...(key === undefined ? {} : { idempotency: { key, fingerprint: 'f' } })
  }, beginning)
  return of
}

const attempt = (of: Of): Promise<number> => beginAttempt(database, { ...of, provider: { code: 'simulator', version: '1.0.0' } })
const accept = (of: Of, following: Parameters<typeof settleStep>[3] = { status: 'succeeded' }): Promise<Date> =>
  settleStep(database, { ...of, actor: { kind: 'system' } }, { outcome: 'accepted', response: { id: 'remote', status: 'sent' } }, following)
const creditsOf = async ({ companyId }: { companyId: number }) => {
  const { balance, held } = await readCredits(database, companyId, { limit: 1 })
  return { balance, held }
}
const note = (text: string): PreparedJobs => ({ statement: 'insert into noted values ($1)', rows: text })
const noted = async (): Promise<string[]> =>
  (await sql<{ text: string }>`select text from noted order by text`.execute(database.owner)).rows.map(({ text }) => text)

const [conflict, short, missingTable, forbidden] = [
  { message: /another run/ },
  { message: /costs 11 credits/ },
  { code: '42P01' },
  { code: '42501' }
]

await t.test('a call leaves neither its role nor its company on the connection', async (t) => {
  await accept(await open(await company()))
  await sql`create function who(given jsonb, moment timestamptz) returns jsonb language sql
    return jsonb_build_object('role', current_user = session_user, 'company', current_setting('app.company', true))`.execute(database.owner)
  has(t, await database.callFunction(0, 'who', '{}'), { answer: { role: true, company: '' } })
})

await t.test('a call sees its own company\'s rows alone', async (t) => {
  const [owner, stranger] = [await company(), await company()]
  const of = await open(owner)
  const asStranger = { ...of, companyId: stranger.companyId }
  await t.rejects(attempt(asStranger), conflict)
  await attempt(of)
  await t.rejects(accept(asStranger), conflict)
  has(t, await findDispatch(database, of.companyId, of.dispatchId), { status: 'running', steps: [{ status: 'calling', held: 3 }] })
  t.strictSame([await creditsOf(owner), await creditsOf(stranger)], [{ balance: 10, held: 3 }, { balance: 10, held: 0 }])
})

await t.test('a call works under row-level security: even a statement that names no company sees and writes its own alone', async (t) => {
  const [owner, stranger] = [await company(), await company()]
  const of = await open(owner)
  const { rows: [schema] } = await sql<{ name: string }>`select nspname as name from pg_namespace where nspname like 'calls\\_%'`.execute(
    database.owner
  )
  const become = (companyId: number) => sql`select ${sql.id(schema?.name ?? '', 'become')}(${companyId}, now())`
  for (const [who, seen] of [[owner, 1], [stranger, 0]] as const) {
    const { rows } = await database.owner.transaction().execute(async (queries) => {
      await become(who.companyId).execute(queries)
      return sql`select from steps where step_id = ${of.stepId}`.execute(queries)
    })
    t.equal(rows.length, seen)
  }
  await t.rejects(database.owner.transaction().execute(async (queries) => {
    await become(stranger.companyId).execute(queries)
    await sql`insert into ledger (company_id, kind, amount, balance, reason, at) values (${owner.companyId}, 'grant', 1, 1, 'x', now())`
      .execute(queries)
  }), forbidden)
})

await t.test('jobs are there with what they are about, or not at all', async (t) => {
  const owner = await company()
  await t.rejects(open(owner, { price: 11, jobs: [note('short')] }), short)
  await open(owner, { key: 'key', jobs: [note('opened')] })
  await t.rejects(open(owner, { key: 'key', jobs: [note('taken')] }), { name: 'IdempotencyKeyTaken', message: 'key' })
  await t.rejects(open(owner, { jobs: [note('half'), { statement: 'insert into missing values ($1)', rows: '' }] }), missingTable)
  t.strictSame(await noted(), ['opened'])
  t.strictSame(await creditsOf(owner), { balance: 10, held: 3 }, 'nor is anything else')
  const of = await open(owner)
  await accept(of, { status: 'queued', tryAfter: 60, jobs: [note('settled')] })
  t.strictSame(await noted(), ['opened', 'settled'])
})

await t.test('credits that two take at the same moment are taken once', async (t) => {
  const owner = await company()
  const many = openDatabase({ connectionString }, { connections: 10, onError: (error) => t.fail(error.message) })
  t.teardown(() => many.close())
  // Held by the commit: until then, each finds all of them free.
  const steps = [
    await open(owner, { price: 0 }),
    await open(owner, { price: 0 }),
    await open(owner, { price: 0 }),
    await open(owner, { price: 0 }),
    await open(owner, { price: 0 })
  ]
  const opening = steps.map((of) =>
    many.company(owner.companyId, async (queries) => {
      await sql`update steps set held = 3 where step_id = ${of.stepId} and company_id = ${owner.companyId}`.execute(queries)
    })
  )
  const ends = await Promise.allSettled(opening)
  t.equal(ends.filter(({ status }) => status === 'fulfilled').length, 3)
  for (const end of ends) if (end.status === 'rejected') has(t, end.reason, { code: 'DC402' })
  t.strictSame(await creditsOf(owner), { balance: 10, held: 9 })
})

/** Whether nobody has locked the credits of a company at this moment. */
async function isFree (companyId: number): Promise<boolean> {
  const { rows } = await sql`select from credits where company_id = ${companyId} for update skip locked`.execute(database.owner)
  return rows.length === 1
}

await t.test('a transaction of several messages locks its company\'s credits by its commit alone', async (t) => {
  const owner = await company()
  const free: boolean[] = []
  const also = async (): Promise<void> => {
    free.push(await isFree(owner.companyId))
  }
  const of = await open(owner)
  await settleStep(database, { ...of, actor: { kind: 'system' } }, {
    outcome: 'rejected',
    error: { word: 'provider_error', message: 'No.' }
  }, { status: 'failed', also })
  await resumeDispatch(database, { ...of, actor: { kind: 'system' }, beginning: { jobs: [] }, also })
  t.strictSame(await creditsOf(owner), { balance: 10, held: 3 })
  await cancelDispatch(database, { ...of, actor: { kind: 'system' }, also })
  const accepted = await open(owner)
  await accept(accepted, { status: 'succeeded', also })
  t.strictSame(free, [true, true, true, true])
  t.strictSame(await creditsOf(owner), { balance: 7, held: 0 })
  const { ledger: [entry] } = await readCredits(database, owner.companyId, { limit: 1 })
  has(t, entry, { kind: 'debit', amount: -3, balance: 7, dispatchId: accepted.dispatchId })
})

await t.test('credits that operators give, and what a company decides of them, are one message each', async (t) => {
  const { companyId } = await company()
  const signature = { author: null, at: new Date() }
  const credit = (company: number, change: CreditChange) =>
    changeCredits(database, company, change, {
      at: signature.at,
      audit: auditRow({
        companyId: company,
        action: 'credits.granted',
        object: { kind: 'credits', id: String(company) },
        facts: { amount: change.amount, reason: change.reason },
        ...signature
      })
    })
  const made = await Promise.all(['a', 'a', 'b'].map((idempotencyKey) => credit(companyId, { amount: 5, reason: 'More', idempotencyKey })))
  t.strictSame(made.map((one) => typeof one === 'object' && one.replayed).sort(), [false, false, true])
  t.equal(await credit(companyId, { amount: 6, reason: 'More', idempotencyKey: 'a' }), 'reused')
  t.equal(await credit(companyId, { amount: -21, reason: 'Less' }), 'short')
  t.equal(await credit(0, { amount: 1, reason: 'More' }), undefined)
  await updateSettings(database, companyId, { lowCredit: 30, addresses: ['192.0.2.0/24'] }, signature)
  await updateSettings(database, companyId, { notifyUrl: 'https://a.example/' }, signature)
  const row = await database.owner.selectFrom('credits').innerJoin('companies', 'companies.company_id', 'credits.company_id').select([
    'balance',
    'low_credit',
    'warning',
    'addresses',
    'notify_url'
  ]).where('credits.company_id', '=', companyId).executeTakeFirst()
  t.strictSame(row, { balance: '20', low_credit: '30', warning: 'due', addresses: ['192.0.2.0/24'], notify_url: 'https://a.example/' })
  const audit = await database.owner.selectFrom('audit').select(['action', 'facts']).where('company_id', '=', companyId).where('action',
    'like', 'credits.%').orderBy('audit_id').execute()
  t.strictSame(audit.map(({ facts }) => facts), [{ amount: 5, reason: 'More', balance: 15 }, { amount: 5, reason: 'More', balance: 20 }])
})

await t.test('a process of an older version moves credits itself, and is not helped', async (t) => {
  const owner = await company()
  const of = await open(owner)
  await database.owner.updateTable('steps').set({ held: 0 }).where('step_id', '=', of.stepId).execute()
  t.strictSame(await creditsOf(owner), { balance: 10, held: 3 })
})

await t.test('the functions of other versions stay, and those of this one are made once', async (t) => {
  await sql`create schema calls_0123456789abcdef`.execute(database.owner)
  await createDatabaseFunctions(database)
  const { rows } = await sql<{ name: string }>`select nspname as name from pg_namespace where nspname like 'calls\_%' order by nspname`
    .execute(database.owner)
  t.equal(rows.length, 2)
  t.equal(rows[0]?.name, 'calls_0123456789abcdef')
})

await t.test('rows are found by their keys, also by plans that were kept when the tables were empty', async (t) => {
  await makeIndexes(database, { log: createLogger('silent') })
  // Once the server has counted so few rows by itself, it reads all of them, which is right then.
  for (const table of ['dispatches', 'steps', 'attempts']) {
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = false)`.execute(database.owner)
  }
  const owner = await company(1000)
  const read = async (): Promise<Record<string, number>> => {
    await database.company(owner.companyId, (queries) => sql`select pg_stat_force_next_flush()`.execute(queries))
    const { rows } = await sql<{ name: string, read: string }>`select relname as name, idx_tup_fetch + seq_tup_read as read
      from pg_stat_user_tables where relname in ('dispatches', 'steps', 'attempts')`.execute(database.owner)
    return Object.fromEntries(rows.map(({ name, read }) => [name, Number(read)]))
  }
  const before = await read()
  const amount = 100
  for (let nth = 0; nth < amount; nth++) {
    const of = await open(owner)
    await attempt(of)
    await accept(of)
  }
  const after = await read()
  for (const [table, rows] of Object.entries(after)) {
    const each = (rows - (before[table] ?? 0)) / amount
    t.ok(each > 0 && each < 12, `${each} rows of ${table} for a dispatch`)
  }
})

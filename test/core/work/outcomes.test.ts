import { refused, unavailable } from '@dispatch/core/provider'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { reconcile } from '../../../core/pipeline/recover/reconcile.ts'
import type { LateOutcome } from '../../../core/pipeline/run/outcome-spool.ts'
import { acquireLease, recoverDispatch, takeQueued } from '../../../core/store/dispatch/runs.ts'
import { beginAttempt } from '../../../core/store/dispatch/steps.ts'
import { outageOf } from '../../plugins/support/outage.ts'
import { accepts, type Handler, testProviders } from '../../plugins/support/providers.ts'
import { createGate } from '../../support/gate.ts'
import { contains, has } from '../../support/matching.ts'
import { quickRenderer } from '../../support/quick-renderer.ts'
import { readingOf } from '../../support/reading.ts'
import { invoiceRequest, seededDatabase, startService } from '../../support/service.ts'
import { until } from './support.ts'

const databaseUrl = await seededDatabase(t)
const outage = outageOf(databaseUrl)
const providers = await testProviders(t)
const gate = createGate()
let called = 0
/** Answers when the gate is open, by which time the database is away. */
const late = (answer: Handler): Handler => async (request, call) => {
  called++
  await gate.pass()
  return answer(request, call)
}
const handlers: Record<string, Handler> = {
  accepting: late(accepts),
  refusing: late(() => Promise.reject(refused('no', 'Not this.'))),
  closing: late(() => Promise.reject(unavailable('Closed.'))),
  quick: accepts
}
for (const [code, handler] of Object.entries(handlers)) await providers.add(code, {}, handler)
let looks = 0
/** What happens while a repeated call is with its vendor. */
let meanwhile = (): Promise<unknown> => Promise.resolve()
const keyed = { service: 'documentTypes: [\'INVOICE\'], idempotency: { kind: \'key\', ttl: 3600 }' }
await providers.add('keyed', keyed, async (request, call) => {
  await meanwhile()
  return accepts(request, call)
})
await providers.add('found', { service: 'documentTypes: [\'INVOICE\'], idempotency: { kind: \'lookup\', visibleAfter: 0 }, timeLimit: 1' },
  accepts, {
  lookup: () => {
    looks++
    return Promise.resolve({ found: 'absent' })
  }
})

const dataDirectory = mkdtempSync(join(tmpdir(), 'dispatch-outcomes-'))
const spool = join(dataDirectory, 'outcomes')
const start = (t: Test, runsWorker: boolean) =>
  startService(t, {
    databaseUrl,
    config: { providerDirectories: providers.directories, dataDirectory, runsWorker },
    replacements: { renderer: quickRenderer }
  })
// It only serves: whoever keeps an outcome records it, too.
const service = await start(t, false)
t.teardown(() => {
  rmSync(dataDirectory, { recursive: true })
})
const { app, send } = service
const { dispatch: read, timeline, events, credits, callbacks } = readingOf(service)
const [database, dependencies] = [app.get('database'), app.get('pipelineParts')]
for (const code of [...Object.keys(handlers), 'found', 'keyed']) {
  await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
}
const { company_id: companyId } = await database.owner.selectFrom('users').select('company_id').where('email', '=', 'demo@example.com')
  .executeTakeFirstOrThrow()
const outbox = { callbackUrl: 'https://client.example/done' }
const invoice = (providerName: string, { path = '/api/invoicing', ...more }: Record<string, unknown> = {}) =>
  send('POST', String(path), { body: invoiceRequest({}, { providerName, ...more }) })

/** A dispatch whose process has died in the call, and what it was answered. */
async function left (
  providerName: string,
  settlement: LateOutcome['settlement'] = { outcome: 'accepted', response: { id: 'kept', status: 'created' } }
): Promise<LateOutcome> {
  const { body: { dispatchId } } = await invoice(providerName, { path: '/api/invoicing?async=true' })
  const { step_id: stepId } = await database.owner.selectFrom('steps').select('step_id').where('dispatch_id', '=', dispatchId)
    .executeTakeFirstOrThrow()
  const runId = crypto.randomUUID()
  await takeQueued(database, [{ companyId, dispatchId, lease: { runId, seconds: 15 } }])
  const attempt = await beginAttempt(database, { companyId, dispatchId, stepId, runId, provider: { code: providerName, version: '1.0.0' } })
  return { companyId, dispatchId, stepId, runId, attempt, actor: { kind: 'provider', code: providerName }, settlement }
}

/** Its lease runs out, and is taken away. */
async function recover ({ dispatchId }: LateOutcome): Promise<void> {
  await database.owner.updateTable('dispatches').set({ leased_until: new Date(0) }).where('dispatch_id', '=', dispatchId).execute()
  await recoverDispatch(database, {
    companyId,
    dispatchId,
    error: { word: 'outcome_unknown', message: 'In doubt.' },
    lookAfter: 0,
    jobs: { statement: 'select $1::text', rows: '' },
    tell: () => Promise.resolve()
  })
}

const isEmpty = (): boolean => readdirSync(spool).length === 0

await t.test('what vendors answered while the database was away for longer than 15 s is sealed on the disk, and ' +
  'recorded once when it is back', async (t) => {
  const before = await credits()
  const requested = ['accepting', 'accepting', 'accepting', 'refusing', 'closing', 'accepting']
  const sent = requested.map((code, index) => invoice(code, index === 5 ? { path: '/api/invoicing/upload', ...outbox } : outbox))
  await until('all vendors are asked', () => called === requested.length)
  await outage.begin()
  gate.open()
  const answers = await Promise.all(sent)
  for (const { status, body } of answers) has(t, { status, body }, { status: 504, body: { error: 'outcome_unknown', dispatchId: String } })
  const files = readdirSync(spool)
  t.equal(files.length, requested.length)
  for (const name of files) {
    contains(t, readFileSync(join(spool, name), 'utf8'), /^\{"v":1,"kid":"\w+","wrappedKey":"[\w+/=]+","sealed":"[\w+/=]+"\}$/, 'sealed')
  }

  await outage.end()
  await until('the disk is empty', isEmpty)
  const ids = answers.map(({ body }) => body.dispatchId as string)
  const became = (await Promise.all(ids.map(read))).map(({ status, creditsCharged, steps }) =>
    [status, creditsCharged, ...steps.map((step: any) => step.status)].join(' ')
  )
  t.strictSame(became, [
    ...[1, 2, 3].map(() => 'succeeded 1 accepted'),
    'failed 0 rejected',
    'failed 0 unavailable',
    'queued 1 accepted planned'
  ])
  has(t, (await read(ids[0]!)).steps[0], { providerResponse: { id: /^accepted-/ } })
  t.strictSame(await credits(), { balance: before.balance - 4, held: before.held })
  for (const id of ids.slice(0, 5)) {
    t.strictSame(await timeline(id), ['planned', 'rendered invoicing', 'calling invoicing', 'answered invoicing'])
  }
  t.strictSame(await Promise.all(ids.map(callbacks)), [
    ...[1, 2, 3].map(() => ['dispatch.succeeded']),
    ['dispatch.failed'],
    ['dispatch.failed'],
    []
  ], 'who waited was told that it is not known, and is called back')
})

await t.test('what a dead process has kept is recorded by the next one, once, whoever else is at it', async (t) => {
  const before = await credits()
  const one = await left('accepting')
  await dependencies.outcomes.keep(one)
  await start(t, true)
  await until('it is recorded', isEmpty)
  has(t, await read(one.dispatchId), { status: 'succeeded', steps: [{ providerResponse: { id: 'kept' } }] })
  await dependencies.outcomes.keep(one)
  await until('it is known already', isEmpty)
  t.strictSame(await timeline(one.dispatchId), ['planned', 'calling invoicing', 'answered invoicing'])
  t.strictSame((await credits()).balance, before.balance - 1)
})

await t.test('an outcome that comes after the dispatch was called uncertain corrects it, once', async (t) => {
  const one = await left('accepting')
  await recover(one)
  has(t, await read(one.dispatchId), { status: 'uncertain' })
  for (const times of [1, 2]) {
    await dependencies.outcomes.keep(one)
    await until(`it is recorded (${times})`, isEmpty)
  }
  has(t, await read(one.dispatchId), { status: 'succeeded', creditsCharged: 1 })
  has(t, await events(one.dispatchId, 'corrected'), [{ facts: { attempt: 1, outcome: 'accepted', before: 'uncertain', remoteId: 'kept' } }])
  t.equal((await events(one.dispatchId, 'corrected')).length, 1)
})

await t.test('a dispatch that another run has is corrected when that run has ended', async (t) => {
  const one = await left('accepting')
  await recover(one)
  const runId = crypto.randomUUID()
  await acquireLease(database, one, { lease: { runId, seconds: 15 }, from: ['uncertain'] })
  await dependencies.outcomes.keep(one)
  await app.get('outcomeSpool').drain(() => Promise.resolve('later'))
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  t.notOk(isEmpty())
  has(t, await read(one.dispatchId), { status: 'uncertain' })
  await database.owner.updateTable('dispatches').set({ run_id: null, leased_until: null }).where('dispatch_id', '=', one.dispatchId)
    .execute()
  await until('it is recorded', isEmpty)
  has(t, await read(one.dispatchId), { status: 'succeeded' })
})

await t.test('what a repeated call is answered after its lease was lost is kept, and recorded when the other run has ended', async (t) => {
  const one = await left('keyed')
  await recover(one)
  // Its vendor still knows the key.
  await database.owner.updateTable('steps').set({ uncertain_at: new Date() }).where('step_id', '=', one.stepId).execute()
  const other = (run: { run_id: string | null, leased_until: Date | null }) =>
    database.owner.updateTable('dispatches').set(run).where('dispatch_id', '=', one.dispatchId).execute()
  meanwhile = () => other({ run_id: crypto.randomUUID(), leased_until: new Date(Date.now() + 60_000) })
  await t.rejects(reconcile(dependencies, one), /settled by another run/)
  t.strictSame(readdirSync(spool), [`${one.stepId}-2.json`])
  has(t, await read(one.dispatchId), { status: 'uncertain' })
  await other({ run_id: null, leased_until: null })
  await until('it is recorded', isEmpty)
  const steps = [{ providerResponse: { id: `accepted-${one.stepId}` } }]
  has(t, await read(one.dispatchId), { status: 'succeeded', creditsCharged: 1, steps })
  t.strictSame((await events(one.dispatchId, 'done')).map(({ facts }) => [facts.attempt, facts.outcome]), [[2, 'accepted']])
})

await t.test('while its outcome lies on the disk, a step is not asked after: no miss is counted', async (t) => {
  const one = await left('found')
  await recover(one)
  await database.owner.updateTable('steps').set({ uncertain_at: new Date(0) }).where('step_id', '=', one.stepId).execute()
  const isKept = (stepId: string) => Promise.resolve(stepId === one.stepId)
  await reconcile({ ...dependencies, outcomes: { ...dependencies.outcomes, has: isKept } }, one)
  t.equal(looks, 0)
  has(t, await read(one.dispatchId), { status: 'uncertain' })
  await dependencies.outcomes.keep(one)
  t.ok(await dependencies.outcomes.has(one.stepId) || (await read(one.dispatchId)).status === 'succeeded')
  await until('it is recorded', isEmpty)
  has(t, await read(one.dispatchId), { status: 'succeeded' })
})

await t.test('an outcome that cannot be opened is set aside, and so is one that the database does not know; ' +
  'neither keeps others back', async (t) => {
  writeFileSync(join(spool, '0-broken.json'), '{"v":1')
  writeFileSync(join(spool, '0-strange.json'), JSON.stringify({ v: 1, kid: 'strange', wrappedKey: '', sealed: '' }))
  const strange = { ...await left('accepting'), stepId: crypto.randomUUID() }
  await dependencies.outcomes.keep(strange)
  const one = await left('accepting')
  await dependencies.outcomes.keep(one)
  await until('it is recorded', async () => (await read(one.dispatchId)).status === 'succeeded')
  const unknown = `${strange.stepId}-${strange.attempt}.json.unknown`
  await until('the others are set aside', () => readdirSync(spool).every((name) => !name.endsWith('.json')))
  t.strictSame(readdirSync(spool).sort(), ['0-broken.json.unreadable', '0-strange.json.unreadable', unknown].sort())
  const linesOfUnknown = (): string[] => service.log.filter((line) => line.includes(join(spool, unknown)))
  await until('it is told', () => linesOfUnknown().length > 0)
  const reported = linesOfUnknown()
  t.equal(reported.length, 1)
  contains(t, reported[0], '"level":50')
  contains(t, reported[0], strange.dispatchId)
  t.equal(await dependencies.outcomes.has(strange.stepId), false)
  has(t, await read(strange.dispatchId), { status: 'running' }, 'and its dispatch is what it was')
})

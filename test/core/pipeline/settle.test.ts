import t from 'tap'
import { DispatchError } from '../../../core/packages/contract/errors.ts'
import type { Database } from '../../../core/packages/database/database.ts'
import { DatabaseUnavailable } from '../../../core/packages/database/unavailable.ts'
import { RenderError } from '../../../core/packages/documents/model/errors.ts'
import { RendererBusy } from '../../../core/packages/documents/threads/renderer.ts'
import { TemplateWorkersBusy } from '../../../core/packages/documents/threads/template-workers.ts'
import { createPipeline } from '../../../core/pipeline/pipeline.ts'
import { settlementOf, settlementOfFailure } from '../../../core/pipeline/run/settle.ts'
import { accepts, testProviders } from '../../plugins/support/providers.ts'
import { has, lacks } from '../../support/matching.ts'
import { quickRenderer } from '../../support/quick-renderer.ts'
import { invoiceRequest, startService } from '../../support/service.ts'

await t.test('a vendor\'s own code stands in the details', (t) => {
  const response = { id: '1', status: 'sent' }
  t.strictSame(settlementOf({ outcome: 'accepted', response }), { outcome: 'accepted', response })
  t.strictSame(settlementOf({ outcome: 'rejected', error: { word: 'provider_error', code: 'E-1', message: 'No.' } }), {
    outcome: 'rejected',
    error: { word: 'provider_error', message: 'No.', details: [{ path: '', code: 'E-1', message: 'No.' }] }
  })
  t.strictSame(settlementOf({ outcome: 'uncertain', error: { word: 'outcome_unknown', message: 'Late.' } }), {
    outcome: 'uncertain',
    error: { word: 'outcome_unknown', message: 'Late.' }
  })
  t.end()
})

await t.test('what fails before the call was not sent: the data\'s fault is final, ours may pass', (t) => {
  const faulty = new RenderError([{ path: '/lines/0', code: 'missing', message: 'Nothing there.' }])
  has(t, settlementOfFailure(faulty), {
    outcome: 'rejected',
    error: { word: 'validation_failed', details: [{ path: '/template/data/lines/0', code: 'missing' }] }
  })
  for (const busy of [new RendererBusy(), new TemplateWorkersBusy()]) {
    t.same(settlementOfFailure(busy), {
      outcome: 'unavailable',
      error: { word: 'provider_unavailable', message: `${busy.message} Nothing was sent.` }
    })
  }
  has(t, settlementOfFailure(new DispatchError('provider_unavailable', 'Gone.')), {
    outcome: 'unavailable',
    error: { word: 'provider_unavailable', message: 'Gone.' }
  })
  const { outcome, error } = settlementOfFailure(new Error('a secret')) as { outcome: string, error: object }
  t.equal(outcome, 'unavailable')
  has(t, error, { word: 'internal_error' })
  lacks(t, JSON.stringify(error), 'secret')
  t.end()
})

/** A database whose n-th call for a company is committed, and then answered with an error. */
function forgetful (database: Database, forgotten: number): Database {
  let count = 0
  return {
    ...database,
    async callFunction (...call) {
      const answer = await database.callFunction(...call)
      if (++count === forgotten) throw new Error('Connection terminated unexpectedly')
      return answer
    }
  }
}

const providers = await testProviders(t)
await providers.add('accepting', {}, accepts)
const service = await startService(t, { config: { providerDirectories: providers.directories } })
await service.send('PUT', '/api/v1/company/providers/accepting', { body: { settings: {} } })
await service.app.get('configurations').latest(2)
await service.app.get('templates').find(2, { id: 1 })
const dependencies = service.app.get('pipelineParts')

async function dispatchOn (replaced: Partial<typeof dependencies>, idempotencyKey?: string): Promise<string> {
  const actor = { userId: 2, companyId: 2, email: 'demo@example.com', role: 'admin', services: ['*'] } as const
  const pipeline = createPipeline({ ...dependencies, renderer: quickRenderer, ...replaced }, {
    prices: {},
    publicUrl: 'https://dispatch.example.com',
    synchronousLimit: 120
  })
  const { result } = await pipeline.dispatch({
    actor,
    services: ['invoicing'],
    body: invoiceRequest({ number: 'N-1' }, { providerName: 'accepting' }),
    requestId: '1',
    ...(idempotencyKey === undefined ? {} : { idempotencyKey })
  })
  return result.status
}

await t.test('a commit whose answer is lost is not taken for a failure, and not made twice', async (t) => {
  // The calls of a dispatch: it is recorded, its attempt is, its outcome is.
  const cases = [[2, 'failed', 100], [3, 'succeeded', 99]] as const
  for (const [forgotten, status, balance] of cases) {
    t.equal(await dispatchOn({ database: forgetful(dependencies.database, forgotten) }), status)
    has(t, (await service.send('GET', '/api/v1/credits')).body, { balance, held: 0 })
    has(t, (await service.send('GET', '/api/v1/dispatches?limit=1')).body.data, [{ status, creditsCharged: 100 - balance }])
  }
})

const away = (): Promise<never> => Promise.reject(new DatabaseUnavailable('away'))
const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

/** A clock that counts what is waited for. */
function countingClock () {
  const pauses: number[] = []
  let time = 0
  return {
    pauses,
    pass: (milliseconds: number) => time += milliseconds,
    now: () => time,
    pause (milliseconds: number) {
      pauses.push(milliseconds)
      time += milliseconds
      return Promise.resolve()
    }
  }
}

await t.test('the tries to record an outcome are made after pauses: 50 ms, then 250 ms', async (t) => {
  const { database } = dependencies
  const [silent, retryClock] = [new Set([3, 4]), countingClock()]
  let calls = 0
  // The dispatch and its attempt are recorded first.
  const callFunction: Database['callFunction'] = (...call) => silent.has(++calls) ? away() : database.callFunction(...call)
  t.equal(await dispatchOn({ database: { ...database, callFunction }, retryClock }), 'succeeded')
  t.same(retryClock.pauses, [50, 250])
})

await t.test('no try to record an outcome is begun after 15 s, where each of them takes long', async (t) => {
  const { database } = dependencies
  const retryClock = countingClock()
  let calls = 0
  const silent: Database['callFunction'] = async (...call) => {
    // The dispatch and its attempt are recorded.
    if (++calls <= 2) return database.callFunction(...call)
    retryClock.pass(8_000)
    throw new DatabaseUnavailable('away')
  }
  has(t, await failureOf(dispatchOn({ database: { ...database, callFunction: silent }, retryClock })), { word: 'outcome_unknown' })
  t.equal(calls - 2, 2, 'tries')
})

const goesOn = { word: 'timeout', dispatchId: String, cause: { name: 'DatabaseUnavailable' } }

await t.test('whose dispatch has begun is told that it goes on, not to send it again, when the database goes away under it', async (t) => {
  has(t, await failureOf(dispatchOn({ leases: { ...dependencies.leases, refresh: away } })), goesOn)

  // What was not sent is gone on with by the next request under its key, whose process then cannot read it.
  const renderer = { ...quickRenderer, render: () => Promise.reject(new Error('No paper.')) }
  t.equal(await dispatchOn({ renderer }, 'left'), 'failed')
  let reads = 0
  const { database } = dependencies
  const snapshot: Database['snapshot'] = (companyId, work) => ++reads === 1 ? database.snapshot(companyId, work) : away()
  has(t, await failureOf(dispatchOn({ database: { ...database, snapshot } }, 'left')), goesOn)
})

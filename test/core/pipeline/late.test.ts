import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { DispatchError } from '../../../core/packages/contract/errors.ts'
import type { Database } from '../../../core/packages/database/database.ts'
import { type OutcomeDependencies, recordLateOutcome } from '../../../core/pipeline/run/late-outcomes.ts'
import { createLeases } from '../../../core/pipeline/run/leases.ts'
import type { LateOutcome } from '../../../core/pipeline/run/outcome-spool.ts'

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined
} as unknown as OutcomeDependencies['log']

/** A database of which nothing can be asked. */
const broken = (error: Error): Database =>
  new Proxy({}, {
    get: () => () => {
      throw error
    }
  }) as Database

const late: LateOutcome = {
  companyId: 1,
  dispatchId: 'd',
  stepId: 's',
  runId: 'r',
  attempt: 1,
  actor: { kind: 'system' },
  settlement: { outcome: 'accepted', response: { id: '1', status: 'sent' } }
}

await t.test('an outcome that cannot be recorded is kept, whatever the reason', async (t) => {
  const reasons = [
    new DispatchError('conflict', 'Another run has it.'),
    new DispatchError('outcome_unknown', 'Nobody knows.'),
    new Error('relation "steps" does not exist')
  ]
  for (const why of reasons) {
    const kept: LateOutcome[] = []
    const dependencies = {
      log,
      database: broken(new Error('statement failed')),
      leases: {
        withLease: async (work: (lease: { runId: string, seconds: number }) => Promise<unknown>) =>
          await work({ runId: 'other', seconds: 15 })
      },
      outcomes: {
        keep: (outcome: LateOutcome) => {
          kept.push(outcome)
          return Promise.resolve()
        }
      }
    }
    await recordLateOutcome(dependencies as unknown as OutcomeDependencies, late, why)
    t.strictSame(kept, [late], why.message)
  }
})

await t.test('a lease that cannot be renewed is none, and no error', async (t) => {
  const leases = createLeases({
    database: broken(new Error('away')),
    newId: () => 'run',
    now: () => new Date(),
    log,
    times: { duration: 1.5, renewInterval: 60, margin: 0.5 }
  })
  t.teardown(() => leases.close())
  await leases.withLease(async ({ runId }) => {
    t.equal(await leases.refresh(runId), true, 'most of it is left')
    await pause(1_250)
    t.equal(await leases.refresh(runId), false)
  })
})

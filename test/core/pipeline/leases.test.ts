import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { onObservation } from '../../../core/packages/common/observations.ts'
import { openDatabase } from '../../../core/packages/database/database.ts'
import { createLeases } from '../../../core/pipeline/run/leases.ts'
import { memoryLog } from '../../fixtures/providers/call.ts'
import { seededDatabase } from '../../support/service.ts'

await t.test('a run whose lease is not renewed may not send any more, and that is told once', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: (error) => t.fail(error.message) })
  t.teardown(() => database.close())
  const times = { duration: 2, renewInterval: 0.05, margin: 0.5 }
  let id = 0
  const newId = (): string => `01960000-0000-7000-8000-00000000000${++id}`
  const leases = createLeases({ database, newId, now: () => new Date(), log: memoryLog(), times })
  t.teardown(leases.close)
  const reported: number[] = []
  t.teardown(onObservation('leasesLost', ({ runs }) => reported.push(runs)))
  // The database knows no such run: it answers every renewal, and renews nothing.
  await leases.withLease(async ({ runId }) => {
    t.ok(leases.isHeld(runId))
    t.ok(await leases.refresh(runId))
    while (leases.isHeld(runId)) await pause(10)
    t.notOk(await leases.refresh(runId))
    await pause(200)
    t.same(leases.heldRuns(), [runId])
  })
  await pause(10)
  t.same([reported, leases.heldRuns()], [[1], []])
})

await t.test('a lease is renewed before a call once less than half of its usable time is left', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: (error) => t.fail(error.message) })
  t.teardown(() => database.close())
  let time = Date.parse('2026-03-14T09:30:00Z')
  let renewals = 0
  const counted = {
    ...database,
    get vital () {
      renewals++
      return database.vital
    }
  }
  // Usable for 300 s; the test ends long before a second of the steady clock makes a difference.
  const times = { duration: 400, renewInterval: 1000, margin: 100 }
  const newId = (): string => '01960000-0000-7000-8000-000000000001'
  const leases = createLeases({ database: counted, newId, now: () => new Date(time), log: memoryLog(), times })
  t.teardown(leases.close)
  await leases.withLease(async ({ runId }) => {
    time += 140_000
    t.ok(await leases.refresh(runId))
    t.equal(renewals, 0, '160 s are left')
    time += 20_000
    t.ok(await leases.refresh(runId))
    t.ok(renewals > 0, '140 s are left')
  })
})

import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { stepStatuses } from '../../../../core/packages/contract/states.ts'
import { has } from '../../../support/matching.ts'
import { type Key, later, local, moment, openFunctions, system } from './support.ts'

const { database, call, stranger, opened, dispatch, steps, events, credits, everything } = await openFunctions(t)

const waiting = { run_id: undefined, lease_seconds: undefined }
const cancel = (key: Pick<Key, 'company_id' | 'dispatch_id'>): Promise<boolean> => call('cancel_dispatch', { ...key, actor: system })

await t.test('a dispatch that waits is cancelled, and holds nothing any more', async (t) => {
  const key = await opened({ ...waiting, steps: [{ price: 1, held: 1 }, { price: 2, held: 2 }, { deferred_on: 'esign.completed' }] })
  t.equal(await cancel(key), true)
  has(t, await dispatch(key), { status: 'cancelled', finished_at: moment, next_try_at: null })
  has(t, await steps(key), [{ status: 'planned', held: 0 }, { held: 0 }, { held: 0 }])
  t.same(await credits(key.company_id), [10, 0])
  t.same((await events(key)).at(-1), { kind: 'cancelled', step_id: null, actor: system, facts: {}, at: moment })
  const after = await everything(key)
  t.equal(await cancel(key), false, 'it is cancelled already')
  t.equal(await everything(key), after)
})

await t.test('a dispatch that has begun is not cancelled, nor one of another company', async (t) => {
  for (const status of stepStatuses) {
    for (const by of ['provider', 'nobody']) {
      const key = await opened(by === 'provider' ? waiting : { ...waiting, steps: [local] })
      await database.owner.updateTable('steps').set({ status }).where('step_id', '=', key.step_id).execute()
      const before = await everything(key)
      const begun = by === 'provider' && ['accepted', 'calling', 'uncertain'].includes(status)
      t.equal(await cancel(key), !begun, `${status} by ${by}`)
      if (begun) t.equal(await everything(key), before)
    }
  }
  const key = await opened(waiting)
  t.equal(await cancel({ ...key, company_id: stranger }), false)
  await database.owner.updateTable('dispatches').set({ run_id: randomUUIDv7(), leased_until: later(5) }).where('dispatch_id', '=',
    key.dispatch_id).execute()
  t.equal(await cancel(key), false, 'a run has it')
  t.equal(await cancel(await opened()), false, 'it is running')
})

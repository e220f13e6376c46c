import t from 'tap'
import { nowhere } from '../../../../test/fixtures/providers/call.ts'
import { has } from '../../../../test/support/matching.ts'
import { failureError, failureOf } from '../../vendor-io/outcome/failure.ts'
import type { TakeBack } from '../manifest/context.ts'
import type { Found } from '../manifest/definition.ts'
import { draftFirst } from '../manifest/draft.ts'

const accepted: Found = { found: 'accepted', response: { id: 'draft-1', status: 'sent' } }
const gone = (): Promise<Found> => Promise.reject(failureError({ code: 'missing', message: 'There is no such draft.', status: 404 }))

/** The verbs before a vendor whose draft is what `find` says, and what was done with it, in order. */
function begin (find: () => Promise<Found>, findUnrecorded?: () => Promise<Found>) {
  const done: string[] = []
  const takesBack: TakeBack[] = []
  const verbs = draftFirst({
    prepare: (request: string) => {
      done.push(`prepare ${request}`)
      return Promise.resolve('draft-2')
    },
    find: (draft) => {
      done.push(`find ${draft}`)
      return find()
    },
    issue: (draft, request) => {
      done.push(`issue ${draft} ${request}`)
      return Promise.resolve({ id: draft, status: 'sent' })
    },
    ...(findUnrecorded !== undefined && { findUnrecorded }),
    withdraw: (draft, request) => {
      done.push(`withdraw ${draft} ${request}`)
      return Promise.resolve()
    }
  })
  const contextOf = (checkpointed?: string) => ({
    checkpoint: (id: string) => {
      done.push(`checkpoint ${id}`)
      return Promise.resolve()
    },
    onRefusal: (takeBack: TakeBack) => {
      takesBack.push(takeBack)
    },
    ...(checkpointed !== undefined && { checkpointed })
  })
  return {
    done,
    takesBack,
    checkpoint: verbs.checkpoint,
    dispatch: async (checkpointed?: string) => await verbs.dispatch('letter', contextOf(checkpointed)),
    lookup: async (checkpoint?: string) =>
      await verbs.lookup({ reference: 'step-1', ...(checkpoint !== undefined && { checkpoint }) }, contextOf())
  }
}

await t.test('a draft is made, recorded, then issued', async (t) => {
  const { done, dispatch, checkpoint } = begin(gone)
  t.strictSame(await dispatch(), { id: 'draft-2', status: 'sent' })
  t.strictSame(done, ['prepare letter', 'checkpoint draft-2', 'issue draft-2 letter'])
  t.equal(checkpoint, true)
})

await t.test('a recorded draft that is still one is issued, and none is made', async (t) => {
  const { done, dispatch } = begin(() => Promise.resolve({ found: 'draft' }))
  t.strictSame(await dispatch('draft-1'), { id: 'draft-1', status: 'sent' })
  t.strictSame(done, ['find draft-1', 'checkpoint draft-1', 'issue draft-1 letter'])
})

await t.test('a recorded draft that is refused now is taken back; one that is made now says so itself', async (t) => {
  const { done, takesBack, dispatch } = begin(() => Promise.resolve({ found: 'draft' }))
  await dispatch('draft-1')
  t.equal(takesBack.length, 1)
  for (const takeBack of takesBack) await takeBack(nowhere().http)
  t.equal(done.at(-1), 'withdraw draft-1 letter')
  const fresh = begin(gone)
  await fresh.dispatch()
  t.strictSame(fresh.takesBack, [])
})

await t.test('what was issued before is the answer, and nothing is issued', async (t) => {
  const { done, dispatch } = begin(() => Promise.resolve(accepted))
  t.strictSame(await dispatch('draft-1'), { id: 'draft-1', status: 'sent' })
  t.strictSame(done, ['find draft-1'])
})

await t.test('what the vendor has rejected since stays rejected', async (t) => {
  const { done, dispatch } = begin(() => Promise.resolve({ found: 'rejected', code: 'NO', message: 'No.' }))
  has(t, failureOf(await dispatch('draft-1').catch((error: unknown) => error)), { code: 'NO', message: 'No.' })
  t.strictSame(done, ['find draft-1'])
})

await t.test('in place of a draft that is gone another one is made', async (t) => {
  for (const find of [gone, (): Promise<Found> => Promise.resolve({ found: 'absent' })]) {
    const { done, dispatch } = begin(find)
    t.strictSame(await dispatch('draft-1'), { id: 'draft-2', status: 'sent' })
    t.strictSame(done, ['find draft-1', 'prepare letter', 'checkpoint draft-2', 'issue draft-2 letter'])
  }
})

await t.test('while nobody knows what has become of a draft, none is made and none is issued', async (t) => {
  const failure = failureError({ word: 'provider_unavailable', message: 'The vendor is away.', status: 500 })
  const { done, dispatch, lookup } = begin(() => Promise.reject(failure))
  await t.rejects(dispatch('draft-1'), failure)
  await t.rejects(lookup('draft-1'), failure)
  t.strictSame(done, ['find draft-1', 'find draft-1'])
})

await t.test('a look-up', async (t) => {
  t.strictSame(await begin(() => Promise.resolve(accepted)).lookup('draft-1'), accepted)
  t.strictSame(await begin(gone).lookup('draft-1'), { found: 'absent' })
  t.strictSame(await begin(gone).lookup(), { found: 'absent' }, 'before a draft is recorded there is nothing')
  t.strictSame(await begin(gone, () => Promise.resolve(accepted)).lookup(), accepted, 'unless the vendor can be asked without')
  const { done, dispatch } = begin(gone, () => Promise.resolve(accepted))
  await dispatch()
  t.strictSame(done[0], 'prepare letter', 'which a dispatch does not ask')
})

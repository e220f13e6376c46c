import t from 'tap'
import { until } from '../core/work/support.ts'
import { has } from '../support/matching.ts'
import { deferredStage, mail, type Path, upload } from './support/deferred.ts'

const { app, archive, archived, begun, tell, becomes, lastStep, dispatch: read, timeline, callbacks, outbox } = await deferredStage(t)
const { owner } = app.get('database')
t.beforeEach(() => {
  archive('take')
})

const events: [path: Path, told: string[], on: string][] = [
  [['esign'], ['viewed'], 'esign.viewed'],
  [['esign'], ['declined'], 'esign.declined'],
  [['esign'], ['expired'], 'esign.expired'],
  [['esign'], ['cancelled'], 'esign.cancelled'],
  [['postal'], ['delivered'], 'postal.delivered'],
  [['postal'], ['printed', 'failed'], 'postal.failed'],
  [['invoicing', 'postal'], ['returned'], 'postal.returned']
]
for (const [path, reported, on] of events) {
  await t.test(`on ${on} of ${path.join('/')} nothing is signed: the document of the dispatch is archived and mailed`, async (t) => {
    const dispatchId = await begun(path, [mail(on, 'ada@example.com'), upload(on)])
    for (const status of reported) await tell(dispatchId, status)
    await becomes(dispatchId, 'done')
    await until('both are done', async () =>
      (await read(dispatchId)).steps.slice(path.length).every(({ deferredState }: { deferredState: string }) =>
        deferredState === 'done'
      ))
    const { generatedDocument } = (await read(dispatchId)).steps[0]
    t.strictSame(archived, [generatedDocument.sha256])
    has(t, (await outbox()).find(({ email }) => email?.subject === on), {
      email: { text: /^See https:\/\/dispatch\.example\.com\/d\// },
      attachments: [{ id: generatedDocument.id, sha256: generatedDocument.sha256 }]
    })
    t.notOk((await timeline(dispatchId)).some((entry) => entry.startsWith('fetched')), 'no vendor is asked for a signed one')
  })
}

await t.test('a document that is kept no more fails at once, and is told', async (t) => {
  const dispatchId = await begun(['esign'], [upload('esign.expired')])
  await owner.updateTable('documents').set({ expires_at: new Date(0) }).where('dispatch_id', '=', dispatchId).execute()
  await tell(dispatchId, 'expired')
  await becomes(dispatchId, 'failed')
  has(t, await lastStep(dispatchId), { status: 'rejected', nextTryAt: undefined, error: { error: 'document_expired' } })
  t.strictSame(await callbacks(dispatchId), ['esign.expired', 'deferred.failed'])
})

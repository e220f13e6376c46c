import t from 'tap'
import { forgetDispatches } from '../../core/store/dispatch/forgetting.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, startService } from '../support/service.ts'

await t.test('a dispatch that was forgotten is not found any more; its price and its number stay, and its key is free', async (t) => {
  const { app, send } = await startService(t, { replacements: { renderer: quickRenderer } })
  const database = app.get('database')
  const dispatch = () => send('POST', '/api/invoicing', { body: invoiceRequest(), headers: { 'x-idempotency-key': 'once' } })
  const { body: { dispatchId } } = await dispatch()
  const path = `/api/v1/dispatches/${dispatchId}`
  t.equal((await dispatch()).body.dispatchId, dispatchId)
  const { body: { data: [{ steps: [{ generatedDocument: { url } }] }] } } = await send('GET', '/api/v1/dispatches')
  const [credits, counts] = [await send('GET', '/api/v1/credits'), await send('GET', '/api/v1/dispatches/statistics')]
  has(t, credits.body.ledger, [{ dispatchId }, { kind: 'grant' }])
  has(t, counts.body.data, [{ service: 'invoicing', status: 'succeeded', count: 1 }])

  const before = new Date(Date.now() + 1_000)
  const forget = () => forgetDispatches(database, { dispatchRows: app.get('dispatchRows'), before, hopeless: before, limit: 1_000 })
  t.equal(await forget(), 0, 'its document is stored')
  await database.owner.updateTable('documents').set({ removed_at: new Date() }).execute()
  t.equal(await forget(), 1)
  for (const [method, of] of [['GET', path], ['GET', `${path}/events`], ['GET', `${path}/callbacks`], ['POST', `${path}/retry`]] as const) {
    has(t, await send(method, of, method === 'POST' ? { body: {} } : {}), { status: 404, body: { error: 'not_found' } }, of)
  }
  t.equal((await send('GET', new URL(url).pathname + new URL(url).search)).status, 404)
  t.same((await send('GET', '/api/v1/dispatches')).body.data, [])
  t.same((await send('GET', '/api/v1/credits')).body, credits.body)
  t.same((await send('GET', '/api/v1/dispatches/statistics')).body.data, counts.body.data)
  const again = await dispatch()
  t.equal(again.status, 200)
  t.not(again.body.dispatchId, dispatchId)
})

import t from 'tap'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, startService } from '../support/service.ts'

const service = await startService(t)

await t.test('an accepted invoice costs one credit and answers with the provider\'s id and the document', async (t) => {
  const { status, body, headers } = await service.send('POST', '/api/invoicing', {
    body: invoiceRequest({}, { metadata: { orderId: 'A-1' } })
  })
  t.equal(status, 200)
  has(t, body, { success: true, status: 'succeeded', service: 'invoicing', providerName: 'simulator', metadata: { orderId: 'A-1' } })
  t.ok(body.executionTime > 0)
  t.equal(headers.get('x-api-version'), '1.0.1')
  const credits = await service.send('GET', '/api/v1/credits')
  has(t, credits.body, { balance: 99, held: 0 })
})

await t.test('how long a dispatch took is told by the clock of the database alone', async (t) => {
  let looks = 0
  const start = Date.now()
  // The clock of the process is an hour off, and is set back by a second at each look.
  const now = (): Date => new Date(start - 3_600_000 - 1_000 * ++looks)
  const off = await startService(t, { replacements: { now, renderer: quickRenderer }, time: () => new Date() })
  const { status, body } = await off.send('POST', '/api/invoicing', { body: invoiceRequest() })
  t.equal(status, 200)
  const { body: { createdAt, finishedAt } } = await off.send('GET', `/api/v1/dispatches/${String(body.dispatchId)}`)
  t.equal(body.executionTime, (Date.parse(finishedAt) - Date.parse(createdAt)) / 1000)
  t.ok(Math.abs(Date.parse(finishedAt) - Date.now()) < 60_000)
})

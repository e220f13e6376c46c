import t from 'tap'
import { has } from '../support/matching.ts'
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

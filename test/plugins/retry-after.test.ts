import t from 'tap'
import { startService } from '../support/service.ts'
import { vendorOf } from '../support/vendor.ts'

const { vendor, network } = await vendorOf(t)
const service = await startService(t, { replacements: { network } })
const settings = { accountSid: `AC${'0'.repeat(32)}`, authToken: 'f'.repeat(32), from: '+33600000000' }
await service.send('PUT', '/api/v1/company/providers/twilio', { body: { settings } })

const dispatch = (query = '') =>
  service.send('POST', `/api/sms${query}`, { body: { providerName: 'twilio', sms: { phoneNumber: '+33612345678', message: 'Hello' } } })

await t.test('a 503 says when to come again: when the vendor says, else in 10 seconds', async (t) => {
  for (const [requested, reported] of [['40', '40'], [undefined, '10']] as const) {
    vendor.answer({
      status: 429,
      headers: requested === undefined ? {} : { 'retry-after': requested },
      json: { code: 20429, message: 'Too many requests' }
    })
    const { status, body, headers } = await dispatch()
    t.same([status, body.error, headers.get('retry-after')], [503, 'provider_unavailable', reported])
  }
})

await t.test('a dispatch that nobody waits for is not tried again before its vendor wants to be asked', async (t) => {
  vendor.answer({ status: 429, headers: { 'retry-after': '600' } })
  const begun = Date.now()
  const { body: { dispatchId } } = await dispatch('?async=true')
  let nextTryAt: string | undefined
  while (nextTryAt === undefined || Date.parse(nextTryAt) < begun + 1000) {
    ;({ body: { nextTryAt } } = await service.send('GET', `/api/v1/dispatches/${dispatchId}`))
  }
  t.ok(Date.parse(nextTryAt) >= begun + 600_000)
})

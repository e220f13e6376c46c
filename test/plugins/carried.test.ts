import t from 'tap'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, startService } from '../support/service.ts'

const { send } = await startService(t, { replacements: { renderer: quickRenderer } })
const settings = { secretKey: 'sk_test_0123456789', taxRates: [{ percent: 20, id: 'txr_20' }] }

type Warning = { path: string, code: string, message: string }

await t.test('validation warns of what our page would show, and the vendor\'s own invoice does not', async (t) => {
  t.equal((await send('PUT', '/api/v1/company/providers/stripe', { body: { settings, sandbox: true } })).status, 200)
  const given = {
    seller: { name: 'Northwind', city: 'Paris' },
    customer: { name: 'Ada Lovelace', email: 'ada@example.com', contact: 'Mr Babbage', addressLine2: 'Suite 500', region: 'IL' },
    lines: [{ name: 'Hosting plan L', description: 'as agreed', unit: 'MON', quantity: 2, unitPrice: 450, total: 900 }],
    buyerReference: 'Kitchen',
    orderReference: 'PO-9',
    bankDetails: { iban: 'FR7630006000011234567890189' },
    notes: 'Thanks'
  }
  const requested = async (more: Record<string, unknown> = {}) => {
    const { status, body } = await send('POST', '/api/invoicing/validate', {
      body: invoiceRequest(given, { providerName: 'stripe', ...more })
    })
    t.equal(status, 200, JSON.stringify(body))
    return (body.warnings as Warning[]).filter(({ code }) => code === 'not_carried')
  }
  const warnings = await requested()
  const placesOf = (found: readonly Warning[]): string[] => found.map(({ path }) => path.slice('/template/data/'.length)).sort()
  t.same(placesOf(warnings), ['bankDetails', 'buyerReference', 'customer/contact'],
    'the unit is not on our page either; the seller is that of the account')
  has(t, warnings, Array(3).fill({ message: 'The document is made by the provider "stripe", which does not get this field.' }))
  t.same(placesOf(await requested({ invoicing: { customerId: 'cus_1' } })), ['bankDetails', 'buyerReference'],
    'a customer at Stripe has an address there')
  t.same(await requested({ providerName: 'simulator' }), [], 'a provider that says nothing of it')
})

await t.test('validation warns of a field with which the provider does nothing, as it has declared', async (t) => {
  const requested = async (invoicing: Record<string, unknown>, providerName = 'stripe') => {
    const { status, body } = await send('POST', '/api/invoicing/validate', { body: invoiceRequest({}, { providerName, invoicing }) })
    t.equal(status, 200, JSON.stringify(body))
    return (body.warnings as Warning[]).filter(({ path }) => path.startsWith('/invoicing'))
  }
  t.same(await requested({ reference: 'PO-9' }), [{
    path: '/invoicing/reference',
    code: 'unused_field',
    message: 'The provider "stripe" does nothing with it. Stripe prints the "reference" of the data.'
  }])
  t.same(await requested({ customerId: 'cus_1' }), [], 'what it uses')
  t.same(await requested({ reference: 'PO-9' }, 'simulator'), [], 'a provider that ignores nothing')
})

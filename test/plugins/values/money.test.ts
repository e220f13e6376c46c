import t from 'tap'
import { extractText } from 'unpdf'
import { contains, has } from '../../support/matching.ts'
import { startService } from '../../support/service.ts'

const service = await startService(t)
const customer = { name: 'Ada Lovelace', address: '12 St James', city: 'London', postalCode: 'SW1A 1AA', country: 'GB' }
const base = { number: 'M-1', date: '2026-11-26', customer, currency: 'EUR', taxRate: 0, taxAmount: 0 }
const amounts = (currency: string, amount: number): object => ({
  ...base,
  currency,
  lines: [1, 2].map(() => ({ description: 'x', quantity: 1, unitPrice: amount, total: amount })),
  subtotal: 2 * amount,
  total: 2 * amount
})
const invoice = (data: object, path = ''): ReturnType<typeof service.send> =>
  service.send('POST', `/api/invoicing${path}`, { body: { documentType: 'INVOICE', template: { id: 1, data } } })

await t.test('amounts that the currency does not have are refused where they do not add up, else warned of', async (t) => {
  for (const [currency, amount] of [['JPY', 100.5], ['EUR', 10.005]] as const) {
    const finer = [0, 1].map((index) => ({ code: 'finer_than_currency', path: `/template/data/lines/${index}/total` }))
    const codes = [...finer, { code: 'subtotal', path: '/template/data/subtotal' }]
    has(t, await invoice(amounts(currency, amount)), { status: 422, body: { details: codes } })
  }
  const { status, body } = await invoice(amounts('EUR', 10.001), '/validate')
  t.equal(status, 200)
  contains(t, JSON.stringify(body.warnings), '10.001 has more decimals than EUR (2): it counts, and is printed, as 10.00.')
  has(t, await invoice(amounts('KWD', 10.005), '/validate'), { status: 200 })
})

await t.test('quantities and prices are printed in full by every service', async (t) => {
  for (const [quantity, unitPrice, total, shown] of [[0.3333, 300, 99.99, '0.3333'], [100_000, 0.000_12, 12, '0.00012']] as const) {
    const data = { ...base, lines: [{ description: 'x', quantity, unitPrice, total }], subtotal: total, total }
    const { body } = await service.send('POST', '/api/file', { body: { template: { id: 1, data } } })
    const file = await fetch(service.url + new URL(String(body.generatedDocument.url)).pathname)
    contains(t, (await extractText(new Uint8Array(await file.arrayBuffer()), { mergePages: true })).text, shown)
  }
})

await t.test('a line within the slack passes, and an allowance is a field that the invoice shows', async (t) => {
  const lines = [{ description: 'a', quantity: 10_111, unitPrice: 11.108_33, total: 112_316.34 }]
  has(t, await invoice({ ...base, lines, subtotal: 112_316.34, taxRate: 20, taxAmount: 22_463.27, total: 134_779.61 }, '/validate'), {
    status: 200
  })
  const { status, body } = await invoice({
    ...base,
    lines: [{ description: 'a', quantity: 1, unitPrice: 100, total: 100 }],
    allowances: [{ amount: 10, reason: 'Loyal customer', taxRate: 20 }],
    ...{ subtotal: 100, taxRate: 20, taxAmount: 18, total: 108 }
  }, '/validate')
  t.equal(status, 200, JSON.stringify(body))
  t.notOk(JSON.stringify(body.warnings ?? []).includes('unused_field'))
})

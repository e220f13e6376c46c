import t from 'tap'
import { contains } from '../../../../test/support/matching.ts'
import { shipped } from '../../../../test/templates/shipped.ts'
import { currencies, isCurrency, minorDigits } from '../../common/currencies.ts'
import { made } from '../../documents/test/support.ts'
import { eInvoiceCurrencies } from '../model/codes.ts'
import { pageDataOf } from '../write/write.ts'
import { plain, reported } from './support.ts'

void t.test('every currency that an e-invoice takes is one, and its page shows amounts in it', async (t) => {
  const { compiled } = await shipped('e-invoice')
  t.same([...eInvoiceCurrencies].filter((currency) => !isCurrency(currency)), [])
  for (const currency of eInvoiceCurrencies) {
    t.same(reported({ ...plain, currency }, 'FACTUR_X'), [], currency)
    t.doesNotThrow(() => compiled.resolve({ ...plain, currency }), currency)
  }
})

void t.test('amounts have the decimals of ISO 4217 on the page, as in the XML', async (t) => {
  const { compiled } = await shipped('invoice')
  for (const [currency, amount] of [
    ['IQD', '1,234.500'],
    ['PKR', '1,234.50'],
    ['HUF', '1,234.50'],
    ['JPY', '1,235'],
    ['CLF', '1,234.5000'],
    ['XAU', '1,234.50']
  ] as const) {
    const { text } = await made('html', compiled, {
      ...plain,
      currency,
      total: '1234.5',
      subtotal: '1234.5',
      lines: [{ description: 'x', quantity: 1, unitPrice: '1234.5', total: '1234.5' }]
    })
    contains(t, text, amount, currency)
  }
})

void t.test('an amount that the currency does not have is refused, and none is computed', (t) => {
  const yen = { ...plain, currency: 'JPY' }
  const line = { description: 'x', quantity: 3, unitPrice: '33.5', taxRate: 20 }
  for (const format of ['FACTUR_X', 'CII', 'UBL'] as const) {
    const given = reported({ ...yen, lines: [{ ...line, quantity: 1, unitPrice: '100.5', total: '100.5' }], prepaidAmount: '0.5' }, format)
    t.same(given.filter((rule) => rule.includes('BR-DEC')), ['BR-DEC-16 /prepaidAmount', 'BR-DEC-23 /lines/0/total'], format)
  }
  t.same(reported({ ...yen, lines: [line] }, 'FACTUR_X'), [])
  t.same(reported({ ...yen, lines: [{ ...line, total: 101 }] }, 'CII'), [])
  t.same(reported({ ...yen, lines: [line] }, 'UBL'), ['PEPPOL-EN16931-R120 /lines/0/total'], 'Peppol takes 100.50 alone')
  const page = pageDataOf({ ...yen, lines: [line, line], allowances: [{ percent: 5, reason: 'x', taxRate: 20 }] }, {
    format: 'FACTUR_X',
    currency: undefined
  })
  t.same([page['subtotal'], page['taxAmount'], page['total']], ['202.00', '38.00', '230.00'])
  t.end()
})

void t.test('the decimals of a currency are known, and two of what is none', (t) => {
  t.same([...currencies].map(minorDigits).filter((digits) => ![0, 2, 3, 4].includes(digits)), [])
  t.same(['EUR', 'JPY', 'KWD', 'CLF', 'UYI', '???'].map(minorDigits), [2, 0, 3, 4, 0, 2])
  t.same(['EUR', 'HRK', 'eur', 'XYZ', ''].map(isCurrency), [true, true, false, false, false])
  t.end()
})

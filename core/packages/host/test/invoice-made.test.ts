import t from 'tap'
import { contains } from '../../../../test/support/matching.ts'
import { compile } from '../../common/schema.ts'
import { countedLines, daysBetween, failureOf, invoiceOf, joined, type Json, type JsonObject, requireAsWanted, taxCodeOf, TaxCodes,
  Type } from '../provider.ts'

const lines = [{ description: 'Work', quantity: 3, unitPrice: '0.335', total: '1.01', taxRate: 20 }]
const invoice = (more: JsonObject = {}) => invoiceOf({ number: 'F-1', currency: 'EUR', lines, total: '1.21', ...more })
const vendor = 'Acme'

/** What a refusal or a doubt says. */
function saidOf (work: () => unknown): string {
  try {
    work()
  } catch (error) {
    return `${failureOf(error)?.code ?? 'in doubt'}: ${error instanceof Error ? error.message : ''}`
  }
  return 'nothing'
}

await t.test('lines are counted as the vendor counts them, or refused', (t) => {
  const counted = (more?: JsonObject) => countedLines(invoice(more), { vendor, quantity: 2, price: 3 })
  t.strictSame(counted().map(({ quantity, unitPrice }) => [quantity.toNumber(), unitPrice.toNumber()]), [[3, 0.335]])
  const coarse = countedLines(invoice(), { vendor, quantity: 2, price: 2 })
  t.strictSame(coarse.map(({ quantity, unitPrice }) => [quantity.toNumber(), unitPrice.toNumber()]), [[1, 1.01]])
  for (const total of ['1.20', '1.22']) t.equal(saidOf(() => counted({ total })), 'nothing', `${total} is within one cent`)
  const refusals: [Json, RegExp][] = [['1.19', /^total_differs/], ['1.23', /^total_differs/]]
  for (const [total, said] of refusals) contains(t, saidOf(() => counted({ total })), said)
  const dinars = { currency: 'KWD', lines: [{ ...lines[0]!, quantity: 1, unitPrice: '1.005', total: '1.005' }], total: '1.206' }
  contains(t, saidOf(() => countedLines(invoice(dinars), { vendor, quantity: 2, price: 2 })), /^too_fine: Acme keeps 2 .* 1\.005\.$/)
  t.equal(saidOf(() => counted(dinars)), 'nothing')
  contains(t, saidOf(() => counted({ prepaidAmount: 1 })), /^amount_due_differs: Acme has no field/)
  contains(t, saidOf(() => counted({ roundingAmount: '0.01' })), /^amount_due_differs/)
  t.end()
})

await t.test('a draft that was made otherwise is refused, and what is issued otherwise is in doubt', (t) => {
  const compare = (made: { total?: string | number, number?: string | null }, isDraft = true) =>
    saidOf(() => requireAsWanted({ ...made, isDraft }, invoice(), vendor))
  for (const made of [{}, { total: 1.21 }, { total: '1.2100', number: 'F-1' }, { number: null }]) t.equal(compare(made), 'nothing')
  contains(t, compare({ total: 1.2 }), /^made_otherwise: The total at Acme is 1.2, and that of the data is 1.21\.$/)
  contains(t, compare({ number: '' }), /^made_otherwise/)
  contains(t, compare({ total: 1.21, number: 'F-2' }), /^made_otherwise: The invoice has the number F-2 at Acme, and F-1 in the data\.$/)
  contains(t, compare({ number: 'F-2' }, false), /^in doubt: .*it is issued/)
  t.end()
})

await t.test('a tax has the code of the settings', (t) => {
  const codes = [{ percent: 20, code: 'V20' }, { percent: 5.5, code: 'V5' }, { percent: 0, code: 'NONE' }]
  const of = (taxRate: number) => taxCodeOf(codes, invoice({ lines: [{ ...lines[0]!, taxRate }] }).lines[0]!)
  t.strictSame([20, 5.5, 0].map(of), ['V20', 'V5', 'NONE'])
  contains(t, saidOf(() => of(10)), /^unknown_tax_rate: .* 10 %/)
  const fits = compile(Type.Object({ taxCodes: TaxCodes({ code: 'V20', words: 'codes', french: 'codes' }) }))
  t.ok(fits({ taxCodes: codes }).ok)
  for (const taxCodes of [[], [{ percent: 101, code: 'A' }], [{ percent: 1, code: 'a b' }], [{ percent: 1 }]]) {
    t.notOk(fits({ taxCodes }).ok)
  }
  t.end()
})

await t.test('days to pay are counted across months and leap days', (t) => {
  t.equal(daysBetween('2028-02-28', '2028-03-01'), 2)
  t.equal(daysBetween('2026-03-14', '2026-04-13'), 30)
  t.equal(daysBetween('2026-03-14', '2026-03-14'), 0)
  t.end()
})

await t.test('texts are joined, each once, and nothing comes of nothing', (t) => {
  t.equal(joined(', ', 'A', undefined, '', 'B', 'A'), 'A, B')
  t.equal(joined('\n', undefined, ''), undefined)
  t.end()
})

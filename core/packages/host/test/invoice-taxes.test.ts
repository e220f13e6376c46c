import t from 'tap'
import { Money } from '../../common/index.ts'
import { taxesOf } from '../manifest/invoice-taxes.ts'

const lines = (count: number, net: string, taxRate: number) =>
  Array.from({ length: count }, () => ({ net: new Money(net), taxRate: new Money(taxRate) }))
const taxes = (of: ReturnType<typeof lines>, total: string, currency = 'EUR'): string[] | undefined =>
  taxesOf(of, { total: new Money(total), currency })?.map((tax) => tax.toFixed())

await t.test('taxes come to the total, whichever way they were rounded', (t) => {
  t.same(taxes(lines(3, '0.12', 20), '0.42'), ['0.02', '0.02', '0.02'], 'those of each line')
  t.same(taxes(lines(3, '0.12', 20), '0.43'), ['0.03', '0.02', '0.02'], 'that of the whole')
  t.same(taxes([...lines(1, '0.13', 20), ...lines(2, '0.12', 20)], '0.44'), ['0.03', '0.02', '0.02'], 'the one that is nearest gets more')
  t.same(taxes([...lines(1, '5.00', 0), ...lines(1, '-1.00', 20)], '3.80'), ['0', '-0.2'], 'no tax where no rate is')
  t.same(taxes(lines(1, '999', 5.5), '1054', 'ISK'), ['55'], 'whole where the currency is')
  t.equal(taxes(lines(300, '0.12', 20), '43.20')?.length, 300)
  t.end()
})

await t.test('a total that no way of rounding makes has no taxes', (t) => {
  t.equal(taxes(lines(300, '0.12', 20), '46.19'), undefined, 'a cent for each line is no rounding')
  t.equal(taxes(lines(2, '10.00', 20), '24.02'), undefined)
  t.equal(taxes(lines(1, '10.00', 0), '10.01'), undefined, 'what has no tax has nothing to round')
  t.end()
})

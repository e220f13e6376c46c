import t from 'tap'
import { compile } from '../../common/schema.ts'
import { carriedFields, PaymentCollection, Type } from '../provider.ts'

const words = ['in English', 'en français'] as const

await t.test('a vendor that makes invoices carries lines, sums, and what it says beside them', (t) => {
  const carries = carriedFields({ fields: ['number', 'notes'], customer: ['name'], made: ['date'] })
  const placed = (pointer: string) =>
    carries.filter(({ at }) => at.includes(pointer)).map(({ when = {}, made = false }) => ({ when, made }))
  for (const pointer of ['/data/number', '/data/notes', '/data/lines/*/unitPrice', '/data/lines/*/allowances', '/data/total']) {
    t.strictSame(placed(pointer), [{ when: {}, made: false }], pointer)
  }
  for (const pointer of ['/data/seller', '/data/subtotal', '/data/lines/*/total', '/data/date']) {
    t.strictSame(placed(pointer), [{ when: {}, made: true }], pointer)
  }
  const unknown = { '/invoicing/customerId': false }
  t.strictSame(placed('/data/customer/name'), [{ when: unknown, made: false }], 'of a customer that is not known')
  t.strictSame(placed('/data/customer'), [{ when: { '/invoicing/customerId': Type.String() }, made: true }], 'of one that is')
  t.strictSame(placed('/data/customer/email'), [], 'no page names it')
  const none = carriedFields({ fields: [], customer: [] })
  t.notOk(none.at(-1)?.at.includes('/data/date'))
  t.ok(none.every(({ at }) => at.length > 0), 'a vendor that is only told known customers carries nothing of them')
  t.end()
})

await t.test('a payment that an invoice collects takes what the vendor has, and refuses the rest', (t) => {
  const linked = compile(PaymentCollection({ link: words, label: words, noBeneficiary: words }))
  const unlinked = compile(PaymentCollection({ noLink: words, label: words, maxLabel: 5, noBeneficiary: words }))
  t.ok(linked({}).ok)
  t.ok(linked({ includePaymentCollectionLink: true, paymentCollectionLabel: 'L'.repeat(140) }).ok)
  t.notOk(linked({ paymentCollectionLabel: 'L'.repeat(141) }).ok)
  t.ok(unlinked({ includePaymentCollectionLink: false, paymentCollectionLabel: 'Label' }).ok)
  t.notOk(unlinked({ includePaymentCollectionLink: true }).ok)
  t.notOk(unlinked({ paymentCollectionLabel: 'Labels' }).ok)
  for (const fits of [linked, unlinked]) {
    t.notOk(fits({ paymentCollectionLabel: '' }).ok)
    for (const name of ['ACME', '', '\n']) t.notOk(fits({ paymentCollectionBeneficiaryName: name }).ok, JSON.stringify(name))
  }
  const { includePaymentCollectionLink: link } = PaymentCollection({ noLink: words, label: words, noBeneficiary: words }).properties
  t.strictSame({ ...link }, { ...link, description: words[0], 'x-since': '1.0.1', const: false })
  t.end()
})

import t from 'tap'
import { Type } from 'typebox'
import { has } from '../../../../test/support/matching.ts'
import type { JsonObject } from '../../common/json.ts'
import { type Carried, uncarriedFields } from '../manifest/carries.ts'
import { deriveManifest } from '../manifest/derive.ts'

const carriesOf = (carries: readonly Carried[]) => {
  const invoicing = { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, carries, dispatch: () => undefined }
  return deriveManifest({ code: 'acme', name: 'Acme', settings: Type.Object({}), services: { invoicing } }, '1.0.0')
}
const left = (carries: readonly Carried[], data: JsonObject, unshown: readonly string[] = [], customerId?: string): string[] => {
  const fit = carriesOf(carries)
  if (!fit.ok) throw new Error(JSON.stringify(fit.problems))
  const invoicing = { documentType: 'INVOICE', ...(customerId !== undefined && { customerId }) }
  return uncarriedFields(fit.value.services.invoicing?.carries ?? [], { invoicing, data }, unshown)
}

await t.test('what is given and not carried is told once, at its outermost place', (t) => {
  const carries = [{ at: ['/data/number', '/data/customer/name', '/data/lines/*/description'] }, {
    at: ['/data/seller'],
    made: true as const
  }]
  t.same(left(carries, {
    number: 'F-1',
    customer: { name: 'Ada', region: 'IL' },
    seller: { name: 'Acme', city: 'Paris' },
    lines: [{ description: 'x' }, { description: 'y', unit: 'HUR' }, { description: 'z', unit: 'DAY' }],
    bankDetails: { iban: 'X', bic: 'Y' }
  }), ['/customer/region', '/lines/1/unit', '/bankDetails'])
  t.same(left(carries, { number: 'F-1', notes: '', draft: false, taxes: [], period: null, delivery: {} }), [], 'nothing is given')
  t.same(left(carries, { notes: 'Thanks', bankDetails: { iban: 'X' }, customer: { region: 'IL' } }, ['/notes', '/customer']), [
    '/bankDetails'
  ], 'what our page does not show either is not missed')
  t.end()
})

await t.test('a condition holds for what is carried; false: no value stands there', (t) => {
  const carries: Carried[] = [
    { at: ['/data/customer/name', '/data/customer/city'], when: { '/invoicing/customerId': false } },
    { at: ['/data/customer'], when: { '/invoicing/customerId': Type.String() }, made: true },
    { at: ['/data/customer/name'] }
  ]
  t.same(left(carries, { customer: { name: 'Ada', city: 'London', region: 'IL' } }), ['/customer/region'])
  t.same(left(carries, { customer: { name: 'Ada', city: 'London', region: 'IL' } }, [], 'cus_1'), [], 'a place stands for all below it')
  t.same(left([{ at: ['/data/number'], when: { '/invoicing/documentType': Type.Literal('QUOTE') } }], { number: 'F-1' }), ['/number'])
  t.end()
})

await t.test('a manifest whose places are none, or whose conditions are no schemas, is refused', (t) => {
  has(t, carriesOf([{ at: ['/invoicing/reference'] }]), { ok: false, problems: [{ path: '/services/invoicing/carries/0/at/0' }] })
  has(t, carriesOf([{ at: ['/data/number'], when: { '/invoicing/documentType': Type.Unsafe({ type: 'nothing' }) } }]), {
    ok: false,
    problems: [{ code: 'schema' }]
  })
  t.end()
})

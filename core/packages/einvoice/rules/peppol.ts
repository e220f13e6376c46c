import { memoizeByIdentity } from '@dispatch/common'
import { type Form, forms } from '../model/check-digits.ts'
import { germanTypes, peppolAddressSchemes, peppolTypes } from '../model/codes.ts'
import type { EInvoiceModel, Identifier, Period } from '../model/model.ts'
import { allAdjustments, type EInvoiceRule, parties, rule, ruleOfEach, ruleOfLines } from './rule.ts'

/** Exemption codes that belong to one category (P0104 to P0111). */
const codesOfCategories = [
  ['P0104', 'VATEX-EU-G', 'G'],
  ['P0105', 'VATEX-EU-O', 'O'],
  ['P0106', 'VATEX-EU-IC', 'K'],
  ['P0107', 'VATEX-EU-AE', 'AE'],
  ['P0108', 'VATEX-EU-D', 'E'],
  ['P0109', 'VATEX-EU-F', 'E'],
  ['P0110', 'VATEX-EU-I', 'E'],
  ['P0111', 'VATEX-EU-J', 'E']
] as const

/** What Peppol BIS Billing 3.0 and XRechnung both require beyond EN 16931. */
export const sharedRules: readonly EInvoiceRule[] = [
  rule('PEPPOL-EN16931-R010', '/customer/electronicAddress',
    'The customer has an electronic address (BT-49), or a registration or VAT number from which one can be derived.',
    ({ invoice }) => invoice.customer.electronicAddress !== undefined),
  rule('PEPPOL-EN16931-R020', '/seller/electronicAddress',
    'The seller has an electronic address (BT-34), or a registration or VAT number from which one can be derived.',
    ({ invoice }) => invoice.seller.electronicAddress !== undefined),
  ruleOfEach('PEPPOL-EN16931-R042', 'A base amount needs a percentage.', ({ invoice }) => allAdjustments(invoice),
    ({ at }) => `${at}/percent`, ({ base, percent }) => base === undefined || percent !== undefined),
  rule('PEPPOL-EN16931-R061', '/payment/mandate/reference', 'A direct debit (49, 59) has the reference of its mandate (BT-89).',
    ({ invoice: { payment } }) =>
      payment === undefined || !['49', '59'].includes(payment.means) || payment.mandate?.reference !== undefined),
  ruleOfLines('PEPPOL-EN16931-R110', '/period/start', 'A line\'s period starts within the invoice\'s.',
    ({ period }, { invoice }) => isOrdered(invoice.period, period, 'start')),
  ruleOfLines('PEPPOL-EN16931-R111', '/period/end', 'A line\'s period ends within the invoice\'s.',
    ({ period }, { invoice }) => isOrdered(period, invoice.period, 'end'))
]

/** The requirements of Peppol BIS Billing 3.0 alone. */
export const peppolRules: readonly EInvoiceRule[] = [
  rule('PEPPOL-EN16931-R003', '/buyerReference',
    'A buyerReference or an orderReference is required: the customer routes the invoice by it.',
    ({ invoice: { references: { buyer, order, salesOrder } } }) => (buyer ?? order ?? salesOrder) !== undefined),
  rule('PEPPOL-EN16931-P0100', '/type',
    'Peppol accepts invoices of the types 380, 382, 383, 386, 388, 393 … and credit notes of the types 381, 396 …; other types, such as ' +
      '389 (self-billed), need another eInvoiceProfile.', ({ invoice }) => peppolTypes.has(invoice.type)),
  rule('PEPPOL-EN16931-P0112', '/type',
    'Peppol accepts the types 326 and 384 only between German companies; write 380 (or 381) and name the invoice in precedingInvoices.',
    ({ invoice: { type, seller, customer } }) =>
      !germanTypes.has(type) || [seller, customer].every(({ address }) => address.country === 'DE')),
  ruleOfEach('PEPPOL-EN16931-CL008', 'The scheme of an electronic address is one of those to which Peppol delivers.', parties,
    ({ at }) => `${at}/electronicAddress/scheme`,
    ({ party: { electronicAddress: given } }) => given?.scheme === undefined || peppolAddressSchemes.has(given.scheme)),
  ...codesOfCategories.map(([number, code, category]) =>
    rule(`PEPPOL-EN16931-${number}`, '/taxExemptionCode', `${code} is for the category ${category}.`, ({ invoice }) =>
      Object.entries(invoice.exemptions).every(([used, exemption]) => exemption?.code !== code || used === category))
  ),
  ...formRules(({ isAdvice }) => isAdvice !== true)
]

/** What Peppol BIS Billing 3.0 only warns of. */
export const peppolAdvice: readonly EInvoiceRule[] = formRules(({ isAdvice }) => isAdvice === true)

/** The forms of identifiers, of those that are chosen. */
function formRules (chosen: (form: Form) => boolean): EInvoiceRule[] {
  return Object.entries(forms).filter(([, form]) => chosen(form)).map(([scheme, { rule: id, message, holds }]) =>
    ruleOfEach(id, message, ({ invoice }) => identifiers(invoice).filter(({ given }) => given.scheme === scheme), ({ at }) => at,
      ({ given }) => holds(given.id))
  )
}

/** Whether the first date is not after the second one, if both are known. */
function isOrdered (early: Period | undefined, late: Period | undefined, edge: 'start' | 'end'): boolean {
  const [first, second] = [early?.[edge], late?.[edge]]
  return first === undefined || second === undefined || first <= second
}

const identifiers = memoizeByIdentity((invoice: EInvoiceModel): { given: Identifier, at: string }[] => {
  const { payee } = invoice
  const all = [
    ...parties({ invoice }).flatMap(({ party, at }) => [
      { given: party.electronicAddress, at: `${at}/electronicAddress/id` },
      ...party.ids.map((given) => ({ given, at: `${at}${given.at}/id` })),
      { given: party.registration, at: `${at}/registration/id` }
    ]),
    { given: payee?.id, at: '/payee/id/id' },
    { given: payee?.registration, at: '/payee/registration/id' }
  ]
  return all.flatMap(({ given, at }) => given === undefined ? [] : [{ given, at }])
})

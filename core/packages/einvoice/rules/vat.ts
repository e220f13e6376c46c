import { type Decimal, memoizeByIdentity, Money } from '@dispatch/common'
import { listField } from '../model/fields.ts'
import type { EInvoiceModel, Tax, Text } from '../model/model.ts'
import { profiles, reaches } from '../model/profiles.ts'
import { exemptionOf } from '../read/read.ts'
import { type EInvoiceRule, notInProfiles, only, rule, type RuleInput, ruleOfEach } from './rule.ts'

type Rate = 'above 0' | '0 or above' | '0' | 'none'

/**
 * The requirements of a VAT category. `family` is the prefix of its rule ids, which are numbered in the same way for all categories (EN
 * 16931-1, 6.4.3).
 */
type Category = {
  code: string
  family: string
  name: string
  rate: Rate
  /** A further requirement of CII: its validators do not accept a rate of 0 here. */
  inCii?: Partial<Record<Taxed['number'], Rate>>
  seller: 'VAT or tax number' | 'VAT number' | 'no VAT number'
  customer?: 'VAT number' | 'VAT number or registration' | 'no VAT number'
  reason: 'needed' | 'none'
}

const categories: readonly Category[] = [
  { code: 'S', family: 'BR-S', name: 'standard rate', rate: 'above 0', seller: 'VAT or tax number', reason: 'none' },
  { code: 'Z', family: 'BR-Z', name: 'zero rate', rate: '0', seller: 'VAT or tax number', reason: 'none' },
  { code: 'E', family: 'BR-E', name: 'exempt', rate: '0', seller: 'VAT or tax number', reason: 'needed' },
  {
    code: 'AE',
    family: 'BR-AE',
    name: 'reverse charge',
    rate: '0',
    seller: 'VAT or tax number',
    customer: 'VAT number or registration',
    reason: 'needed'
  },
  { code: 'K', family: 'BR-IC', name: 'supply inside the EU', rate: '0', seller: 'VAT number', customer: 'VAT number', reason: 'needed' },
  { code: 'G', family: 'BR-G', name: 'export', rate: '0', seller: 'VAT number', reason: 'needed' },
  { code: 'O', family: 'BR-O', name: 'outside of VAT', rate: 'none', seller: 'no VAT number', customer: 'no VAT number', reason: 'needed' },
  {
    code: 'L',
    family: 'BR-AF',
    name: 'IGIC',
    rate: '0 or above',
    inCii: { '05': 'above 0', '06': 'above 0', '07': 'above 0' },
    seller: 'VAT or tax number',
    reason: 'none'
  },
  {
    code: 'M',
    family: 'BR-AG',
    name: 'IPSI',
    rate: '0 or above',
    inCii: { '06': 'above 0', '07': 'above 0' },
    seller: 'VAT or tax number',
    reason: 'none'
  }
]

/** Something with a VAT category; `number` is that of the rule about its rate. */
type Taxed = { tax: Tax, at: string, number: '05' | '06' | '07' }

const taxed = memoizeByIdentity(({ lines, adjustments }: EInvoiceModel): readonly Taxed[] => [
  ...lines.map(({ tax, at }) => ({ tax, at, number: '05' as const })),
  ...adjustments.map(({ tax, at, kind }) => ({ tax, at, number: kind === 'allowance' ? '06' as const : '07' as const }))
])

const byCategory = memoizeByIdentity((invoice: EInvoiceModel) => Map.groupBy(taxed(invoice), ({ tax }) => tax.category))

/** What has a category. */
function partsIn (invoice: EInvoiceModel, code: string): readonly Taxed[] {
  return byCategory(invoice).get(code) ?? []
}

/**
 * Whether an invoice has something in a category that it says: the page of a Factur-X says everything, and a profile without lines the
 * categories of allowances and charges alone.
 */
function says ({ invoice, format }: RuleInput, code: string): boolean {
  const { level } = profiles[invoice.profile]
  if (format === 'FACTUR_X') return uses(invoice, code)
  if (!reaches(level, 'BASIC_WL')) return false
  return partsIn(invoice, code).some(({ number }) => number !== '05' || reaches(level, 'BASIC'))
}

/** They let the seller of what is outside of VAT (O) have a VAT number, and other categories stand beside it. */
const extended = ['EXTENDED', 'EXTENDED_CTC_FR'] as const

/** The lowest rate above 0. */
const least = new Money('0.5')

/**
 * The rules of each category (BR-S-*, BR-Z-*, BR-E-*, BR-AE-*, BR-IC-*, BR-G-*, BR-O-*, BR-AF-*, BR-AG-*). The sums of the groups (-08,
 * -09) are computed here.
 */
export const vatRules: readonly EInvoiceRule[] = [
  ...categories.flatMap(rulesOf),
  rule('BR-B-01', '/taxCategory', 'Split payment (B) is for invoices inside Italy: every country in them is IT.',
    ({ invoice }) => !uses(invoice, 'B') || countriesOf(invoice).every((country) => country === undefined || country === 'IT')),
  ruleOfEach('BR-B-02', 'An invoice with split payment (B) has nothing at the standard rate (S).',
    ({ invoice }) => uses(invoice, 'B') ? taxed(invoice) : [], ({ at }) => `${at}/taxCategory`, ({ tax }) => tax.category !== 'S'),
  ...only(['FACTUR_X'], [
    ruleOfEach('BR-CL-18', 'Factur-X does not support split payment (B); UBL and CII do.', ({ invoice }) => taxed(invoice),
      ({ at }) => `${at}/taxCategory`, ({ tax }) => tax.category !== 'B')
  ]),
  ruleOfEach('BR-48', 'Split payment (B) has a rate (BT-119).', ({ invoice }) => partsIn(invoice, 'B'), ({ at }) => `${at}/taxRate`,
    ({ tax }) => tax.rate !== undefined),
  rule('BR-IC-11', '/delivery/date', 'A supply inside the EU (K) says when it was delivered, or its period (BT-72, BG-14).',
    ({ invoice }) => !uses(invoice, 'K') || invoice.delivery?.date !== undefined || invoice.period !== undefined),
  rule('BR-IC-12', '/delivery/country', 'A supply inside the EU (K) says the country that it was delivered to (BT-80).',
    ({ invoice }) => !uses(invoice, 'K') || invoice.delivery?.address.country !== undefined),
  ruleOfEach('BR-CO-17', 'A rate is 0, or at least 0.5: the validators of EN 16931 treat a rate that rounds to 0 as missing.',
    ({ invoice }) => taxed(invoice), ({ at }) => `${at}/taxRate`,
    ({ tax: { rate } }) => rate === undefined || rate.isZero() || rate.gte(least)),
  ...notInProfiles(extended, [
    ruleOfEach('BR-O-12', 'An invoice with something outside of VAT (O) has nothing else.',
      ({ invoice }) => uses(invoice, 'O') ? taxed(invoice) : [], ({ at }) => `${at}/taxCategory`,
      ({ tax }) => tax.category === 'O' || tax.category === '')
  ])
]

function countriesOf ({ seller, customer, taxRepresentative, delivery, lines }: EInvoiceModel): Text[] {
  return [
    seller.address.country,
    customer.address.country,
    taxRepresentative?.address.country,
    delivery?.address.country,
    ...lines.map(({ origin }) => origin)
  ]
}

function uses (invoice: EInvoiceModel, code: string): boolean {
  return byCategory(invoice).has(code)
}

function rulesOf (category: Category): EInvoiceRule[] {
  const { code, family, name, seller, customer, reason } = category
  const id = (number: string): string => `${family}-${number}`
  const said = `${code} (${name})`
  return [
    ...(['05', '06', '07'] as const).flatMap((number) => rateRules(category, number)),
    ...notInProfiles(code === 'O' ? extended : [], [
      rule(id('02'), '/seller/vatId', `With ${said} the seller has ` +
        `${
          seller === 'no VAT number' ? 'no VAT number, nor has a tax representative' : `a ${seller}, or a tax representative who has one`
        }.`, (subject) => !says(subject, code) || sellerHas(subject.invoice, seller)),
      ...customer === undefined
        ? []
        : [
          rule(id('02'), '/customer/vatId', `With ${said} the customer has ${customer === 'no VAT number' ? '' : 'a '}${customer}.`,
            (subject) => !says(subject, code) || customerHas(subject.invoice, customer))
        ]
    ]),
    ...reason === 'needed' ? [reasonNeeded(category), oneReason(category)] : [noReason(category)]
  ]
}

function rateRules ({ code, family, name, rate, inCii }: Category, number: Taxed['number']): EInvoiceRule[] {
  const rateIs = (desired: Rate): EInvoiceRule =>
    ruleOfEach(`${family}-${number}`, `The rate of ${code} (${name}) is ${desired === 'none' ? 'left out' : desired}.`, ({ invoice }) =>
      partsIn(invoice, code).filter((part) => part.number === number), ({ at }) => `${at}/taxRate`, ({ tax }) =>
      isRate(tax.rate, desired))
  return [...only(['UBL'], [rateIs(rate)]), ...only(['CII', 'FACTUR_X'], [rateIs(inCii?.[number] ?? rate)])]
}

function isRate (rate: Decimal | undefined, desired: Rate): boolean {
  if (desired === 'none') return rate === undefined
  if (desired === '0') return rate?.isZero() === true
  return rate !== undefined && (desired === 'above 0' ? rate.gt(0) : rate.gte(0))
}

function sellerHas ({ seller, taxRepresentative }: EInvoiceModel, desired: Category['seller']): boolean {
  const vatId = seller.vatId ?? taxRepresentative?.vatId
  if (desired === 'no VAT number') return vatId === undefined
  return vatId !== undefined || (desired === 'VAT or tax number' && seller.taxId !== undefined)
}

function customerHas ({ customer }: EInvoiceModel, desired: Category['customer']): boolean {
  if (desired === 'no VAT number') return customer.vatId === undefined
  return customer.vatId !== undefined || (desired === 'VAT number or registration' && customer.registration !== undefined)
}

function reasonNeeded ({ code, family, name }: Category): EInvoiceRule {
  return ruleOfEach(`${family}-10`, `With ${code} (${name}) the invoice says why: taxExemptionReason or taxExemptionCode (BT-120, BT-121).`,
    ({ invoice }) => invoice.exemptions[code] === undefined ? partsIn(invoice, code).slice(0, 1) : [],
    ({ at }) => `${at}/taxExemptionReason`, () => false)
}

function noReason ({ code, family, name }: Category): EInvoiceRule {
  return ruleOfEach(`${family}-10`, `With ${code} (${name}) there is no reason for an exemption.`, (subject) => withReason(subject, code),
    ({ at }) => `${at}/taxExemptionReason`, () => false)
}

/** Everything in one category is in one group, which has one reason. */
function oneReason ({ code, family, name }: Category): EInvoiceRule {
  return ruleOfEach(`${family}-01`, `All that is ${code} (${name}) has the same reason: an invoice has one for each category.`,
    (subject) => {
      const [first, ...others] = withReason(subject, code)
      return others.filter(({ reason }) => reason !== first?.reason)
    }, ({ at }) => `${at}/taxExemptionReason`, () => false)
}

/** The parts of a category that give their own reason. */
function withReason ({ data, invoice }: RuleInput, code: string): { at: string, reason: string }[] {
  if (!uses(invoice, code)) return []
  const given = [...listField(data, 'lines'), ...listField(data, 'allowances'), ...listField(data, 'charges')]
  return taxed(invoice).flatMap(({ tax, at }, index) => {
    const exemption = tax.category === code ? exemptionOf(given[index] ?? {}) : undefined
    return exemption === undefined ? [] : [{ at, reason: `${exemption.code ?? ''} ${exemption.reason ?? ''}` }]
  })
}

/** The prefix of the rules of a category, such as BR-IC for K. */
export function familyOf (category: string): string {
  return categories.find(({ code }) => code === category)?.family ?? `BR-${category}`
}

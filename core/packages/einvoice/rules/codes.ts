import { referenceTypes } from '../model/codes-references.ts'
import { units } from '../model/codes-units.ts'
import { addressSchemes, allowanceReasons, chargeReasons, documentTypes, eInvoiceCurrencies, exemptionCodes, itemLists, noteSubjects,
  paymentMeans, registers } from '../model/codes.ts'
import { listField } from '../model/fields.ts'
import { ublNotes } from '../model/ubl-texts.ts'
import { exemptionOf } from '../read/read.ts'
import { countriesIn, type EInvoiceRule, only, parties, rule, type RuleInput, ruleOfAdjustments, ruleOfEach, ruleOfLines } from './rule.ts'

/** Each code must be in its list (BR-CL-*). */
export const codeRules: readonly EInvoiceRule[] = [
  rule('BR-CL-01', '/type', 'The type is a code of UNTDID 1001 for invoices and credit notes, such as 380 or 381 (BT-3).',
    ({ invoice }) => documentTypes.has(invoice.type)),
  rule('BR-CL-04', '/currency', 'The currency is a code of ISO 4217, such as EUR (BT-5).',
    ({ invoice: { currency } }) => currency === '' || eInvoiceCurrencies.has(currency)),
  rule('BR-CL-05', '/taxCurrency', 'The currency of VAT accounting is a code of ISO 4217, such as EUR (BT-6).',
    ({ invoice }) => isIn(eInvoiceCurrencies, invoice.taxCurrency)),
  rule('BR-CL-07', '/object/scheme', 'The scheme of the invoiced object is a code of UNTDID 1153, such as AAA (BT-18).',
    ({ invoice }) => isIn(referenceTypes, invoice.references.object?.scheme)),
  ruleOfLines('BR-CL-07', '/object/scheme', 'The scheme of the invoiced object is a code of UNTDID 1153, such as AAA (BT-128).',
    ({ object }) => isIn(referenceTypes, object?.scheme)),
  ruleOfEach('BR-CL-08', 'The subject of a statement is a code of UNTDID 4451, such as PMT (BT-21).',
    ({ data }) => listField(data, 'statements').map(({ code }, index) => ({ code, index })), ({ index }) => `/statements/${index}/code`,
    ({ code }) => isIn(noteSubjects, code)),
  ruleOfEach('BR-CL-10',
    'The scheme of an id is a code of ISO 6523, such as 0088 for a GLN; an id without a scheme is only a number (BT-29, BT-46, BT-60).',
    ids, ({ at }) => `${at}/scheme`, ({ scheme }) => isIn(registers, scheme)),
  ruleOfEach('BR-CL-11', 'The scheme of a registration is a code of ISO 6523, such as 0002 for a SIREN (BT-30, BT-47, BT-61).',
    registrations, ({ at }) => `${at}/registration/scheme`, ({ scheme }) => isIn(registers, scheme)),
  ruleOfLines('BR-CL-13', '/classifications', 'The list of a classification is a code of UNTDID 7143, such as STI (BT-158).',
    ({ classifications }) => classifications.every(({ list }) => itemLists.has(list))),
  ruleOfEach('BR-CL-14', 'A country is a code of ISO 3166-1, such as FR, or GB for the United Kingdom.', countries,
    ({ at }) => `${at}/country`, ({ country }, { format }) => isIn(countriesIn(format), country)),
  ruleOfLines('BR-CL-15', '/origin', 'A country of origin is a code of ISO 3166-1, such as FR, or GB for the United Kingdom (BT-159).',
    ({ origin }, { format }) => isIn(countriesIn(format), origin)),
  rule('BR-CL-16', '/payment/means', 'The means of payment is a code of UNTDID 4461, such as 58 (BT-81).',
    ({ invoice }) => isIn(paymentMeans, invoice.payment?.means)),
  ruleOfEach('BR-CL-16', 'The means of payment is a code of UNTDID 4461, such as 58 (BT-81).',
    ({ invoice }) => invoice.otherPayments.map(({ means }, index) => ({ means, index })), ({ index }) => `/otherPayments/${index}/means`,
    ({ means }) => means === '' || isIn(paymentMeans, means)),
  ...(['invoice', 'lines'] as const).flatMap((of) => [
    ruleOfAdjustments('BR-CL-19', of, 'allowance', '/reasonCode',
      'The reason of an allowance is a code of UNTDID 5189, such as 95 for a discount.',
      ({ reasonCode }) => isIn(allowanceReasons, reasonCode)),
    ruleOfAdjustments('BR-CL-20', of, 'charge', '/reasonCode', 'The reason of a charge is a code of UNTDID 7161, such as FC for freight.',
      ({ reasonCode }) => isIn(chargeReasons, reasonCode))
  ]),
  ruleOfLines('BR-CL-21', '/standardItemId/scheme',
    'The scheme of a standard identifier is a code of ISO 6523, such as 0160 for a GTIN (BT-157).',
    ({ standardItemId }) => isIn(registers, standardItemId?.scheme)),
  ruleOfEach('BR-CL-22', 'The code of an exemption is a VATEX code, such as VATEX-EU-132 (BT-121).', exemptions,
    ({ at }) => `${at}/taxExemptionCode`, ({ code }) => isIn(exemptionCodes, code)),
  ruleOfLines('BR-CL-23', '/unit',
    'A unit is a code of UN/ECE Recommendation 20, such as C62 for pieces, HUR for hours, KGM for kilograms (BT-130).',
    ({ unit }) => units.has(unit)),
  ruleOfEach('BR-CL-25', 'The scheme of an electronic address is a code of the EAS list, such as 0088 or 0225 (BT-34, BT-49).', parties,
    ({ at }) => `${at}/electronicAddress/scheme`, ({ party }) => isIn(addressSchemes, party.electronicAddress?.scheme)),
  rule('BR-CL-26', '/delivery/location/scheme', 'The scheme of a place of delivery is a code of ISO 6523, such as 0088 for a GLN (BT-71).',
    ({ invoice }) => isIn(registers, invoice.delivery?.location?.scheme)),
  ...only(['UBL'], [
    rule('BR-CL-08', '/notes', 'The first word of a note between two number signs is a code of UNTDID 4451; replace the number signs.',
      ({ invoice }) =>
        ublNotes(invoice).every((note) => {
          const [first, word = ''] = /#([^#]*)#/.exec(note) ?? []
          return word.length !== 3 || (note.startsWith(first ?? '') && invoice.notes.some(({ code }) => code === word))
        }))
  ])
]

function isIn (list: ReadonlySet<string>, code: unknown): boolean {
  return code === undefined || (typeof code === 'string' && list.has(code))
}

type Scheme = { scheme: string | undefined, at: string }

function ids ({ invoice: { seller, customer, payee } }: RuleInput): Scheme[] {
  return [
    ...seller.ids.map(({ scheme, at }) => ({ scheme, at: `/seller${at}` })),
    ...customer.ids.map(({ scheme, at }) => ({ scheme, at: `/customer${at}` })),
    { scheme: payee?.id?.scheme, at: '/payee/id' }
  ]
}

function registrations ({ invoice: { seller, customer, payee } }: RuleInput): Scheme[] {
  return [
    { scheme: seller.registration?.scheme, at: '/seller' },
    { scheme: customer.registration?.scheme, at: '/customer' },
    { scheme: payee?.registration?.scheme, at: '/payee' }
  ]
}

function countries ({ invoice: { seller, customer, taxRepresentative, delivery } }: RuleInput): {
  country: string | undefined
  at: string
}[] {
  return [
    { country: seller.address.country, at: '/seller' },
    { country: customer.address.country, at: '/customer' },
    { country: taxRepresentative?.address.country, at: '/taxRepresentative' },
    { country: delivery?.address.country, at: '/delivery' }
  ]
}

function exemptions ({ data }: RuleInput): { code: string | undefined, at: string }[] {
  const lists = ['lines', 'allowances', 'charges'].flatMap((list) =>
    listField(data, list).map((given, index) => ({ given, at: `/${list}/${index}` }))
  )
  return [{ given: data, at: '' }, ...lists].map(({ given, at }) => ({ code: exemptionOf(given)?.code, at }))
}

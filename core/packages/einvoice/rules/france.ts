import type { Decimal } from '@dispatch/common'
import { listField } from '../model/fields.ts'
import { isFrenchProcess } from '../model/french.ts'
import type { EInvoiceModel, Identifier, Text } from '../model/model.ts'
import { type EInvoiceRule, only, parties, rule, type RuleInput, ruleOfEach, ruleOfLines } from './rule.ts'

/** Legal statements of a French invoice, by their subject (Code de commerce, L441-9 and L441-10). */
const statements = {
  PMT: 'the fixed sum for the costs of recovery',
  PMD: 'the penalties for late payment',
  AAB: 'the discount for early payment, or that there is none'
} as const

const types = '380 389 393 501 386 500 384 471 472 473 261 262 381 396 502 503'.split(' ')
const selfBilled = '389 501 500 471 473 261 502'.split(' ')
const corrections = ['384', '471', '472', '473']
const credits = ['261', '381', '396', '502', '503']
const deposits = ['386', '500', '503']
const treatments = ['B2B', 'B2BINT', 'B2C', 'B2CINT', 'OUTOFSCOPE', 'ARCHIVEONLY']
const rates = '0 0.9 1.05 1.75 2.1 5.5 7 8.5 9.2 9.6 10 13 19.6 20 20.6'.split(' ')
const attachmentKinds = (
  'RIB LISIBLE FEUILLE_DE_STYLE PJA BORDEREAU_SUIVI DOCUMENT_ANNEXE BON_LIVRAISON BON_COMMANDE BORDEREAU_SUIVI_VALIDATION ETAT_ACOMPTE ' +
  'FACTURE_PAIEMENT_DIRECT RECAPITULATIF_COTRAITANCE'
).split(' ')

type Placed = { at: string, given: Identifier }

/** The identifiers of a kind, with their places. */
function identifiers ({ seller, customer, payee, delivery }: EInvoiceModel, kind: 'id' | 'registration' | 'electronicAddress'): Placed[] {
  const all = kind === 'id'
    ? [
      ...seller.ids.map((given) => ({ given, at: `/seller${given.at}` })),
      ...customer.ids.map((given) => ({ given, at: `/customer${given.at}` })),
      { given: payee?.id, at: '/payee/id' },
      { given: delivery?.location, at: '/delivery/location' }
    ]
    : [
      { given: seller[kind], at: `/seller/${kind}` },
      { given: customer[kind], at: `/customer/${kind}` },
      { given: kind === 'electronicAddress' ? undefined : payee?.[kind], at: `/payee/${kind}` }
    ]
  return all.flatMap(({ given, at }) => given === undefined ? [] : [{ given, at }])
}

const withScheme = (found: readonly Placed[], ...schemes: string[]): Placed[] =>
  found.filter(({ given: { scheme } }) => scheme !== undefined && schemes.includes(scheme))

/** The SIREN that a SIRET in a place belongs to, where it is known. */
function sirenBeside ({ seller, customer, payee }: EInvoiceModel, at: string): Text {
  const of = at.startsWith('/seller') ? seller : at.startsWith('/customer') ? customer : at.startsWith('/payee') ? payee : undefined
  return of?.registration?.scheme === '0002' ? of.registration.id : undefined
}

function treatment ({ notes }: EInvoiceModel): Text {
  return notes.find(({ code }) => code === 'BAR')?.text
}

const isBetweenCompanies = (invoice: EInvoiceModel): boolean => treatment(invoice) === 'B2B'
const isSelfBilled = ({ type }: EInvoiceModel): boolean => selfBilled.includes(type)
const isAddressOf = ({ electronicAddress, registration }: EInvoiceModel['seller']): boolean =>
  electronicAddress?.scheme === '0225' && electronicAddress.id.startsWith(registration?.id ?? '')
const isSiren = (text: string): boolean => /^\d{9}$/.test(text)
const isNumber = (text: Text): boolean => text === undefined || /^[A-Za-z0-9+\-_/]+$/.test(text)
const isAddress = (text: string): boolean => /^[A-Za-z0-9+\-_.]+$/.test(text)
const isPaid = ({ businessProcess = '' }: EInvoiceModel): boolean => ['B2', 'S2', 'M2'].includes(businessProcess)
const endsWith = ({ businessProcess = '' }: EInvoiceModel, digit: string): boolean =>
  /^[BSM]\d$/.test(businessProcess) && businessProcess.endsWith(digit)

/** Whether a number has at most so many decimals, and 19 digits. */
function isShort (value: Decimal | undefined, decimals: number): boolean {
  return value === undefined || (value.decimalPlaces() <= decimals && value.toFixed().replaceAll(/[-.]/g, '').length <= 19)
}

function notesOf ({ notes }: EInvoiceModel, subject: string): number {
  return notes.filter(({ code }) => code === subject).length
}

type Numbered = { number: Text, at: string }

function numbers ({ invoice: { number, precedingInvoices } }: RuleInput): Numbered[] {
  return [{ number, at: '/number' },
    ...precedingInvoices.map((one, index) => ({ number: one.number, at: `/precedingInvoices/${index}/number` }))]
}

function days ({ invoice: { date, dueDate, taxPointDate, delivery, period, precedingInvoices, lines } }: RuleInput): {
  day: Text
  at: string
}[] {
  return [
    { day: date, at: '/date' },
    { day: taxPointDate, at: '/taxPointDate' },
    { day: dueDate, at: '/dueDate' },
    { day: delivery?.date, at: '/delivery/date' },
    { day: period?.start, at: '/period/start' },
    { day: period?.end, at: '/period/end' },
    ...precedingInvoices.map((one, index) => ({ day: one.date, at: `/precedingInvoices/${index}/date` })),
    ...lines.flatMap(
      (line) => [{ day: line.period?.start, at: `${line.at}/period/start` }, { day: line.period?.end, at: `${line.at}/period/end` }]
    )
  ]
}

/** What has a VAT rate: the lines, and the allowances and charges of the whole. */
const taxed =
  ({ invoice: { lines, adjustments } }: RuleInput): readonly Pick<EInvoiceModel['lines'][number], 'tax' | 'at'>[] => [...lines,
    ...adjustments]
const ofGroup = 'A tax group (0231)'

/**
 * The requirements of French platforms (AFNOR XP Z12-012, BR-FR-* of 1.4.0.03). Those about lines below lines (BR-FR-MV-*, BR-FR-BD-*) come
 * to one: invoices of several sellers (B8, S8, M8) and of both sides (B9, S9, M9) need lines with sellers of their own, which the data
 * cannot say.
 */
export const frenchRules: readonly EInvoiceRule[] = [
  ruleOfEach('BR-FR-01', 'The number of a French invoice has at most 35 characters.', numbers, ({ at }) => at,
    ({ number = '' }) => number.length <= 35),
  ruleOfEach('BR-FR-02', 'The number of a French invoice has letters, digits, +, -, _ and / alone, without spaces.', numbers,
    ({ at }) => at, ({ number }) => isNumber(number)),
  ruleOfEach('BR-FR-03', 'A day of a French invoice is in the years 2000 to 2099.', days, ({ at }) => at,
    ({ day }) => day === undefined || /^20\d\d-/.test(day)),
  rule('BR-FR-04', '/type', `A French invoice has one of the types ${types.join(', ')} (BT-3).`,
    ({ invoice }) => types.includes(invoice.type)),
  ...Object.entries(statements).map(([code, meaning]) =>
    rule('BR-FR-05', '/statements', `A French invoice has a statement with the code ${code}: ${meaning}.`, ({ invoice }) =>
      notesOf(invoice, code) > 0)
  ),
  ...[...Object.keys(statements), 'TXD'].map((code) =>
    rule('BR-FR-06', '/statements', `A French invoice has one statement with the code ${code} at most.`, ({ invoice }) =>
      notesOf(invoice, code) <= 1)
  ),
  rule('BR-FR-08', '/businessProcess',
    'A French invoice says its kind (BT-23), such as B1 (goods), S1 (services) or M1 (both): give operationNature, or businessProcess. A ' +
      'profile that fixes it, such as that of Peppol, cannot say it.', ({ invoice }) => isFrenchProcess(invoice.businessProcess)),
  ruleOfEach('BR-FR-09', 'A SIRET (0009) has 14 digits, which begin with the SIREN of the same party (0002).',
    ({ invoice }) => withScheme(identifiers(invoice, 'id'), '0009'), ({ at }) => `${at}/id`, ({ given: { id }, at }, { invoice }) => {
    const siren = sirenBeside(invoice, at)
    const isKnown = at.startsWith('/seller') || at.startsWith('/customer')
    return /^\d{14}$/.test(id) && (isKnown ? id.slice(0, 9) === siren : siren === undefined || id.startsWith(siren))
  }),
  rule('BR-FR-10', '/seller/registration', 'A French seller states its SIREN: nine digits with the scheme 0002.',
    ({ invoice: { seller: { registration } } }) => registration?.scheme === '0002' && isSiren(registration.id)),
  rule('BR-FR-11', '/customer/registration', 'A French customer is named with its SIREN: nine digits with the scheme 0002.',
    ({ invoice }) => !isBetweenCompanies(invoice) || hasSiren(invoice.customer)),
  rule('BR-FR-12', '/customer/electronicAddress',
    'A French invoice has the electronic address of its customer, with the scheme 0225: its SIREN.',
    ({ invoice }) => invoice.customer.electronicAddress !== undefined),
  rule('BR-FR-13', '/seller/electronicAddress',
    'A French invoice has the electronic address of its seller, with the scheme 0225: its SIREN.',
    ({ invoice }) => invoice.seller.electronicAddress !== undefined),
  ruleOfEach('BR-FR-15', 'The VAT categories of a French invoice are S, E, AE, K, G, O and Z.', taxed, ({ at }) => `${at}/taxCategory`,
    ({ tax: { category } }) => ['S', 'E', 'AE', 'K', 'G', 'O', 'Z', ''].includes(category)),
  ruleOfEach('BR-FR-16', `French rates are ${rates.join(', ')}.`, taxed, ({ at }) => `${at}/taxRate`,
    ({ tax: { rate } }) => rate === undefined || rates.includes(rate.toFixed())),
  ruleOfEach('BR-FR-17', `The description of a supporting document is one of ${attachmentKinds.join(', ')} (BT-123).`,
    ({ invoice }) => invoice.attachments.map(({ description }, index) => ({ description, index })),
    ({ index }) => `/attachments/${index}/description`,
    ({ description }) => description === undefined || attachmentKinds.includes(description)),
  rule('BR-FR-18', '/attachments', 'A French invoice has one supporting document LISIBLE at most.',
    ({ invoice }) => invoice.attachments.filter(({ description }) => description === 'LISIBLE').length <= 1),
  ruleOfEach('BR-FR-20', `A statement with the code BAR is one of ${treatments.join(', ')}.`,
    ({ data }) => listField(data, 'statements').map(({ code, text }, index) => ({ code, text, index })),
    ({ index }) => `/statements/${index}/text`,
    ({ code, text }) => code !== 'BAR' || (typeof text === 'string' && treatments.includes(text))),
  rule('BR-FR-21', '/customer/electronicAddress',
    'Between companies (BAR: B2B) the electronic address of the customer begins with its SIREN, with the scheme 0225.',
    ({ invoice }) => !isBetweenCompanies(invoice) || isSelfBilled(invoice) || isAddressOf(invoice.customer)),
  rule('BR-FR-22', '/seller/electronicAddress',
    'On a self-billed invoice between companies (BAR: B2B) the electronic address of the seller begins with its SIREN, scheme 0225.',
    ({ invoice }) => !isBetweenCompanies(invoice) || !isSelfBilled(invoice) || isAddressOf(invoice.seller)),
  ruleOfEach('BR-FR-23',
    'An address of the French directory (0225) has letters, digits, +, -, _ and . alone: the SIREN, and _ before a suffix.',
    ({ invoice }) => withScheme(identifiers(invoice, 'electronicAddress'), '0225'), ({ at }) => `${at}/id`,
    ({ given }) => isAddress(given.id)),
  ruleOfEach('BR-FR-24', 'A routing code (0224) has letters, digits, +, -, _ and . alone.',
    ({ invoice }) => withScheme(identifiers(invoice, 'id'), '0224').filter(({ at }) => !at.startsWith('/delivery')), ({ at }) => `${at}/id`,
    ({ given }) => isAddress(given.id)),
  ruleOfEach('BR-FR-25', 'An electronic address has 125 characters at most.', ({ invoice }) => identifiers(invoice, 'electronicAddress'),
    ({ at }) => `${at}/id`, ({ given }) => given.id.length <= 125),
  ruleOfEach('BR-FR-26', 'A routing code (0224) has 100 characters at most.',
    ({ invoice }) => withScheme(identifiers(invoice, 'id'), '0224'), ({ at }) => `${at}/id`, ({ given }) => given.id.length <= 100),
  rule('BR-FR-31', '/statements', 'A French invoice has one statement with the code BAR at most.',
    ({ invoice }) => notesOf(invoice, 'BAR') <= 1),
  ruleOfEach('BR-FR-32', 'A SIREN (0002) has nine digits, as has the number of a tax group (0231).', ({ invoice }) => [
    ...withScheme(identifiers(invoice, 'registration'), '0002'),
    ...withScheme(identifiers(invoice, 'id'), '0002', '0231')
  ], ({ at }) => `${at}/id`, ({ given }) => isSiren(given.id)),
  rule('BR-FR-CO-03', '/contractReference', 'An invoice of the type 262 names its contract and its whole period.',
    ({ invoice: { type, references, period } }) =>
      type !== '262' || (references.contract !== undefined && period?.start !== undefined && period.end !== undefined)),
  rule('BR-FR-CO-04', '/precedingInvoices', `A corrected invoice (${corrections.join(', ')}) names one earlier invoice, which it replaces.`,
    ({ invoice: { type, precedingInvoices } }) => !corrections.includes(type) || precedingInvoices.length === 1),
  rule('BR-FR-CO-05', '/precedingInvoices', `A credit note (${credits.join(', ')}) names an earlier invoice with its date.`,
    ({ invoice: { type, precedingInvoices } }) => !credits.includes(type) || precedingInvoices.some(({ date }) => date !== undefined)),
  rule('BR-FR-CO-07', '/dueDate', 'The due date of a French invoice is not before its date, unless it is a deposit or is paid already.',
    ({ invoice }) =>
      invoice.dueDate === undefined || deposits.includes(invoice.type) || isPaid(invoice) || invoice.dueDate >= (invoice.date ?? '')),
  rule('BR-FR-CO-08', '/businessProcess', 'A deposit (386, 500, 503) is no final invoice after one (B4, S4, M4).',
    ({ invoice }) => !endsWith(invoice, '4') || !deposits.includes(invoice.type)),
  rule('BR-FR-CO-09', '/prepaidAmount', 'An invoice that is paid already (B2, S2, M2) has its whole total prepaid, and nothing due.',
    ({ invoice, totals: { total, due } }) => !isPaid(invoice) || (invoice.prepaid?.eq(total) === true && due.isZero())),
  rule('BR-FR-CO-09', '/dueDate', 'An invoice that is paid already (B2, S2, M2) has the day of the payment as its due date.',
    ({ invoice }) => !isPaid(invoice) || invoice.dueDate !== undefined),
  ruleOfEach('BR-FR-CO-10', 'The ids of a party have different schemes.', (subject) => parties(subject), ({ at }) => `${at}/id`,
    ({ party }) => {
      const schemes = party.ids.flatMap(({ scheme }) => scheme ?? [])
      return new Set(schemes).size === schemes.length
    }),
  ...only(['UBL'], [
    ruleOfEach('BR-FR-CO-10',
      'In UBL each identifier of a seller, customer, payee and place of delivery has a scheme, such as 0009 for a SIRET (BT-29, BT-46, ' +
        'BT-60, BT-71).', ({ invoice }) => identifiers(invoice, 'id'), ({ at }) => `${at}/scheme`,
      ({ given }) => given.scheme !== undefined)
  ]),
  rule('BR-FR-CO-12', '/taxCurrencyAmount',
    'A French invoice in another currency states its VAT in EUR too: taxCurrency and taxCurrencyAmount.',
    ({ invoice: { currency, taxCurrency, taxCurrencyAmount } }) =>
      currency === 'EUR' || (taxCurrency === 'EUR' && taxCurrencyAmount !== undefined)),
  rule('BR-FR-CO-14', '/statements', `${ofGroup} has the statement MEMBRE_ASSUJETTI_UNIQUE with the code TXD.`,
    ({ invoice }) => !isOfGroup(invoice) || invoice.notes.some(({ code, text }) => code === 'TXD' && text === 'MEMBRE_ASSUJETTI_UNIQUE')),
  rule('BR-FR-CO-15', '/taxRepresentative', `${ofGroup} is named as the tax representative, with its VAT number.`,
    ({ invoice }) => !isOfGroup(invoice) || invoice.taxRepresentative?.vatId !== undefined),
  ruleOfLines('BR-FR-DEC-02', '/quantity', 'A quantity of a French invoice has four decimals and 19 digits at most.',
    ({ quantity }) => isShort(quantity, 4)),
  ruleOfLines('BR-FR-DEC-02', '/priceQuantity', 'A quantity of a French invoice has four decimals and 19 digits at most.',
    ({ priceQuantity }) => isShort(priceQuantity, 4)),
  ...([['price', 'unitPrice'], ['priceDiscount', 'priceDiscount'], ['grossPrice', 'grossPrice']] as const).map(([name, field]) =>
    ruleOfLines('BR-FR-DEC-03', `/${field}`, 'A price of a French invoice is not negative, and has six decimals and 19 digits at most.',
      ({ [name]: price }) => isShort(price, 6) && price?.isNegative() !== true)
  ),
  ruleOfEach('BR-FR-DEC-04', 'A rate of a French invoice has two decimals at most.', taxed, ({ at }) => `${at}/taxRate`,
    ({ tax: { rate } }) => rate === undefined || rate.decimalPlaces() <= 2),
  rule('BR-FR-MV-02', '/businessProcess',
    'An invoice of several sellers (B8, S8, M8) has a group of lines for each seller, with its name, which is not supported.',
    ({ invoice }) => !endsWith(invoice, '8')),
  rule('BR-FR-BD-02', '/businessProcess',
    'An invoice of both sides (B9, S9, M9) has a group of lines for each side, which is not supported.',
    ({ invoice }) => !endsWith(invoice, '9'))
]

function isOfGroup ({ seller }: EInvoiceModel): boolean {
  return seller.ids.some(({ scheme }) => scheme === '0231')
}

function hasSiren ({ registration }: EInvoiceModel['seller']): boolean {
  return registration?.scheme === '0002' && isSiren(registration.id)
}

/** Whether both parties are in France: between them the rules of the platforms apply. */
export function isFrench (invoice: EInvoiceModel): boolean {
  return [invoice.seller, invoice.customer].every(({ address }) => address.country === 'FR')
}

/** What the platforms do not check, and the buyer's platform needs. */
export const frenchAdvice: readonly EInvoiceRule[] = [
  rule('BR-FR-11', '/customer/registration', 'A French customer is named with its SIREN: nine digits with the scheme 0002.',
    ({ invoice }) => !isFrench(invoice) || isBetweenCompanies(invoice) || hasSiren(invoice.customer)),
  ruleOfEach('other_address', 'The address of a French party is one of the directory (0225), which begins with its SIREN.',
    (subject) => isFrench(subject.invoice) ? parties(subject) : [], ({ at }) => `${at}/electronicAddress`,
    ({ party }) => party.electronicAddress?.scheme !== '0225' || isAddressOf(party))
]

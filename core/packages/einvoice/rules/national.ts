import { dayOf, isPlainAddress } from '@dispatch/common'
import { isGreek, isIban, isNorwegian, luhn } from '../model/check-digits.ts'
import { isGreekSeller, sellerCountry } from '../model/country.ts'
import type { EInvoiceModel, PartyAddress, Text } from '../model/model.ts'
import { ublTerms } from '../model/ubl-texts.ts'
import { allAdjustments, type EInvoiceRule, inProfiles, rule, type RuleInput, ruleOfEach, ruleOfLines } from './rule.ts'

/** Whether the addresses of seller and customer are in the country. */
function isDomestic ({ seller, customer }: EInvoiceModel, country: string): boolean {
  return seller.address.country === country && customer.address.country === country
}

/** A rule for the invoices of certain sellers. */
function when (
  applies: (invoice: EInvoiceModel) => boolean,
  id: string,
  at: string,
  message: string,
  holds: (invoice: EInvoiceModel, subject: RuleInput) => boolean
): EInvoiceRule {
  return rule(id, at, message, (subject) => !applies(subject.invoice) || holds(subject.invoice, subject))
}

function hasPlace ({ line1, city, postalCode }: PartyAddress): boolean {
  return line1 !== undefined && city !== undefined && postalCode !== undefined
}

const danish = ({ seller }: EInvoiceModel): boolean => seller.address.country === 'DK'
const inDenmark = (invoice: EInvoiceModel): boolean => isDomestic(invoice, 'DK')
const means = ({ payment }: EInvoiceModel, ...codes: string[]): boolean => payment !== undefined && codes.includes(payment.means)
const accountOf = ({ payment }: EInvoiceModel): Text => payment?.account?.iban ?? payment?.account?.other
const referenceOf = ({ payment }: EInvoiceModel): string => payment?.reference ?? ''

/** The versions of UNSPSC in Danish invoices, in both notations. */
const unspsc: readonly string[] = ['19.05.01', '19.0501', '26.08.01', '26.0801']

const denmark: readonly EInvoiceRule[] = [
  when(danish, 'DK-R-002', '/seller/registration', 'A Danish seller has a CVR number (BT-30).',
    ({ seller }) => seller.registration !== undefined),
  when(inDenmark, 'DK-R-017', '/customer/registration/scheme', 'The registration of a Danish customer is a CVR number: scheme 0184.',
    ({ customer: { registration } }) => registration === undefined || registration.scheme === '0184'),
  when(danish, 'DK-R-014', '/seller/registration/scheme', 'The registration of a Danish seller is a CVR number: scheme 0184.',
    ({ seller: { registration } }) => registration === undefined || registration.scheme === '0184'),
  when(inDenmark, 'DK-R-013', '/seller/id/scheme', 'In Denmark an id has a scheme.',
    ({ seller, customer }) => [...seller.ids, ...customer.ids].every(({ scheme }) => scheme !== undefined)),
  when(inDenmark, 'DK-R-016', '/amountDue', 'A Danish credit note is not negative.',
    ({ isCreditNote }, { totals }) => !isCreditNote || totals.due.gte(0)),
  when(inDenmark, 'DK-R-005', '/payment/means', 'Danish means of payment are 1, 10, 31, 42, 48, 49, 50, 58, 59, 93 and 97.',
    (invoice) =>
      invoice.isCreditNote || invoice.payment === undefined ||
      means(invoice, '1', '10', '31', '42', '48', '49', '50', '58', '59', '93', '97')),
  when(inDenmark, 'DK-R-006', '/bankDetails', 'The means 31 and 42 need an account and a registration account (bic) in Denmark.',
    (invoice) => !means(invoice, '31', '42') || (accountOf(invoice) !== undefined && invoice.payment?.account?.bic !== undefined)),
  when(inDenmark, 'DK-R-007', '/payment/mandate', 'The means 49 needs the reference of a mandate and the customer\'s account in Denmark.',
    (invoice) =>
      !means(invoice, '49') || (invoice.payment?.mandate?.reference ?? '') !== '' && invoice.payment?.mandate?.account !== undefined),
  when(inDenmark, 'DK-R-008', '/payment/reference',
    'The means 50 (giro) needs a reference that begins with 01#, 04# or 15#, and an account of 7 or 8 digits.',
    (invoice) => !means(invoice, '50') || (/^(01|04|15)#/.test(referenceOf(invoice)) && /^\d{7,8}$/.test(accountOf(invoice) ?? ''))),
  when(inDenmark, 'DK-R-009', '/payment/reference', 'A giro reference has 16 digits after 04# or 15#.',
    (invoice) => !means(invoice, '50') || !/^(04|15)#/.test(referenceOf(invoice)) || referenceOf(invoice).length === 19),
  when(inDenmark, 'DK-R-010', '/payment/reference',
    'The means 93 (FIK) needs a reference that begins with 71#, 73# or 75#, and an account of 8 characters.',
    (invoice) => !means(invoice, '93') || (/^7[135]#/.test(referenceOf(invoice)) && accountOf(invoice)?.length === 8)),
  when(inDenmark, 'DK-R-011', '/payment/reference', 'A FIK reference has 15 or 16 digits after 71# or 75#.',
    (invoice) => !means(invoice, '93') || !/^7[15]#/.test(referenceOf(invoice)) || [18, 19].includes(referenceOf(invoice).length)),
  ruleOfLines('DK-R-003', '/classifications', 'In Denmark a classification by UNSPSC (TST) is of its version 19.05.01 or 26.08.01.',
    ({ classifications }, { invoice }) =>
      !inDenmark(invoice) || classifications.every(({ list }) => list !== 'TST') ||
      classifications.some(({ version = '' }) => unspsc.includes(version))),
  ruleOfEach('DK-R-004', 'In Denmark the reason code ZZZ needs the four digits of the tax as its reason, or a reason with a # inside.',
    ({ invoice }) => inDenmark(invoice) ? allAdjustments(invoice) : [], ({ at }) => `${at}/reason`,
    ({ reasonCode, reason }) => reasonCode !== 'ZZZ' || /^(\d{4}|[^#][^]*#[^]*[^#])$/.test(reason ?? ''))
]

const dutch = ({ seller }: EInvoiceModel): boolean => seller.address.country === 'NL'
const inNetherlands = (invoice: EInvoiceModel): boolean => isDomestic(invoice, 'NL')
const dutchRegisters: readonly Text[] = ['0106', '0190']

const netherlands: readonly EInvoiceRule[] = [
  when(dutch, 'NL-R-001', '/precedingInvoices', 'A Dutch credit note names the invoice.',
    ({ isCreditNote, precedingInvoices }) => !isCreditNote || precedingInvoices.length > 0),
  when(dutch, 'NL-R-002', '/seller/address', 'The address of a Dutch seller has a street, a city and a postal code.',
    ({ seller }) => hasPlace(seller.address)),
  when(dutch, 'NL-R-003', '/seller/registration/scheme', 'The registration of a Dutch seller is a KVK (0106) or OIN (0190) number.',
    ({ seller: { registration } }) => registration === undefined || dutchRegisters.includes(registration.scheme)),
  when(inNetherlands, 'NL-R-004', '/customer/address', 'The address of a Dutch customer has a street, a city and a postal code.',
    ({ customer }) => hasPlace(customer.address)),
  when(inNetherlands, 'NL-R-005', '/customer/registration/scheme',
    'The registration of a Dutch customer is a KVK (0106) or OIN (0190) number.',
    ({ customer: { registration } }) => registration === undefined || dutchRegisters.includes(registration.scheme)),
  when(dutch, 'NL-R-006', '/taxRepresentative/address', 'The address of a Dutch representative has a street, a city and a postal code.',
    ({ taxRepresentative: given }) => given?.address.country !== 'NL' || hasPlace(given.address)),
  when(dutch, 'NL-R-007', '/payment', 'A Dutch seller says how to pay.',
    ({ payment, isCreditNote }, { totals: { due } }) => payment !== undefined || (isCreditNote ? due.gte(0) : due.lte(0))),
  when(inNetherlands, 'NL-R-008', '/payment/means', 'Between Dutch companies, means of payment are 30, 48, 49, 57, 58 and 59.',
    (invoice) => invoice.payment === undefined || means(invoice, '30', '48', '49', '57', '58', '59')),
  when(dutch, 'NL-R-009', '/orderReference', 'Dutch lines that name a line of an order need the order.',
    ({ lines, references }) =>
      lines.every(({ orderLine }) => orderLine === undefined) || (references.order ?? references.salesOrder) !== undefined)
]

const inGermany = (invoice: EInvoiceModel): boolean => isDomestic(invoice, 'DE')

/**
 * What German invoices need: the number of the rule, its place and message, and what holds. Peppol requires it inside Germany (DE-R-*),
 * XRechnung everywhere (BR-DE-*).
 */
type German = readonly [string, string, string, (invoice: EInvoiceModel) => boolean]
const german: readonly German[] = [
  ['001', '/payment', 'In Germany an invoice says how to pay.', ({ payment }) => payment !== undefined],
  ['002', '/seller/contact', 'In Germany the seller names a contact, with phone and email.',
    ({ seller: { contact } }) => contact !== undefined],
  ['005', '/seller/contact', 'In Germany the seller\'s contact has a name.',
    ({ seller: { contact } }) => contact === undefined || contact.name !== undefined],
  ['006', '/seller/phone', 'In Germany the seller\'s contact has a phone.',
    ({ seller: { contact } }) => contact === undefined || contact.phone !== undefined],
  ['007', '/seller/email', 'In Germany the seller\'s contact has an email.',
    ({ seller: { contact } }) => contact === undefined || contact.email !== undefined],
  ['003', '/seller/city', 'In Germany the seller\'s address has a city.', ({ seller }) => seller.address.city !== undefined],
  ['004', '/seller/postalCode', 'In Germany the seller\'s address has a postal code.',
    ({ seller }) => seller.address.postalCode !== undefined],
  ['008', '/customer/city', 'In Germany the customer\'s address has a city.', ({ customer }) => customer.address.city !== undefined],
  ['009', '/customer/postalCode', 'In Germany the customer\'s address has a postal code.',
    ({ customer }) => customer.address.postalCode !== undefined],
  ['010', '/delivery/city', 'In Germany an address of delivery has a city.',
    ({ delivery }) => delivery?.address.country === undefined || delivery.address.city !== undefined],
  ['011', '/delivery/postalCode', 'In Germany an address of delivery has a postal code.',
    ({ delivery }) => delivery?.address.country === undefined || delivery.address.postalCode !== undefined],
  ['015', '/buyerReference', 'In Germany an invoice has a buyerReference.', ({ references }) => references.buyer !== undefined],
  ['016', '/seller/vatId', 'In Germany a seller whose supplies are subject to VAT has a VAT number, a tax number or a tax representative.',
    ({ seller, taxRepresentative, lines, adjustments }) =>
      (seller.vatId ?? seller.taxId ?? taxRepresentative) !== undefined ||
      ![...lines, ...adjustments].some(({ tax: { category } }) => ['S', 'Z', 'E', 'AE', 'K', 'G', 'L', 'M'].includes(category))],
  ['018', '/paymentTerms',
    'In Germany a # in the terms of payment begins a discount: #SKONTO#TAGE=14#PROZENT=2.00#, on a line of its own; later lines ' +
    'have no two number signs.', (invoice) => isSkonto(ublTerms(invoice) ?? '')],
  ['022', '/attachments', 'The filenames of supporting documents differ.', ({ attachments }) => {
    const names = attachments.flatMap(({ filename }) => filename === undefined ? [] : [filename])
    return new Set(names).size === names.length
  }],
  ['024-1', '/payment/card', 'In Germany a payment by card (48, 54, 55) names the card.',
    (invoice) => !means(invoice, '48', '54', '55') || invoice.payment?.card !== undefined],
  ['025-1', '/payment/mandate', 'In Germany a direct debit (59) has a mandate.',
    (invoice) => !means(invoice, '59') || invoice.payment?.mandate !== undefined],
  ['030', '/payment/mandate/creditorId', 'In Germany a direct debit names the creditor (BT-90).',
    ({ payment }) => payment?.mandate === undefined || payment.mandate.creditorId !== undefined],
  ['031', '/payment/mandate/account', 'In Germany a direct debit names the customer\'s account (BT-91).',
    ({ payment }) => payment?.mandate === undefined || payment.mandate.account !== undefined]
]

const germany = german.map(([number, at, message, holds]) => when(inGermany, `DE-R-${number}`, at, message, holds))

/** The types of invoices that XRechnung is made for. */
const germanInvoices = ['326', '380', '384', '389', '381', '875', '876', '877']

/** What Peppol inside Germany and XRechnung only warn of. */
const germanAdvised: readonly German[] = [
  ['017', '/type', `In Germany an invoice has one of the types ${germanInvoices.join(', ')} (BT-3).`,
    ({ type }) => germanInvoices.includes(type)],
  ['019', '/bankDetails/iban', 'A SEPA credit transfer (58) names a correct IBAN (BT-84).',
    ({ payment }) => payment?.means !== '58' || isIban(payment.account?.iban ?? '')],
  ['020', '/payment/mandate/account', 'A SEPA direct debit (59) names a correct IBAN (BT-91).',
    ({ payment }) => payment?.means !== '59' || isIban(payment.mandate?.account ?? '')],
  ['026', '/precedingInvoices', 'A corrected invoice (384) names the invoice that it corrects (BG-3).',
    ({ type, precedingInvoices }) => type !== '384' || precedingInvoices.length > 0],
  ['027', '/seller/phone', 'The phone of the seller\'s contact has at least three digits (BT-42).',
    ({ seller: { contact } }) => contact?.phone === undefined || /(\d.*){3}/s.test(contact.phone)],
  ['028', '/seller/email', 'The e-mail address of the seller\'s contact is one (BT-43).',
    ({ seller: { contact } }) => contact?.email === undefined || isPlainAddress(contact.email)]
]

/** The same rules for XRechnung, where a part of a rule has a letter. */
function ofXRechnung (rules: readonly German[]): EInvoiceRule[] {
  return rules.map(([number, at, message, holds]) =>
    when(() => true, `BR-DE-${number.replace(/^0+/, '').replace('-1', '-a')}`, at, message, holds)
  )
}

export const [germanRules, germanWarnings] = [ofXRechnung(german), ofXRechnung(germanAdvised)]

/** The contact of a German seller: what receivers check in every syntax. */
export const germanAdvice: readonly EInvoiceRule[] = inProfiles(['EN16931', 'BASIC', 'EXTENDED'],
  german.filter(([number]) => ['005', '006', '007'].includes(number)).map(([number, at, message, holds]) =>
    when(inGermany, `BR-DE-${Number(number)}`, at, message, holds)
  ))

/** Lines that begin with # are discounts, and a line break must follow the last number sign (DE-R-018). */
function isSkonto (terms: string): boolean {
  const discounts = terms.split('\n').map((line) => line.trim()).filter((line) => line.startsWith('#'))
  const rest = terms.split(/#.+#/).at(-1) ?? ''
  return discounts.every((line) => /^#SKONTO#TAGE=\d+#PROZENT=\d+\.\d{2}(#BASISBETRAG=-?\d+\.\d{2})?#$/.test(line)) &&
    (discounts.length === 0 || /^\s*\n/.test(rest))
}

const italian = (invoice: EInvoiceModel): boolean => sellerCountry(invoice) === 'IT'
const swedish = ({ seller }: EInvoiceModel): boolean => seller.address.country === 'SE' && seller.vatId?.startsWith('SE') === true
const swedishRegistration = ({ seller }: EInvoiceModel): boolean => seller.address.country === 'SE' && seller.registration !== undefined
const icelandic = ({ seller }: EInvoiceModel): boolean => seller.address.country === 'IS'

/** The six parts of a Greek invoice number, between |, each with the last digit of its rule. */
const greekNumber: readonly (readonly [number, string, (segments: readonly string[], invoice: EInvoiceModel) => boolean])[] = [
  [
    1,
    'A Greek invoice number has six parts, between |: the seller\'s tax number, the day of issue (DD/MM/YYYY), a number, the type ' +
    '(1.1, 1.6, 2.1, 2.4, 5.1 or 5.2), the series and the number in it.',
    (segments) => segments.length === 6
  ],
  [2, 'A Greek invoice number begins with the tax number of the seller or of its representative.',
    ([tin = ''], { seller, taxRepresentative }) =>
      isGreek(tin) && [seller.vatId, taxRepresentative?.vatId].some((vatId) => vatId?.slice(2, 11) === tin)],
  [3, 'The second part of a Greek invoice number is the day of issue: DD/MM/YYYY.',
    ([, issued], { date = '' }) => issued === date.split('-').reverse().join('/')],
  [4, 'The third part of a Greek invoice number is a number.', ([, , serial = '']) => /^\d+$/.test(serial)],
  [5, 'The fourth part of a Greek invoice number is 1.1, 1.6, 2.1, 2.4, 5.1 or 5.2.',
    ([, , , type = '']) => ['1.1', '1.6', '2.1', '2.4', '5.1', '5.2'].includes(type)],
  [6, 'The fifth part of a Greek invoice number, the series, is not empty.', (segments) => segments[4] !== ''],
  [7, 'The sixth part of a Greek invoice number is not empty.', (segments) => segments[5] !== '']
]

const others: readonly EInvoiceRule[] = [
  when(italian, 'IT-R-001', '/seller/taxId', 'An Italian tax number has 11 to 16 letters and digits.',
    ({ seller: { taxId } }) => taxId === undefined || /^[A-Z0-9]{11,16}$/.test(taxId)),
  when(italian, 'IT-R-002', '/seller/address', 'The address of an Italian seller has a street.',
    ({ seller }) => seller.address.line1 !== undefined),
  when(italian, 'IT-R-003', '/seller/city', 'The address of an Italian seller has a city.',
    ({ seller }) => seller.address.city !== undefined),
  when(italian, 'IT-R-004', '/seller/postalCode', 'The address of an Italian seller has a postal code.',
    ({ seller }) => seller.address.postalCode !== undefined),
  when(swedish, 'SE-R-001', '/seller/vatId', 'A Swedish VAT number is SE and twelve digits.',
    ({ seller: { vatId = '' } }) => vatId.length === 14),
  when(swedish, 'SE-R-002', '/seller/vatId', 'A Swedish VAT number has digits alone after SE.',
    ({ seller: { vatId = '' } }) => /^SE\d+$/.test(vatId)),
  when(swedishRegistration, 'SE-R-005', '/seller/taxId', 'A Swedish tax registration reads "Godkänd för F-skatt".',
    ({ seller: { taxId } }) => taxId === undefined || taxId.toUpperCase() === 'GODKÄND FÖR F-SKATT'),
  when(swedishRegistration, 'SE-R-003', '/seller/registration/id', 'A Swedish organisation number has digits alone.',
    ({ seller: { registration } }) => /^\d+$/.test(registration?.id ?? '')),
  when(swedishRegistration, 'SE-R-004', '/seller/registration/id', 'A Swedish organisation number has ten digits.',
    ({ seller: { registration } }) => registration?.id.length === 10),
  when(swedishRegistration, 'SE-R-013', '/seller/registration/id', 'The last digit of a Swedish organisation number is its check digit.',
    ({ seller: { registration } }) => !/^\d{10}$/.test(registration?.id ?? '') || luhn(registration?.id ?? '')),
  ruleOfEach('SE-R-006', 'Swedish rates are 6, 12 and 25.',
    ({ invoice }) => swedish(invoice) ? [...invoice.lines, ...invoice.adjustments] : [], ({ at }) => `${at}/taxRate`,
    ({ tax: { category, rate } }) => category !== 'S' || rate === undefined || [6, 12, 25].some((usual) => rate.eq(usual))),
  when((invoice) => sellerCountry(invoice) === 'NO', 'NO-R-001', '/seller/vatId',
    'A Norwegian VAT number is NO, nine digits with a check digit, and MVA.',
    ({ seller: { vatId } }) => vatId === undefined || (/^NO\d{9}MVA$/.test(vatId) && isNorwegian(vatId.slice(2, 11)))),
  when(icelandic, 'IS-R-002', '/seller/registration', 'An Icelandic seller has a kennitala: a registration with the scheme 0196.',
    ({ seller }) => seller.registration?.scheme === '0196'),
  when(icelandic, 'IS-R-003', '/seller/address', 'The address of an Icelandic seller has a street and a postal code.',
    ({ seller: { address } }) => address.line1 !== undefined && address.postalCode !== undefined),
  when((invoice) => isDomestic(invoice, 'IS'), 'IS-R-004', '/customer/registration',
    'An Icelandic customer has a kennitala: a registration with the scheme 0196.',
    ({ customer }) => customer.registration?.scheme === '0196'),
  when((invoice) => isDomestic(invoice, 'IS'), 'IS-R-005', '/customer/address',
    'The address of an Icelandic customer has a street and a postal code.',
    ({ customer: { address } }) => address.line1 !== undefined && address.postalCode !== undefined),
  when(icelandic, 'IS-R-006', '/bankDetails/account', 'In Iceland the means 9 needs an account of 12 digits.',
    (invoice) => !means(invoice, '9') || accountOf(invoice)?.length === 12),
  when(icelandic, 'IS-R-007', '/bankDetails/account', 'In Iceland the means 42 needs an account of 12 digits.',
    (invoice) => !means(invoice, '42') || accountOf(invoice)?.length === 12),
  when(icelandic, 'IS-R-008', '/attachments',
    'In Iceland a supporting document with the description EINDAGI, of which there is one, has the last day of payment as its id: ' +
      'YYYY-MM-DD.', (invoice) => lastDays(invoice).length <= 1 && lastDays(invoice).every(isDay)),
  when(icelandic, 'IS-R-009', '/dueDate',
    'In Iceland an invoice with a last day of payment (EINDAGI) has a due date; in UBL a credit note has none.',
    (invoice) => lastDays(invoice).length === 0 || (invoice.dueDate !== undefined && !invoice.isCreditNote)),
  when(icelandic, 'IS-R-010', '/attachments', 'In Iceland the last day of payment (EINDAGI) is not before the due date.',
    (invoice) => lastDays(invoice).every((last) => invoice.dueDate === undefined || invoice.dueDate <= last)),
  ...greekNumber.map(([part, message, holds]) =>
    when(isGreekSeller, `GR-R-001-${part}`, '/number', message, (invoice) => {
      const segments = (invoice.number ?? '').split('|')
      return (part > 1 && segments.length !== 6) || holds(segments, invoice)
    })
  ),
  when(isGreekSeller, 'GR-R-003', '/seller/vatId', 'A Greek VAT number is EL and a tax number of nine digits.',
    ({ seller: { vatId } }) => vatId === undefined || (vatId.startsWith('EL') && isGreek(vatId.slice(2)))),
  when((invoice) => isGreekSeller(invoice) && invoice.seller.address.country === 'GR', 'GR-R-004-1', '/attachments',
    'A Greek invoice has its MARK: a supporting document with the description "##M.AR.K##" and the number as its id.',
    ({ attachments }) => {
      const marks = attachments.filter(({ description }) => description === '##M.AR.K##')
      return marks.length === 1
    }),
  when((invoice) => isGreekSeller(invoice) && invoice.seller.address.country === 'GR', 'GR-R-004-2', '/attachments',
    'The MARK of a Greek invoice is a positive number.',
    ({ attachments }) => attachments.every(({ description, id }) => description !== '##M.AR.K##' || /^[1-9]\d*/.test(id))),
  when(isGreekSeller, 'GR-R-008-2', '/attachments',
    'A Greek invoice has at most one supporting document with the description "##INVOICE|URL##".',
    ({ attachments }) => attachments.filter(isGreekLink).length <= 1),
  when(isGreekSeller, 'GR-R-008-3', '/attachments', 'The supporting document with the description "##INVOICE|URL##" has its url.',
    ({ attachments }) => attachments.filter(isGreekLink).every(({ url }) => url !== undefined)),
  when(({ seller }) => ['GR', 'EL'].includes(seller.vatId?.slice(0, 2) ?? seller.address.country ?? ''), 'GR-R-009',
    '/seller/electronicAddress', 'The electronic address of a Greek seller is its tax number: scheme 9933.',
    ({ seller }) => isGreekAddress(seller.electronicAddress)),
  when((invoice) => isGreekSeller(invoice) && isGreekCustomer(invoice), 'GR-R-006', '/customer/vatId',
    'A Greek customer has a VAT number: EL and nine digits.',
    ({ customer: { vatId = '' } }) => vatId.startsWith('EL') && isGreek(vatId.slice(2))),
  when((invoice) => isGreekSeller(invoice) && isGreekCustomer(invoice), 'GR-R-010', '/customer/electronicAddress',
    'The electronic address of a Greek customer is its tax number: scheme 9933.',
    ({ customer }) => isGreekAddress(customer.electronicAddress))
]

function isGreekLink ({ description }: EInvoiceModel['attachments'][number]): boolean {
  return description === '##INVOICE|URL##'
}

/** The days after which interest is due: the ids of the supporting documents with this description. */
function lastDays ({ attachments }: EInvoiceModel): string[] {
  return attachments.filter(({ description }) => description === 'EINDAGI').map(({ id }) => id)
}

function isDay (text: string): boolean {
  return dayOf(text) === text
}

function isGreekCustomer ({ customer }: EInvoiceModel): boolean {
  return ['GR', 'EL'].includes(customer.vatId?.slice(0, 2) ?? customer.address.country ?? '')
}

function isGreekAddress (given: EInvoiceModel['seller']['electronicAddress']): boolean {
  return given === undefined || (given.scheme === '9933' && isGreek(given.id))
}

/** The requirements of Peppol's countries for the UBL invoices of their sellers (Peppol BIS Billing 3.0, national rules). */
export const nationalRules: readonly EInvoiceRule[] = [...denmark, ...netherlands, ...germany, ...others]

/** An account at one of the two Swedish giro systems, which stands in place of the BIC. */
const atGiro = (name: string) => (invoice: EInvoiceModel): boolean =>
  invoice.seller.address.country === 'SE' && means(invoice, '30') && invoice.payment?.account?.bic === `SE:${name}`
const digits = (invoice: EInvoiceModel): boolean => /^\d+$/.test(accountOf(invoice) ?? '')
const sized = (least: number, max: number) => (invoice: EInvoiceModel): boolean => {
  const { length } = accountOf(invoice) ?? ''
  return length >= least && length <= max
}

/** What Peppol's countries only warn of. */
export const nationalAdvice: readonly EInvoiceRule[] = [
  ...germanAdvised.map(([number, at, message, holds]) => when(inGermany, `DE-R-${number}`, at, message, holds)),
  when((invoice) => sellerCountry(invoice) === 'NO', 'NO-R-002', '/seller/taxId',
    'A Norwegian tax registration reads "Foretaksregisteret".', ({ seller: { taxId } }) => taxId === 'Foretaksregisteret'),
  when(atGiro('PLUSGIRO'), 'SE-R-007', '/bankDetails/account', 'The number of an account at Plusgiro has digits alone.', digits),
  when(atGiro('PLUSGIRO'), 'SE-R-010', '/bankDetails/account', 'The number of an account at Plusgiro has 2 to 8 digits.', sized(2, 8)),
  when(atGiro('BANKGIRO'), 'SE-R-008', '/bankDetails/account', 'The number of an account at Bankgiro has digits alone.', digits),
  when(atGiro('BANKGIRO'), 'SE-R-009', '/bankDetails/account', 'The number of an account at Bankgiro has 7 or 8 digits.', sized(7, 8)),
  when(({ seller }) => seller.address.country === 'SE', 'SE-R-011', '/payment/means',
    'In Sweden Bankgiro and Plusgiro are the means 30, with the account and its system, and not 50 or 56.',
    (invoice) => !means(invoice, '50', '56')),
  when((invoice) => isDomestic(invoice, 'SE'), 'SE-R-012', '/payment/means', 'Between Swedish companies a credit transfer is the means 30.',
    (invoice) => !means(invoice, '31')),
  when((invoice) => isGreekSeller(invoice) && invoice.seller.address.country === 'GR', 'GR-S-008-1', '/attachments',
    'A Greek invoice has a supporting document with the description "##INVOICE|URL##".',
    ({ attachments }) => attachments.filter(isGreekLink).length === 1),
  when(isGreekSeller, 'GR-S-011', '/seller/vatId', 'A Greek seller has a VAT number: EL and a tax number.',
    ({ seller: { vatId = '' } }) => vatId.startsWith('EL') && isGreek(vatId.slice(2))),
  when(icelandic, 'IS-R-001', '/type', 'In Iceland an invoice is of the type 380, a credit note 381.',
    ({ type }) => ['380', '381'].includes(type))
]

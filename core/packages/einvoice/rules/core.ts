import { memoizeByIdentity } from '@dispatch/common'
import { hasMod97 } from '../model/check-digits.ts'
import { listField } from '../model/fields.ts'
import type { EInvoiceLine, PartyAddress, Period } from '../model/model.ts'
import { profiles } from '../model/profiles.ts'
import { circlesIn, isCounted, linesAbove } from '../model/sub-lines.ts'
import { countriesIn, type EInvoiceRule, notInProfiles, only, parties, rule, ruleOfAdjustments, ruleOfEach, ruleOfLines } from './rule.ts'

/** Of a line that counts. Those that group others, or only say something, may leave it out. */
function counted (holds: (line: EInvoiceLine) => boolean): (line: EInvoiceLine) => boolean {
  return (line) => !isCounted(line) || holds(line)
}

/** Lines below lines (BR-FREXT-*, of the extended profiles). */
const subLineRules: readonly EInvoiceRule[] = [
  ruleOfLines('BR-FREXT-08', '/total', 'The total of a group is that of the lines below it; leave it out to have it computed.',
    ({ type, stated, net }) => type !== 'GROUP' || stated === undefined || stated.eq(net)),
  ruleOfLines('BR-FREXT-11', '/parentLine', 'A line stands below another line of the invoice: name the id of that one.',
    ({ parent, id }, { invoice: { lines } }) => parent === undefined || (parent !== id && linesAbove(lines).has(parent))),
  ruleOfLines('circle_of_lines', '/parentLine', 'A line does not stand below itself.',
    ({ id, parent }, { invoice: { lines } }) => parent === undefined || parent === id || !circlesIn(lines).has(id))
]

/** Validators of UBL refuse several, and those of CII warn of them. */
const [oneCustomerId] = notInProfiles(['BASIC_WL', 'BASIC', 'EXTENDED', 'EXTENDED_CTC_FR'], [
  rule('BT-46', '/customer/id', 'A customer has one id; BASIC_WL, BASIC and the EXTENDED profiles can state several.',
    ({ invoice: { customer } }) => customer.ids.length <= 1)
]) as [EInvoiceRule]

/** The required contents of an invoice and its parts (EN 16931-1, BR-01 to BR-65; the rules left out cannot be broken here). */
export const coreRules: readonly EInvoiceRule[] = [
  rule('BR-02', '/number', 'An invoice has a number (BT-1).', ({ invoice }) => invoice.number !== undefined),
  rule('BR-03', '/date', 'An invoice has a date of issue (BT-2).', ({ invoice }) => invoice.date !== undefined),
  rule('BR-05', '/currency', 'An invoice has a currency (BT-5), such as EUR; the template leaves it to the data.',
    ({ invoice }) => invoice.currency !== ''),
  rule('BR-06', '/seller/name', 'The seller has a name (BT-27).', ({ invoice }) => invoice.seller.name !== undefined),
  rule('BR-07', '/customer/name', 'The customer has a name (BT-44).', ({ invoice }) => invoice.customer.name !== undefined),
  rule('BR-09', '/seller/country', 'The seller\'s address has a country (BT-40), such as FR.',
    ({ invoice }) => invoice.seller.address.country !== undefined),
  rule('BR-11', '/customer/country', 'The customer\'s address has a country (BT-55), such as FR.',
    ({ invoice }) => invoice.customer.address.country !== undefined),
  rule('BR-16', '/lines', 'An invoice has at least one line (BG-25).', ({ invoice }) => invoice.lines.length > 0),
  rule('BR-17', '/payee',
    'A payee has a name and is not the seller: name, id and registration differ from the seller\'s; leave it out where they do not ' +
      '(BG-10).',
    ({ invoice: { payee, seller } }) =>
      payee === undefined || (payee.name !== undefined && ![seller.name, seller.tradingName].includes(payee.name) &&
        (payee.id === undefined || !seller.ids.some(({ id }) => id === payee.id?.id)) &&
        (payee.registration === undefined || payee.registration.id !== seller.registration?.id))),
  rule('BR-18', '/taxRepresentative/name', 'A tax representative has a name (BT-62).',
    ({ invoice: { taxRepresentative: given } }) => given === undefined || given.name !== undefined),
  rule('BR-20', '/taxRepresentative/country', 'A tax representative\'s address has a country (BT-69).',
    ({ invoice: { taxRepresentative: given } }) => given === undefined || given.address.country !== undefined),
  rule('BR-56', '/taxRepresentative/vatId', 'A tax representative has a VAT number (BT-63).',
    ({ invoice: { taxRepresentative: given } }) => given === undefined || given.vatId !== undefined),
  rule('prices_include_tax', '/pricesIncludeTax', 'The prices and totals of the lines of an e-invoice are without VAT (BT-131, BT-146).',
    ({ data }) => data['pricesIncludeTax'] !== true),
  ruleOfLines('BR-22', '/quantity', 'A line has a quantity (BT-129).', counted(({ quantity }) => quantity !== undefined)),
  ruleOfLines('BR-25', '/description', 'A line has a description, or a name (BT-153).', ({ name }) => name !== undefined),
  ruleOfLines('BR-26', '/unitPrice', 'A line has a price (BT-146).', counted(({ price }) => price !== undefined)),
  ruleOfLines('BR-27', '/unitPrice', 'A price is not negative (BT-146); use a negative quantity instead.',
    ({ price }) => price?.isNegative() !== true || price.isZero()),
  ruleOfLines('BR-28', '/grossPrice', 'A gross price is not negative (BT-148).',
    ({ grossPrice }) => grossPrice?.isNegative() !== true || grossPrice.isZero()),
  rule('BR-29', '/period/end', 'A period does not end before it starts (BT-74).', ({ invoice }) => isInOrder(invoice.period)),
  ruleOfLines('BR-30', '/period/end', 'A line\'s period does not end before it starts (BT-135).', ({ period }) => isInOrder(period)),
  ruleOfAdjustments('BR-31', 'invoice', 'allowance', '/amount', 'An allowance has an amount, or a percent (BT-92).',
    ({ amount }) => amount !== undefined),
  ruleOfAdjustments('BR-32', 'invoice', 'allowance', '/taxCategory',
    'An allowance has a VAT category (BT-95), its own or the invoice\'s; with a rate above 0 it is S.', ({ tax }) => tax.category !== ''),
  ruleOfAdjustments('BR-33', 'invoice', 'allowance', '/reason', 'An allowance has a reason, or the code of one (BT-97, BT-98).',
    ({ reason, reasonCode }) => (reason ?? reasonCode) !== undefined),
  ruleOfAdjustments('BR-36', 'invoice', 'charge', '/amount', 'A charge has an amount, or a percent (BT-99).',
    ({ amount }) => amount !== undefined),
  ruleOfAdjustments('BR-37', 'invoice', 'charge', '/taxCategory',
    'A charge has a VAT category (BT-102), its own or the invoice\'s; with a rate above 0 it is S.', ({ tax }) => tax.category !== ''),
  ruleOfAdjustments('BR-38', 'invoice', 'charge', '/reason', 'A charge has a reason, or the code of one (BT-104, BT-105).',
    ({ reason, reasonCode }) => (reason ?? reasonCode) !== undefined),
  ruleOfAdjustments('BR-41', 'lines', 'allowance', '/amount', 'An allowance has an amount, or a percent (BT-136).',
    ({ amount }) => amount !== undefined),
  ruleOfAdjustments('BR-42', 'lines', 'allowance', '/reason', 'An allowance has a reason, or the code of one (BT-139, BT-140).',
    ({ reason, reasonCode }) => (reason ?? reasonCode) !== undefined),
  ruleOfAdjustments('BR-43', 'lines', 'charge', '/amount', 'A charge has an amount, or a percent (BT-141).',
    ({ amount }) => amount !== undefined),
  ruleOfAdjustments('BR-44', 'lines', 'charge', '/reason', 'A charge has a reason, or the code of one (BT-144, BT-145).',
    ({ reason, reasonCode }) => (reason ?? reasonCode) !== undefined),
  ruleOfEach('BR-52', 'A supporting document has a reference (BT-122).',
    ({ invoice }) => invoice.attachments.map(({ id }, index) => ({ id, index })), ({ index }) => `/attachments/${index}/id`,
    ({ id }) => id !== ''),
  rule('BR-53', '/taxCurrencyAmount', 'With a currency of VAT accounting, the VAT is stated in it (BT-111).',
    ({ invoice: { taxCurrency, taxCurrencyAmount, currency } }) =>
      taxCurrency === undefined || taxCurrency === currency || taxCurrencyAmount !== undefined),
  ruleOfLines('BR-54', '/attributes', 'An attribute has a name and a value (BT-160, BT-161).',
    ({ attributes }) => attributes.every(({ name, value }) => name !== '' && value !== '')),
  ruleOfEach('BR-55', 'A reference to an earlier invoice has its number (BT-25).',
    ({ invoice }) => invoice.precedingInvoices.map(({ number }, index) => ({ number, index })),
    ({ index }) => `/precedingInvoices/${index}/number`, ({ number }) => number !== ''),
  rule('BR-57', '/delivery/country', 'An address of delivery has a country (BT-80).',
    ({ invoice: { delivery } }) => delivery === undefined || delivery.address.country !== undefined || isEmpty(delivery.address)),
  ruleOfEach('BR-62', 'An electronic address has a scheme of the EAS list (BT-34, BT-49).', parties,
    ({ at }) => `${at}/electronicAddress/scheme`,
    ({ party: { electronicAddress: given } }) => given === undefined || given.scheme !== undefined),
  ruleOfLines('BR-64', '/standardItemId/scheme', 'A standard identifier has a scheme (BT-157): 0160 for a GTIN.',
    ({ standardItemId: given }) => given === undefined || given.scheme !== undefined),
  ruleOfLines('BR-65', '/classifications', 'A classification has a code and its list (BT-158).',
    ({ classifications }) => classifications.every(({ code, list }) => code !== '' && list !== '')),
  rule('BR-CO-03', '/taxPointCode', 'A date or a code says when VAT becomes due, not both (BT-7, BT-8).',
    ({ invoice }) => invoice.taxPointDate === undefined || invoice.taxPointCode === undefined),
  ruleOfLines('BR-CO-04', '/taxCategory', 'A line has a VAT category (BT-151), its own or the invoice\'s; with a rate above 0 it is S.',
    ({ tax, type }, { format }) => tax.category !== '' || (format !== 'UBL' && !isCounted({ type }))),
  ...subLineRules,
  ...only(['UBL'], [
    ruleOfLines('gross_price_quantity', '/grossPriceQuantity',
      'UBL has one quantity for both prices, which CII and FACTUR_X have for each.',
      ({ grossPriceQuantity: given, priceQuantity }) => given === undefined || given.eq(priceQuantity ?? 1))
  ]),
  ruleOfEach('BR-CO-09', 'A VAT number begins with its country, such as FR; EL for Greece (BT-31, BT-48, BT-63).', ({ invoice }) => [
    { id: invoice.seller.vatId, at: '/seller' },
    { id: invoice.customer.vatId, at: '/customer' },
    { id: invoice.taxRepresentative?.vatId, at: '/taxRepresentative' }
  ], ({ at }) => `${at}/vatId`, ({ id }, { format }) => id === undefined || id.startsWith('EL') || countriesIn(format).has(id.slice(0, 2))),
  ...only(['UBL'], [oneCustomerId]),
  rule('BR-CO-26', '/seller/vatId', 'The seller is identified by a VAT number, a registration or an id (BT-29 to BT-31).',
    ({ invoice: { seller, profile } }) =>
      (seller.vatId ?? seller.registration ?? (profile === 'MINIMUM' ? undefined : seller.ids[0])) !== undefined),
  ruleOfEach('UBL-DT-06', 'The content of a supporting document comes with its mediaType and filename (BT-125).',
    ({ invoice }) => invoice.attachments.map((attachment, index) => ({ attachment, index })), ({ index }) => `/attachments/${index}`,
    ({ attachment: { content, mediaType, filename } }) => content === undefined || (mediaType !== undefined && filename !== undefined)),
  ruleOfEach('empty_content', 'The content of a supporting document is not empty: leave it out where there is none (BT-125).',
    ({ data }) => listField(data, 'attachments').map(({ content }, index) => ({ content, index })),
    ({ index }) => `/attachments/${index}/content`, ({ content }) => typeof content !== 'string' || content.trim() !== ''),
  ruleOfEach('BR-CL-24', 'XML is a supporting document of the profiles EXTENDED and EXTENDED_CTC_FR alone (BT-125).',
    ({ invoice }) => invoice.attachments.map(({ mediaType, content }, index) => ({ mediaType, content, index })),
    ({ index }) => `/attachments/${index}/mediaType`,
    ({ mediaType, content }, { invoice }) =>
      content === undefined || !['application/xml', 'text/xml'].includes(mediaType ?? '') ||
      profiles[invoice.profile].level === 'EXTENDED'),
  ruleOfEach('not_base64', 'The content of a supporting document is complete Base64, with its padding (BT-125).',
    ({ invoice }) => invoice.attachments.map(({ content }, index) => ({ content, index })), ({ index }) => `/attachments/${index}/content`,
    ({ content }) => content === undefined || Buffer.from(content, 'base64').toString('base64') === content)
]

/** What readers expect and EN 16931 does not require, or requires without a rule. */
export const coreAdvice: readonly EInvoiceRule[] = [
  ...only(['CII', 'FACTUR_X'], [oneCustomerId]),
  rule('no_due_date', '/dueDate', 'An invoice with an amount to pay says when it is due: a due date, or terms of payment (BT-9, BT-20).',
    ({ invoice, totals, format }) =>
      (format === 'UBL' && invoice.isCreditNote) || totals.due.lte(0) || (invoice.dueDate ?? invoice.paymentTerms) !== undefined),
  ruleOfLines('line_id_twice', '/id', 'The id of a line is that of no other line of the invoice (BT-126).',
    ({ id, at }, { invoice: { lines } }) => firstPlaces(lines).get(id) === at),
  ruleOfLines('inside_one_country', '/taxCategory',
    'A supply inside the EU (K) goes from one country to another: seller, customer and place of delivery are in the same one.',
    ({ tax }, { invoice: { seller, customer, delivery } }) =>
      tax.category !== 'K' || new Set([seller, customer].map(({ address }) => address.country)).size > 1 ||
      (delivery?.address.country ?? seller.address.country) !== seller.address.country),
  rule('leitweg_id', '/buyerReference', 'A Leitweg-ID ends with two check digits (ISO 7064, modulo 97-10).',
    ({ invoice: { references: { buyer } } }) => buyer === undefined || !isLeitwegId.test(buyer) || hasMod97(buyer.replaceAll('-', '')))
]

/** The place of the first line with each id. */
const firstPlaces = memoizeByIdentity((lines: readonly EInvoiceLine[]): ReadonlyMap<string, string> =>
  new Map(lines.toReversed().map(({ id, at }) => [id, at]))
)

/** The parts of a Leitweg-ID: the address of an authority, which begins with 2 to 12 digits, a part of its own, two check digits. */
const isLeitwegId = /^\d{2,12}-[A-Z0-9]{1,30}-\d{2}$/

function isInOrder (period: Period | undefined): boolean {
  return period?.start === undefined || period.end === undefined || period.start <= period.end
}

function isEmpty (address: PartyAddress): boolean {
  return Object.values(address).every((line) => line === undefined)
}

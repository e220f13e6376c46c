import t from 'tap'
import type { Json, JsonObject } from '../../common/json.ts'
import type { EInvoiceFormat } from '../model/profiles.ts'
import { baseRules, checkEInvoice, ruleSets } from '../rules/check.ts'
import { ciiText, plain, reported, ubl, ublText } from './support.ts'
import { textAt } from './xml.ts'

/** The data with a change: objects are merged, `null` removes a field, any other value replaces it. */
function changed (data: Json, change: Json): Json {
  if (!isObject(change)) return change
  const fields = Object.entries(change).map(([name, value]) => [name, changed(isObject(data) ? data[name] ?? {} : {}, value)] as const)
  return Object.fromEntries(
    Object.entries({ ...isObject(data) ? data : {}, ...Object.fromEntries(fields) }).filter(([, value]) => value !== null)
  )
}

/** Several changes, one after the other. */
function both (first: Json, second: Json): JsonObject {
  if (!isObject(first) || !isObject(second)) throw new TypeError('expected two changes')
  const fields = Object.entries(second).map(([name, value]) =>
    [name, isObject(value) && isObject(first[name] ?? null) ? both(first[name] ?? {}, value) : value] as const
  )
  return { ...first, ...Object.fromEntries(fields) }
}

function isObject (value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A change of the only line. */
function line (change: JsonObject): JsonObject {
  return { lines: [changed(plain.lines[0], change)] }
}

const allowance = { amount: 1, reason: 'x', taxRate: 20 }
const between = (country: string, seller: JsonObject = {}, customer: JsonObject = {}): JsonObject => ({
  seller: { country, ...seller },
  customer: { country, ...customer }
})
const german = between('DE', { vatId: 'DE123456789', contact: 'A', phone: '+49 30 123', email: 'a@b.example' }, { vatId: 'DE123456789' })
const germany = both(german, { payment: { means: 30 }, bankDetails: { iban: 'DE02120300000000202051' } })
const danishSeller = { vatId: 'DK12345678', registration: { id: 'DK12345678', scheme: '0184' } }
const denmark = between('DK', danishSeller, danishSeller)
const dutch = { vatId: 'NL123456789B12' }
const netherlands = both(between('NL', dutch, dutch), { payment: { means: 30 }, bankDetails: { iban: 'NL91ABNA0417164300' } })
const kennitala = { registration: { id: '1', scheme: '0196' }, electronicAddress: { id: '1', scheme: '0196' } }
const iceland = between('IS', kennitala, kennitala)
const swedish = { country: 'SE', electronicAddress: { id: '1', scheme: '0060' } }
const lastDay = (id: string): JsonObject => ({ attachments: [{ id, description: 'EINDAGI' }] })
const greekParty = { vatId: 'EL123456783', electronicAddress: { id: '123456783', scheme: '9933' } }
const greece = {
  number: '123456783|14/03/2026|1|1.1|A|7',
  attachments: [{ id: '4', description: '##M.AR.K##' }],
  ...between('GR', greekParty, greekParty)
}

const greekLink = (id: string): JsonObject => ({ id, description: '##INVOICE|URL##', url: 'https://a.example/' })

const italianParty = { vatId: 'IT00743110157', electronicAddress: { id: 'IT00743110157', scheme: '0211' } }
const circle = {
  lines: ['1', '2'].map((id) => ({ ...plain.lines[0], id, parentLine: id === '1' ? '2' : '1', lineType: 'GROUP' })) as unknown as Json
}
const italian = { ...line({ taxCategory: 'B', taxRate: 22 }), ...between('IT', italianParty, italianParty) }

/** A change that breaks exactly one rule: `id path`, the change, and the format if it matters. */
const breaches: readonly (readonly [string, JsonObject, EInvoiceFormat?])[] = [
  ['BR-02 /number', { number: null }],
  ['BR-03 /date', { date: null }],
  ['BR-06 /seller/name', { seller: { name: null } }],
  ['BR-07 /customer/name', { customer: { name: null } }],
  ['BR-09 /seller/country', { seller: { country: null } }],
  ['BR-11 /customer/country', { customer: { country: null } }],
  ['BR-17 /payee', { payee: { name: plain.seller.name } }],
  ['BR-17 /payee', { seller: { id: { id: '7' } }, payee: { name: 'Factor', id: { id: '7' } } }],
  ['BR-18 /taxRepresentative/name', { taxRepresentative: { name: ' ', vatId: 'FR1', country: 'FR' } }],
  ['BR-20 /taxRepresentative/country', { taxRepresentative: { name: 'R', vatId: 'FR1' } }],
  ['BR-56 /taxRepresentative/vatId', { taxRepresentative: { name: 'R', country: 'FR' } }],
  ['prices_include_tax /pricesIncludeTax', { pricesIncludeTax: true }],
  ['BR-22 /lines/0/quantity', line({ quantity: null })],
  ['BR-25 /lines/0/description', line({ description: ' ' })],
  ['BR-26 /lines/0/unitPrice', line({ unitPrice: null })],
  ['BR-27 /lines/0/unitPrice', line({ unitPrice: -1 })],
  ['BR-28 /lines/0/grossPrice', line({ unitPrice: 0, grossPrice: -1, priceDiscount: -1 })],
  ['BR-29 /period/end', { period: { start: '2026-03-02', end: '2026-03-01' } }],
  ['BR-30 /lines/0/period/end', line({ period: { start: '2026-03-02', end: '2026-03-01' } })],
  ['BR-31 /allowances/0/amount', { allowances: [{ reason: 'x', taxRate: 20 }] }],
  ['BR-32 /allowances/0/taxCategory', { allowances: [{ amount: 1, reason: 'x' }] }],
  ['BR-33 /allowances/0/reason', { allowances: [{ amount: 1, taxRate: 20 }] }],
  ['BR-36 /charges/0/amount', { charges: [{ reason: 'x', taxRate: 20 }] }],
  ['BR-37 /charges/0/taxCategory', { charges: [{ amount: 1, reason: 'x' }] }],
  ['BR-38 /charges/0/reason', { charges: [{ amount: 1, taxRate: 20 }] }],
  ['BR-41 /lines/0/allowances/0/amount', line({ allowances: [{ reason: 'x' }] })],
  ['BR-42 /lines/0/allowances/0/reason', line({ allowances: [{ amount: 1 }] })],
  ['BR-43 /lines/0/charges/0/amount', line({ charges: [{ reason: 'x' }] })],
  ['BR-44 /lines/0/charges/0/reason', line({ charges: [{ amount: 1 }] })],
  ['BR-51 /payment/card/number', { payment: { card: { number: '4111111111111111' } } }, 'CII'],
  ['BR-52 /attachments/0/id', { attachments: [{ id: ' ' }] }],
  ['BR-53 /taxCurrencyAmount', { taxCurrency: 'USD' }],
  ['BR-54 /lines/0/attributes', line({ attributes: [{ name: 'a', value: '' }] })],
  ['BR-55 /precedingInvoices/0/number', { precedingInvoices: [{ number: '' }] }],
  ['BR-57 /delivery/country', { delivery: { city: 'Lille' } }],
  ['BR-61 /bankDetails', { payment: { means: 58 } }],
  ['BR-62 /customer/electronicAddress/scheme', { customer: { electronicAddress: { id: '1' } } }],
  ['BR-64 /lines/0/standardItemId/scheme', line({ standardItemId: { id: '1' } })],
  ['BR-65 /lines/0/classifications', line({ classifications: [{ code: '', list: 'STI' }] })],
  ['BR-CO-03 /taxPointCode', { taxPointDate: '2026-03-14', taxPointCode: '35' }],
  ['BR-CO-04 /lines/0/taxCategory', line({ taxRate: 0 })],
  ['BR-CO-09 /customer/vatId', { customer: { vatId: '??123', electronicAddress: { id: '1', scheme: '0060' } } }],
  ['empty_content /attachments/0/content', { attachments: [{ id: '1', content: '', mediaType: 'application/pdf', filename: 'a.pdf' }] }],
  ['BR-CL-24 /attachments/0/mediaType', {
    attachments: [{ id: '1', content: 'PGEvPg==', mediaType: 'application/xml', filename: 'a.xml' }]
  }],
  ['BR-CO-26 /seller/vatId', { seller: { vatId: null, taxId: '1', electronicAddress: { id: '1', scheme: '0060' } } }],
  ['UBL-DT-06 /attachments/0', { attachments: [{ id: '1', content: 'AAAA', mediaType: 'application/pdf' }] }],

  ['BR-S-02 /seller/vatId', { seller: { vatId: null, registration: { id: '1', scheme: '0060' } } }],
  ['BR-S-05 /lines/0/taxRate', line({ taxCategory: 'S', taxRate: 0 })],
  ['BR-S-06 /allowances/0/taxRate', { allowances: [{ amount: 1, reason: 'x', taxCategory: 'S' }] }],
  ['BR-S-07 /charges/0/taxRate', { charges: [{ amount: 1, reason: 'x', taxCategory: 'S', taxRate: 0 }] }],
  ['BR-S-10 /lines/0/taxExemptionReason', line({ taxExemptionReason: 'none' })],
  ['BR-Z-05 /lines/0/taxRate', line({ taxCategory: 'Z' })],
  ['BR-E-05 /lines/0/taxRate', line({ taxCategory: 'E', taxExemptionCode: 'VATEX-EU-132' })],
  ['BR-E-10 /lines/0/taxExemptionReason', line({ taxCategory: 'E', taxRate: null })],
  [
    'BR-E-01 /allowances/0/taxExemptionReason',
    {
      ...line({ taxCategory: 'E', taxRate: 0, taxExemptionReason: 'a' }),
      allowances: [{ amount: 1, reason: 'x', taxCategory: 'E', taxExemptionReason: 'b' }]
    }
  ],
  ['BR-AE-05 /lines/0/taxRate', line({ taxCategory: 'AE' })],
  [
    'BR-AE-02 /customer/vatId',
    { ...line({ taxCategory: 'AE', taxRate: 0 }), customer: { vatId: null, electronicAddress: { id: '1', scheme: '0060' } } }
  ],
  [
    'BR-IC-02 /seller/vatId',
    {
      ...line({ taxCategory: 'K', taxRate: 0 }),
      delivery: { date: '2026-03-14', country: 'ES' },
      seller: { vatId: null, taxId: '1', registration: { id: '1', scheme: '0060' } }
    }
  ],
  [
    'BR-IC-02 /customer/vatId',
    {
      ...line({ taxCategory: 'K', taxRate: 0 }),
      delivery: { date: '2026-03-14', country: 'ES' },
      customer: { vatId: null, registration: { id: '1', scheme: '0060' } }
    }
  ],
  ['BR-IC-11 /delivery/date', { ...line({ taxCategory: 'K', taxRate: 0 }), delivery: { country: 'ES' } }],
  ['BR-IC-12 /delivery/country', { ...line({ taxCategory: 'K', taxRate: 0 }), period: { start: '2026-03-01' } }],
  [
    'BR-G-02 /seller/vatId',
    { ...line({ taxCategory: 'G', taxRate: 0 }), seller: { vatId: null, taxId: '1', registration: { id: '1', scheme: '0060' } } }
  ],
  ['BR-G-05 /lines/0/taxRate', line({ taxCategory: 'G' })],
  [
    'BR-O-02 /seller/vatId',
    {
      ...line({ taxCategory: 'O', taxRate: null }),
      seller: { registration: { id: '1', scheme: '0060' } },
      customer: { vatId: null, registration: { id: '1', scheme: '0060' } }
    }
  ],
  [
    'BR-O-02 /customer/vatId',
    { ...line({ taxCategory: 'O', taxRate: null }), seller: { vatId: null, registration: { id: '1', scheme: '0060' } } }
  ],
  [
    'BR-O-05 /lines/0/taxRate',
    {
      ...line({ taxCategory: 'O', taxRate: 0 }),
      seller: { vatId: null, registration: { id: '1', scheme: '0060' } },
      customer: { vatId: null, registration: { id: '1', scheme: '0060' } }
    }
  ],
  ['BR-CO-17 /lines/0/taxRate', line({ taxRate: '0.4' })],
  [
    'BR-O-12 /allowances/0/taxCategory',
    {
      ...line({ taxCategory: 'O', taxRate: null }),
      allowances: [{ amount: 1, reason: 'x', taxRate: 20 }],
      seller: { vatId: null, taxId: '1', registration: { id: '1', scheme: '0060' } },
      customer: { vatId: null, registration: { id: '1', scheme: '0060' } }
    }
  ],
  ['BR-AF-05 /lines/0/taxRate', line({ taxCategory: 'L', taxRate: 0 }), 'CII'],
  [
    'BR-AG-07 /charges/0/taxRate',
    { ...line({ taxCategory: 'M', taxRate: 0 }), charges: [{ amount: 1, reason: 'x', taxCategory: 'M', taxRate: 0 }] },
    'CII'
  ],
  ['BR-B-01 /taxCategory', both(italian, { customer: { country: 'SM' } })],
  ['BR-B-02 /charges/0/taxCategory', { ...italian, charges: [{ amount: 1, reason: 'x', taxRate: 22 }] }],
  ['BR-CL-18 /lines/0/taxCategory', italian, 'FACTUR_X'],
  ['BR-48 /lines/0/taxRate', { ...italian, ...line({ taxCategory: 'B', taxRate: null }) }],
  ['BR-AG-05 /lines/0/taxRate', line({ taxCategory: 'M', taxRate: null })],
  ['BR-AG-06 /allowances/0/taxRate', { allowances: [{ amount: 1, reason: 'x', taxCategory: 'M', taxRate: 0 }] }, 'CII'],

  ['BR-CO-10 /subtotal', { subtotal: '20.01' }],
  ['BR-CO-14 /taxAmount', { taxAmount: 4.01 }],
  ['BR-CO-15 /total', { total: 23 }],
  ['BR-CO-16 /amountDue', { prepaidAmount: 4, amountDue: 24 }],
  ['PEPPOL-EN16931-R120 /lines/0/total', line({ total: '20.03' })],
  ['price_quantity /lines/0/priceQuantity', line({ priceQuantity: 0 }), 'CII'],
  ['PEPPOL-EN16931-R040 /allowances/0/amount', { allowances: [{ ...allowance, percent: 10, base: 100 }] }],
  ['BR-DEC-09 /subtotal', { ...line({ unitPrice: '0.001', quantity: 1, total: '0.00' }), subtotal: '0.001' }, 'CII'],
  ['BR-DEC-15 /taxCurrencyAmount', { taxCurrency: 'USD', taxCurrencyAmount: '1.234' }],
  ['BR-DEC-16 /prepaidAmount', { prepaidAmount: '0.001' }],
  ['BR-DEC-17 /roundingAmount', { roundingAmount: '0.001' }],
  ['BR-DEC-23 /lines/0/total', line({ total: '20.001' })],
  ['BR-DEC-01 /allowances/0/amount', { allowances: [{ ...allowance, amount: '1.001' }] }],
  ['BR-DEC-02 /allowances/0/base', { allowances: [{ ...allowance, percent: 10, base: '10.001' }] }],
  ['BR-DEC-05 /charges/0/amount', { charges: [{ ...allowance, amount: '1.001' }] }],
  ['BR-DEC-06 /charges/0/base', { charges: [{ ...allowance, percent: 10, base: '10.001' }] }],
  ['BR-DEC-24 /lines/0/allowances/0/amount', line({ allowances: [{ amount: '1.001', reason: 'x' }] })],
  ['BR-DEC-25 /lines/0/allowances/0/base', line({ allowances: [{ percent: 10, base: '10.001', reason: 'x' }] })],
  ['BR-DEC-27 /lines/0/charges/0/amount', line({ charges: [{ amount: '1.001', reason: 'x' }] })],
  ['BR-DEC-28 /lines/0/charges/0/base', line({ charges: [{ percent: 10, base: '10.001', reason: 'x' }] })],
  ['PEPPOL-EN16931-R121 /lines/0/priceQuantity', line({ priceQuantity: 0 })],
  [
    'BR-TMP-3 /lines/0/grossPriceQuantity',
    both(line({ grossPrice: 10, priceQuantity: 1, grossPriceQuantity: 10 }), { eInvoiceProfile: 'XRECHNUNG', ...germany }),
    'CII'
  ],
  [
    'PEPPOL-EN16931-R055 /taxCurrencyAmount',
    both(line({ quantity: -1 }), { eInvoiceProfile: 'XRECHNUNG', taxCurrency: 'CHF', taxCurrencyAmount: '0.00', ...germany }),
    'CII'
  ],
  ['PEPPOL-EN16931-R046 /lines/0/grossPrice', line({ grossPrice: 12, priceDiscount: 1 })],
  ['PEPPOL-EN16931-R005 /taxCurrency', { taxCurrency: 'EUR', taxCurrencyAmount: 4 }],
  ['PEPPOL-EN16931-R055 /taxCurrencyAmount', { taxCurrency: 'USD', taxCurrencyAmount: -4 }],

  ['amount_out_of_range /lines/0/total', line({ quantity: '1000000000000' })],
  ['amount_out_of_range /charges/0/amount', { charges: [{ ...allowance, amount: '1000000000000' }] }],
  ['amount_out_of_range /prepaidAmount', { prepaidAmount: '-1000000000000' }],

  ['BR-CL-01 /type', { type: 999 }, 'CII'],
  ['BR-CL-04 /currency', { currency: 'XYZ' }],
  ['BR-CL-05 /taxCurrency', { taxCurrency: 'XYZ', taxCurrencyAmount: 1 }],
  ['BR-CL-07 /object/scheme', { object: { id: '1', scheme: '?' } }],
  ['BR-CL-07 /lines/0/object/scheme', line({ object: { id: '1', scheme: '?' } })],
  ['BR-CL-08 /statements/0/code', { statements: [{ code: 'QQQ', text: 'x' }] }, 'CII'],
  ['BR-CL-08 /notes', { notes: 'see #abc# here' }],
  ['BR-CL-10 /customer/id/scheme', { customer: { id: { id: '1', scheme: '9999' } } }],
  ['BR-CL-11 /seller/registration/scheme', { seller: { registration: { id: '1', scheme: '9999' } } }],
  ['BR-CL-13 /lines/0/classifications', line({ classifications: [{ code: '1', list: '??' }] })],
  ['BR-CL-14 /delivery/country', { delivery: { country: 'France' } }],
  ['BR-CL-15 /lines/0/origin', line({ origin: '??' })],
  ['BR-CL-15 /lines/0/origin', line({ origin: 'SS' }), 'CII'],
  ['BR-CL-15 /lines/0/origin', line({ origin: 'SS' }), 'FACTUR_X'],
  ['BR-CL-14 /customer/country', { customer: { country: 'SS' } }, 'CII'],
  ['BR-CO-09 /customer/vatId', { customer: { vatId: 'SS1' } }, 'FACTUR_X'],
  ['BR-CL-16 /payment/means', { payment: { means: 99 } }],
  ['BR-CL-19 /allowances/0/reasonCode', { allowances: [{ ...allowance, reasonCode: 'FC' }] }],
  ['BR-CL-20 /lines/0/charges/0/reasonCode', line({ charges: [{ amount: 1, reasonCode: '95' }] })],
  ['BR-CL-21 /lines/0/standardItemId/scheme', line({ standardItemId: { id: '1', scheme: '9999' } })],
  ['BR-CL-22 /lines/0/taxExemptionCode', line({ taxCategory: 'E', taxRate: 0, taxExemptionCode: 'VATEX-XX' })],
  ['BR-CL-23 /lines/0/unit', line({ unit: 'pcs' })],
  ['BR-CL-25 /seller/electronicAddress/scheme', { seller: { electronicAddress: { id: '1', scheme: 'XX' } } }, 'CII'],
  ['BR-CL-26 /delivery/location/scheme', { delivery: { location: { id: '1', scheme: '9999' } } }],

  ['PEPPOL-EN16931-R003 /buyerReference', { buyerReference: null }],
  ['PEPPOL-EN16931-R010 /customer/electronicAddress', { customer: { vatId: null } }],
  ['PEPPOL-EN16931-R020 /seller/electronicAddress', { seller: { vatId: 'IT12345678901', country: 'SM' } }],
  ['PEPPOL-EN16931-R042 /allowances/0/percent', { allowances: [{ ...allowance, base: 10 }] }],
  ['other_means /payment/card', { payment: { means: 58, card: { number: '1234' } }, bankDetails: { iban: 'FR7630006000011234567890189' } }],
  ['other_means /payment/card', { payment: { mandate: { reference: '1' }, card: { number: '1234' } } }, 'CII'],
  [
    'other_means /payment/mandate',
    { payment: { means: 58, mandate: { reference: '1' } }, bankDetails: { iban: 'FR7630006000011234567890189' } },
    'FACTUR_X'
  ],
  ['other_means /payment/mandate', { payment: { means: 48, mandate: { reference: '1' }, card: { number: '1234' } } }],
  ['PEPPOL-EN16931-R061 /payment/mandate/reference', { payment: { means: 59 } }],
  ['PEPPOL-EN16931-R110 /lines/0/period/start', { ...line({ period: { start: '2026-02-28' } }), period: { start: '2026-03-01' } }],
  ['PEPPOL-EN16931-R111 /lines/0/period/end', { ...line({ period: { end: '2026-04-01' } }), period: { end: '2026-03-31' } }],
  ['PEPPOL-EN16931-P0100 /type', { type: 389 }],
  ['PEPPOL-EN16931-P0112 /type', { type: 384, customer: { country: 'DE' } }],
  ['PEPPOL-EN16931-CL008 /seller/electronicAddress/scheme', { seller: { electronicAddress: { id: 'a@b.example', scheme: 'EM' } } }],
  ['PEPPOL-EN16931-P0104 /taxExemptionCode', line({ taxCategory: 'E', taxRate: 0, taxExemptionCode: 'VATEX-EU-G' })],
  ['PEPPOL-EN16931-P0105 /taxExemptionCode', line({ taxCategory: 'E', taxRate: 0, taxExemptionCode: 'VATEX-EU-O' })],
  ['PEPPOL-EN16931-P0106 /taxExemptionCode', line({ taxCategory: 'E', taxRate: 0, taxExemptionCode: 'VATEX-EU-IC' })],
  ['PEPPOL-EN16931-P0107 /taxExemptionCode', line({ taxCategory: 'E', taxRate: 0, taxExemptionCode: 'VATEX-EU-AE' })],
  ['PEPPOL-EN16931-P0108 /taxExemptionCode', line({ taxCategory: 'AE', taxRate: 0, taxExemptionCode: 'VATEX-EU-D' })],
  ['PEPPOL-EN16931-P0109 /taxExemptionCode', line({ taxCategory: 'AE', taxRate: 0, taxExemptionCode: 'VATEX-EU-F' })],
  ['PEPPOL-EN16931-P0110 /taxExemptionCode', line({ taxCategory: 'AE', taxRate: 0, taxExemptionCode: 'VATEX-EU-I' })],
  ['PEPPOL-EN16931-P0111 /taxExemptionCode', line({ taxCategory: 'AE', taxRate: 0, taxExemptionCode: 'VATEX-EU-J' })],
  [
    'PEPPOL-COMMON-R040 /customer/id/id',
    { customer: { id: { id: '4000001000006', scheme: '0088' }, electronicAddress: { id: '1', scheme: '0060' } } }
  ],
  ['PEPPOL-COMMON-R040 /customer/electronicAddress/id', { customer: { electronicAddress: { id: '400000100006', scheme: '0088' } } }],
  ['PEPPOL-COMMON-R040 /customer/electronicAddress/id', { customer: { electronicAddress: { id: 'A', scheme: '0088' } } }],
  [
    'PEPPOL-COMMON-R041 /customer/registration/id',
    { customer: { registration: { id: '974760674', scheme: '0192' }, electronicAddress: { id: '1', scheme: '0060' } } }
  ],
  [
    'PEPPOL-COMMON-R042 /customer/registration/id',
    { customer: { registration: { id: 'DK1234567', scheme: '0184' }, electronicAddress: { id: '1', scheme: '0060' } } }
  ],
  ['PEPPOL-COMMON-R043 /customer/electronicAddress/id', { customer: { electronicAddress: { id: '0202239952', scheme: '0208' } } }],
  ['PEPPOL-COMMON-R043 /customer/electronicAddress/id', { customer: { electronicAddress: { id: '200000042', scheme: '0208' } } }],
  ['PEPPOL-COMMON-R049 /customer/electronicAddress/id', { customer: { electronicAddress: { id: '5560360794', scheme: '0007' } } }],
  ['PEPPOL-COMMON-R050 /customer/electronicAddress/id', { customer: { electronicAddress: { id: '51824753557', scheme: '0151' } } }],
  ['PEPPOL-COMMON-R052 /customer/electronicAddress/id', { customer: { electronicAddress: { id: '1', scheme: '0096' } } }],
  ['PEPPOL-COMMON-R053 /customer/electronicAddress/id', { customer: { electronicAddress: { id: '1', scheme: '0198' } } }],
  ['BR-49 /otherPayments/0/means', { eInvoiceProfile: 'EXTENDED', otherPayments: [{ text: 'x' }] }, 'CII'],
  ['BG-19 /otherPayments/0/mandate', { eInvoiceProfile: 'EXTENDED', otherPayments: [{ means: 59, mandate: { reference: '1' } }] }, 'CII'],
  ['BR-61 /otherPayments/0/bankDetails', { eInvoiceProfile: 'EXTENDED', otherPayments: [{ means: 58 }] }, 'CII'],
  ['BR-CL-16 /otherPayments/0/means', { eInvoiceProfile: 'EXTENDED', otherPayments: [{ means: 999 }] }, 'CII'],
  ['UBL-SR-47 /otherPayments', { otherPayments: [{ means: 10 }] }],
  ['BT-46 /customer/id', { customer: { id: [{ id: '1' }, { id: '2' }] } }],
  ['gross_price_quantity /lines/0/grossPriceQuantity', line({ grossPriceQuantity: 10 })],
  ['BR-FREXT-08 /lines/0/total', { eInvoiceProfile: 'EXTENDED', ...line({ lineType: 'GROUP', total: 7 }) }, 'CII'],
  ['BR-FREXT-11 /lines/0/parentLine', { eInvoiceProfile: 'EXTENDED', ...line({ parentLine: '7' }) }, 'CII'],
  ['circle_of_lines /lines/0/parentLine', { eInvoiceProfile: 'EXTENDED', ...circle }, 'CII'],
  ['BG-3 /precedingInvoices', { precedingInvoices: [{ number: '1' }, { number: '2' }] }, 'CII'],

  ['DK-R-002 /seller/registration', { seller: { country: 'DK', electronicAddress: { id: 'DK12345678', scheme: '0184' } } }],
  ['DK-R-017 /customer/registration/scheme', both(denmark, { customer: { registration: { id: '1', scheme: '0060' } } })],
  ['DK-R-003 /lines/0/classifications', { ...denmark, ...line({ classifications: [{ code: '1', list: 'TST', version: '20.0101' }] }) }],
  ['DK-R-003 /lines/0/classifications', { ...denmark, type: 381, ...line({ classifications: [{ code: '1', list: 'TST' }] }) }],
  ['DK-R-014 /seller/registration/scheme', { seller: { country: 'DK', registration: { id: '1', scheme: '0060' } } }],
  ['DK-R-013 /seller/id/scheme', both(denmark, { seller: { id: { id: '1' } } })],
  ['DK-R-016 /amountDue', { ...denmark, type: 381, ...line({ quantity: -1 }) }],
  ['DK-R-005 /payment/means', { ...denmark, payment: { means: 20 } }],
  ['DK-R-006 /bankDetails', { ...denmark, payment: { means: 42 }, bankDetails: { account: '1' } }],
  ['DK-R-007 /payment/mandate', { ...denmark, payment: { means: 49, mandate: { reference: '1' } } }],
  ['DK-R-008 /payment/reference', { ...denmark, payment: { means: 50, reference: '99#' }, bankDetails: { account: '1234567' } }],
  ['DK-R-009 /payment/reference', { ...denmark, payment: { means: 50, reference: '04#1' }, bankDetails: { account: '1234567' } }],
  ['DK-R-010 /payment/reference', { ...denmark, payment: { means: 93, reference: '99#' }, bankDetails: { account: '12345678' } }],
  ['DK-R-011 /payment/reference', { ...denmark, payment: { means: 93, reference: '71#1' }, bankDetails: { account: '12345678' } }],
  ['DK-R-004 /charges/0/reason', { ...denmark, charges: [{ amount: 1, reason: '#3', reasonCode: 'ZZZ', taxRate: 20 }] }],
  ['DK-R-004 /charges/0/reason', { ...denmark, charges: [{ amount: 1, reason: 'x', reasonCode: 'ZZZ', taxRate: 20 }] }],
  ['NL-R-001 /precedingInvoices', { ...netherlands, type: 381 }],
  ['NL-R-002 /seller/address', both(netherlands, { seller: { address: null } })],
  ['NL-R-003 /seller/registration/scheme', both(netherlands, { seller: { registration: { id: '1', scheme: '0060' } } })],
  ['NL-R-004 /customer/address', both(netherlands, { customer: { city: null } })],
  ['NL-R-005 /customer/registration/scheme', both(netherlands, { customer: { registration: { id: '1', scheme: '0060' } } })],
  ['NL-R-006 /taxRepresentative/address', { ...netherlands, taxRepresentative: { name: 'R', vatId: 'NL1', country: 'NL' } }],
  ['NL-R-007 /payment', { ...netherlands, payment: null, bankDetails: null }],
  ['NL-R-008 /payment/means', { ...netherlands, payment: { means: 20 } }],
  ['NL-R-009 /orderReference', { ...netherlands, ...line({ orderLine: '1' }) }],
  ['DE-R-001 /payment', german],
  ['DE-R-002 /seller/contact', both(germany, { seller: { contact: null, phone: null, email: null } })],
  ['DE-R-005 /seller/contact', both(germany, { seller: { contact: null } })],
  ['DE-R-006 /seller/phone', both(germany, { seller: { phone: null } })],
  ['DE-R-007 /seller/email', both(germany, { seller: { email: null } })],
  ['DE-R-003 /seller/city', both(germany, { seller: { city: null } })],
  ['DE-R-004 /seller/postalCode', both(germany, { seller: { postalCode: null } })],
  ['DE-R-008 /customer/city', both(germany, { customer: { city: null } })],
  ['DE-R-009 /customer/postalCode', both(germany, { customer: { postalCode: null } })],
  ['DE-R-010 /delivery/city', { ...germany, delivery: { country: 'DE', postalCode: '1' } }],
  ['DE-R-011 /delivery/postalCode', { ...germany, delivery: { country: 'DE', city: 'B' } }],
  ['DE-R-015 /buyerReference', { ...germany, buyerReference: null, orderReference: '1' }],
  ['DE-R-018 /paymentTerms', { ...germany, paymentTerms: '#SKONTO#TAGE=14#' }],
  ['DE-R-018 /paymentTerms', { ...germany, paymentTerms: 'Net 30 days\n  #RABATT#TAGE=14#PROZENT=2.00#' }],
  ['DE-R-018 /paymentTerms', { ...germany, paymentTerms: '#SKONTO#TAGE=14#PROZENT=2.00#\nas in #5 and #6 of the order' }],
  ['not_base64 /attachments/0/content', { attachments: [{ id: '1', content: 'abc', mediaType: 'image/png', filename: 'a.png' }] }],
  [
    'DE-R-022 /attachments',
    { ...germany, attachments: [1, 2].map((id) => ({ id: String(id), content: 'AAAA', mediaType: 'image/png', filename: 'a.png' })) }
  ],
  ['DE-R-024-1 /payment/card', { ...germany, payment: { means: 48 } }],
  ['DE-R-025-1 /payment/mandate', { ...germany, payment: { means: 59 } }],
  [
    'DE-R-030 /payment/mandate/creditorId',
    { ...germany, payment: { means: 59, mandate: { reference: '1', account: 'DE02120300000000202051' } } }
  ],
  ['DE-R-031 /payment/mandate/account', { ...germany, payment: { means: 59, mandate: { reference: '1', creditorId: '1' } } }],
  ['IT-R-001 /seller/taxId', { seller: { vatId: 'IT12345678901', taxId: '1', registration: { id: '1', scheme: '0060' } } }],
  ['IT-R-002 /seller/address', { seller: { vatId: 'IT12345678901', address: null, registration: { id: '1', scheme: '0060' } } }],
  ['IT-R-003 /seller/city', { seller: { vatId: 'IT12345678901', city: null, registration: { id: '1', scheme: '0060' } } }],
  ['IT-R-004 /seller/postalCode', { seller: { vatId: 'IT12345678901', postalCode: null, registration: { id: '1', scheme: '0060' } } }],
  [
    'SE-R-001 /seller/vatId',
    { ...line({ taxRate: 25 }), seller: { country: 'SE', vatId: 'SE1', electronicAddress: { id: '1', scheme: '0060' } } }
  ],
  [
    'SE-R-002 /seller/vatId',
    { ...line({ taxRate: 25 }), seller: { country: 'SE', vatId: 'SE55603607930X', electronicAddress: { id: '1', scheme: '0060' } } }
  ],
  [
    'SE-R-005 /seller/taxId',
    {
      ...line({ taxRate: 25 }),
      seller: { country: 'SE', vatId: 'SE556036079301', taxId: 'x', registration: { id: '5560360793', scheme: '0007' } }
    }
  ],
  ['SE-R-003 /seller/registration/id', { seller: { ...swedish, registration: { id: '556036-079' } } }],
  ['SE-R-004 /seller/registration/id', { seller: { ...swedish, registration: { id: '165560360793' } } }],
  ['SE-R-013 /seller/registration/id', { seller: { ...swedish, registration: { id: '5560360794' } } }],
  ['SE-R-006 /lines/0/taxRate', { seller: { country: 'SE', vatId: 'SE556036079301', registration: { id: '5560360793', scheme: '0007' } } }],
  ['NO-R-001 /seller/vatId', { seller: { vatId: 'NO974760674MVA', electronicAddress: { id: '1', scheme: '0060' } } }],
  ['IS-R-002 /seller/registration', { seller: { country: 'IS' } }],
  ['IS-R-003 /seller/address', { seller: { country: 'IS', address: null, ...kennitala } }],
  ['IS-R-004 /customer/registration', both(iceland, { customer: { registration: null } })],
  ['IS-R-005 /customer/address', both(iceland, { customer: { postalCode: null } })],
  ['IS-R-006 /bankDetails/account', { ...iceland, payment: { means: 9 }, bankDetails: { account: '1' } }],
  ['IS-R-007 /bankDetails/account', { ...iceland, payment: { means: 42 }, bankDetails: { account: '1' } }],
  ['IS-R-008 /attachments', { ...iceland, ...lastDay('13.4.2026') }],
  ['IS-R-008 /attachments', { ...iceland, ...lastDay('2026-04-31') }],
  ['IS-R-009 /dueDate', { ...iceland, ...lastDay('2026-04-30'), dueDate: null, paymentTerms: 'now' }],
  ['IS-R-009 /dueDate', { ...iceland, ...lastDay('2026-04-30'), type: 381 }],
  ['IS-R-010 /attachments', { ...iceland, ...lastDay('2026-04-12') }],
  ['GR-R-001-1 /number', { ...greece, number: '7' }],
  ['GR-R-001-2 /number', { ...greece, number: '123456780|14/03/2026|1|1.1|A|7' }],
  ['GR-R-001-3 /number', { ...greece, number: '123456783|15/03/2026|1|1.1|A|7' }],
  ['GR-R-001-4 /number', { ...greece, number: '123456783|14/03/2026|x|1.1|A|7' }],
  ['GR-R-001-5 /number', { ...greece, number: '123456783|14/03/2026|1|9.9|A|7' }],
  ['GR-R-001-6 /number', { ...greece, number: '123456783|14/03/2026|1|1.1||7' }],
  ['GR-R-001-7 /number', { ...greece, number: '123456783|14/03/2026|1|1.1|A|' }],
  [
    'GR-R-003 /seller/vatId',
    { ...greece, number: '123456783|14/03/2026|1|1.1|A|7', seller: { ...greekParty, country: 'GR', vatId: 'GR123456783' } }
  ],
  ['GR-R-004-1 /attachments', { ...greece, attachments: [] }],
  ['GR-R-004-2 /attachments', { ...greece, attachments: [{ id: '0', description: '##M.AR.K##' }] }],
  ['GR-R-008-2 /attachments', { ...greece, attachments: [...greece.attachments, greekLink('5'), greekLink('6')] }],
  ['GR-R-008-3 /attachments', { ...greece, attachments: [...greece.attachments, { id: '5', description: '##INVOICE|URL##' }] }],
  ['GR-R-009 /seller/electronicAddress', both(greece, { seller: { electronicAddress: { id: '1', scheme: '0060' } } })],
  ['GR-R-006 /customer/vatId', both(greece, { customer: { vatId: 'GR123456783' } })],
  ['GR-R-010 /customer/electronicAddress', both(greece, { customer: { electronicAddress: { id: '1', scheme: '0060' } } })]
]

void t.test('a plain invoice with addresses and VAT numbers is an e-invoice in every format', (t) => {
  for (const format of ['UBL', 'CII', 'FACTUR_X'] as const) t.strictSame(reported(plain, format), [])
  for (const data of [germany, denmark, netherlands, iceland, greece]) t.strictSame(reported(changed(plain, data) as JsonObject), [])
  t.end()
})

for (const [expected, change, format = 'UBL'] of breaches) {
  void t.test(`${expected} is told for what breaks it (${format})`, (t) => {
    const found = reported(changed(plain, change) as JsonObject, format)
    t.ok(found.includes(expected), found.join(', '))
    t.ok(found.every((problem) => problem === expected || isKin(problem, expected)), found.join(', '))
    t.end()
  })
}

/** Some data break two rules at once: a sum that is not rounded is also a wrong sum. */
function isKin (problem: string, expected: string): boolean {
  return [
    ['BR-CO-10', 'BR-DEC-09'],
    ['UBL-SR-47', 'not_in_profile'],
    ['circle_of_lines', 'circle_of_lines'],
    ['BR-CL-05', 'PEPPOL-EN16931-R005'],
    ['BR-O-12', 'BR-S-06'],
    ['DE-R-025-1', 'PEPPOL-EN16931-R061'],
    ['SE-R-003', 'SE-R-004'],
    ['IS-R-008', 'IS-R-010']
  ].some((pair) => pair.some((id) => problem.startsWith(id)) && pair.some((id) => expected.startsWith(id)))
}

void t.test('every rule that is not one of a family is broken here', (t) => {
  const tested = new Set(breaches.map(([expected]) => expected.split(' ')[0]))
  const families = /^BR-((S|Z|E|AE|IC|G|O|AF|AG)-\d\d$|DE-|FR-)/
  const known = [...baseRules, ...Object.values(ruleSets).flatMap(({ rules }) => rules)]
  const untested = known.filter(({ id }) => !tested.has(id) && !families.test(id)).map(({ id }) => id)
  t.strictSame(untested, ['BR-05', 'BR-16', 'BR-DEC-13', 'BR-DEC-14', 'BR-DEC-18', 'DE-R-016'],
    'what the vocabulary, a sum or EN 16931 refuses first')
  t.end()
})

/** What Peppol's countries warn of, and data that bring each warning. */
const italianParties: readonly (readonly [string, JsonObject])[] = [
  ['PEPPOL-COMMON-R044 /customer/electronicAddress/id', { customer: { electronicAddress: { id: 'UFY9', scheme: '0201' } } }],
  ['PEPPOL-COMMON-R045 /customer/electronicAddress/id', { customer: { electronicAddress: { id: 'RSSMRA80A01H501', scheme: '0210' } } }],
  ['PEPPOL-COMMON-R046 /customer/electronicAddress/id', { customer: { electronicAddress: { id: '123', scheme: '9907' } } }],
  ['PEPPOL-COMMON-R047 /customer/electronicAddress/id', { customer: { electronicAddress: { id: 'IT00743110158', scheme: '0211' } } }]
]

const advised: readonly (readonly [string, JsonObject])[] = [
  ['DE-R-017 /type', { ...germany, type: 382 }],
  ['DE-R-019 /bankDetails/iban', { ...germany, payment: { means: 58 }, bankDetails: { iban: 'DE03120300000000202051' } }],
  [
    'DE-R-020 /payment/mandate/account',
    { ...germany, payment: { means: 59, mandate: { reference: '1', creditorId: '1', account: 'DE03120300000000202051' } } }
  ],
  ['DE-R-026 /precedingInvoices', { ...germany, type: 384 }],
  ['DE-R-027 /seller/phone', both(germany, { seller: { phone: '12' } })],
  ['DE-R-028 /seller/email', both(germany, { seller: { email: 'a' } })],
  ['NO-R-002 /seller/taxId', { seller: { vatId: 'NO974760673MVA', electronicAddress: { id: '1', scheme: '0060' } } }],
  ['SE-R-007 /bankDetails/account', giro('PLUSGIRO', '1-2')],
  ['SE-R-010 /bankDetails/account', giro('PLUSGIRO', '123456789')],
  ['SE-R-008 /bankDetails/account', giro('BANKGIRO', '123-456')],
  ['SE-R-009 /bankDetails/account', giro('BANKGIRO', '123456')],
  ['SE-R-011 /payment/means', { seller: swedish, payment: { means: 50 } }],
  ['SE-R-012 /payment/means', { ...between('SE', {}, {}), payment: { means: 31 }, bankDetails: { account: '1' } }],
  ['GR-S-008-1 /attachments', greece],
  ['GR-S-011 /seller/vatId', { ...greece, seller: { ...greekParty, country: 'GR', vatId: 'EL1' } }],
  ['IS-R-001 /type', { ...iceland, type: 382 }]
]

function giro (system: string, account: string): JsonObject {
  return { seller: swedish, payment: { means: 30 }, bankDetails: { account, bic: `SE:${system}` } }
}

void t.test('what Peppol\'s countries only advise is a warning, and each advice has data here that bring it', (t) => {
  const warnings = (data: JsonObject): string[] =>
    checkEInvoice(changed(plain, data) as JsonObject, { format: 'UBL', currency: 'EUR' }, '').warnings.map(({ code, path }) =>
      `${code} ${path}`
    )
  for (const [expected, data] of advised) t.ok(warnings(data).includes(expected), `${expected}: ${warnings(data).join(', ')}`)
  t.strictSame(ruleSets.peppolNational.advice.map(({ id }) => id).sort(), advised.map(([expected]) => expected.split(' ')[0]).sort())
  t.end()
})

void t.test('Italian numbers of a wrong form are a warning of Peppol, and right ones are none', (t) => {
  const warned = (data: JsonObject): string[] =>
    checkEInvoice(changed(plain, data) as JsonObject, { format: 'UBL', currency: 'EUR' }, '').warnings.map(({ code, path }) =>
      `${code} ${path}`
    )
  for (const [expected, data] of italianParties) t.strictSame(warned(data), [expected])
  for (const [id, scheme] of [['UFY9MH', '0201'], ['RSSMRA80A01H501U', '0210'], ['12345678903', '9907'], ['IT00743110157',
    '0211']] as const)
  {
    t.strictSame(warned({ customer: { electronicAddress: { id, scheme } } }), [], scheme)
  }
  t.strictSame(ruleSets.peppol.advice.map(({ id }) => id).sort(), italianParties.map(([expected]) => expected.split(' ')[0]))
  t.end()
})

void t.test('a whole card number is refused in CII, and warned about in UBL, as the validators of EN 16931 do', (t) => {
  const paid = { ...plain, payment: { card: { number: '4111111111111111' } } }
  const found = (format: EInvoiceFormat, data: JsonObject): [string[], string[]] => {
    const { problems, warnings } = checkEInvoice(data, { format, currency: 'EUR' }, '')
    return [problems.map(({ code }) => code), warnings.map(({ code }) => code)]
  }
  t.strictSame(found('UBL', paid), [[], ['BR-51']])
  t.strictSame(found('CII', paid)[0], ['BR-51'])
  for (const format of ['UBL', 'CII'] as const) {
    t.strictSame(found(format, { ...plain, payment: { card: { number: '4111110001' } } }), [[], []])
  }
  t.end()
})

void t.test('between French companies, what their platforms ask for is warned about', (t) => {
  const french = changed(plain, { customer: { country: 'FR' } }) as JsonObject
  const { problems, warnings } = checkEInvoice(french, { format: 'FACTUR_X', currency: 'EUR' }, '/template/data')
  t.strictSame(problems, [])
  t.strictSame(warnings.map(({ code, path }) => `${code} ${path.slice('/template/data'.length)}`), [
    'BR-FR-05 /statements',
    'BR-FR-05 /statements',
    'BR-FR-05 /statements',
    'BR-FR-08 /businessProcess',
    'BR-FR-10 /seller/registration',
    'BR-FR-12 /customer/electronicAddress',
    'BR-FR-13 /seller/electronicAddress',
    'BR-FR-11 /customer/registration'
  ])
  t.end()
})

void t.test('what only some may send is taken from them', (t) => {
  const skonto = { ...germany, paymentTerms: '30 Tage netto\n#SKONTO#TAGE=14#PROZENT=2.00#' }
  t.strictSame(reported(changed(plain, skonto) as JsonObject), [])
  t.strictSame(textAt(ubl(changed(plain, skonto) as JsonObject), 'PaymentTerms/Note'), '30 Tage netto\n#SKONTO#TAGE=14#PROZENT=2.00#\n',
    'a line break behind a discount')
  t.strictSame(reported(changed(plain, { ...germany, type: 384 }) as JsonObject), [])
  for (const format of ['UBL', 'CII'] as const) t.strictSame(reported(changed(plain, italian) as JsonObject, format), [])
  t.strictSame(reported(changed(plain, line({ taxCategory: 'L', taxRate: 0 })) as JsonObject), [])
  const formed = changed(plain, { seller: { legalForm: 'SARL' }, customer: { legalForm: 'S.L.', taxId: '7' } }) as JsonObject
  for (const text of [ublText(formed), ciiText(formed)]) {
    t.ok(text.includes('SARL') && !text.includes('S.L.') && !text.includes('>7<'), 'the legal form and tax number of the seller alone')
  }
  t.equal(textAt(ubl({ ...plain, type: 81 }), 'CreditNoteTypeCode'), '81')
  t.strictSame(reported({ ...plain, type: 81 }), [])
  t.end()
})

void t.test('what does not fit the vocabulary is told once, beside what breaks a rule', (t) => {
  t.strictSame([...new Set(reported(changed(plain, { date: 14, number: ' ' }) as JsonObject))], ['type /date', 'BR-02 /number'])
  t.strictSame(checkEInvoice(plain, { format: 'UBL', currency: undefined }, '').problems.map(({ code }) => code), ['BR-05'])
  t.end()
})

/** Valid data that the rules once refused or misread. */
const accepted: readonly (readonly [string, JsonObject, EInvoiceFormat?])[] = [
  ['a Danish number without DK', both(denmark, { seller: { registration: { id: '12345678', scheme: '0184' } } })],
  [
    'UNSPSC of a Danish version',
    { ...denmark, ...line({ classifications: [{ code: '1', list: 'TST', version: '26.08.01' }, { code: '2', list: 'STI' }] }) }
  ],
  ['a Danish tax by its number and a text', { ...denmark, charges: [{ amount: 1, reason: '3200#Sugar', reasonCode: 'ZZZ', taxRate: 20 }] }],
  ['a giro account of eight digits', { ...denmark, payment: { means: 50, reference: '01#' }, bankDetails: { account: '12345678' } }],
  ['a GLN of eight digits', { customer: { electronicAddress: { id: '40000015', scheme: '0088' } } }],
  ['a Belgian number that begins with 2', { customer: { electronicAddress: { id: '2000000042', scheme: '0208' } } }],
  ['a Swedish organisation number without a scheme', { seller: { ...swedish, registration: { id: '5560360793' } } }],
  ['the last day of an Icelandic payment', { ...iceland, ...lastDay('2026-04-13') }],
  ['other means of payment of a Dutch seller abroad', both(netherlands, { customer: { country: 'BE' }, payment: { means: 10 } })],
  ['a UBL credit note that says not until when', { type: 381, dueDate: null }],
  ['a line total two cents off, in UBL', line({ total: '20.02' })],
  ['a line total from a price with VAT, in CII', line({ quantity: 100, unitPrice: '8.40', total: '840.34' }), 'CII'],
  ['a price with all its decimals, in CII', line({ quantity: 100, unitPrice: '8.4034', total: '840.34' }), 'CII'],
  ['VAT in another currency that is not named', { taxCurrencyAmount: -4 }],
  ['a net price rounded by itself, in CII', line({ grossPrice: '10.004', priceDiscount: '0.005', unitPrice: '10.00' }), 'CII'],
  ['an amount that is not base × percent, in Factur-X', { allowances: [{ ...allowance, percent: 10, base: 100 }] }, 'FACTUR_X'],
  ['VAT of another sign in another currency, in CII', { taxCurrency: 'USD', taxCurrencyAmount: -4 }, 'CII'],
  ['South Sudan, in UBL', { ...line({ origin: 'SS' }), delivery: { country: 'SS' } }],
  ['a part of the file', { attachments: [{ id: '1', url: '#ef=report.pdf' }] }],
  ['a subject with a digit', { statements: [{ code: 'GS7', text: 'x' }] }],
  ['a subject with a digit, in CII', { statements: [{ code: 'GS7', text: 'x' }] }, 'CII']
]

for (const [rule, change, format = 'UBL'] of accepted) {
  void t.test(`accepted: ${rule}`, (t) => {
    t.strictSame(reported(changed(plain, change) as JsonObject, format), [])
    t.end()
  })
}

void t.test('XI and 1A are countries in every format', (t) => {
  for (const format of ['UBL', 'CII', 'FACTUR_X'] as const) {
    for (const country of ['XI', '1A']) t.strictSame(reported(changed(plain, { customer: { country } }) as JsonObject, format), [])
  }
  t.end()
})

void t.test('a Greek tax representative brings the names of both parties, wherever they are', (t) => {
  const represented = {
    ...greece,
    seller: { vatId: null, taxId: '7', registration: { id: '1', scheme: '0060' } },
    customer: {},
    taxRepresentative: { name: 'R', vatId: 'EL123456783', country: 'GR' }
  }
  const root = ubl(changed(plain, represented) as JsonObject)
  for (const party of ['AccountingSupplierParty', 'AccountingCustomerParty']) t.ok(textAt(root, `${party}/Party/PartyName/Name`), party)
  t.equal(textAt(ubl(plain), 'AccountingSupplierParty/Party/PartyName/Name'), undefined)
  t.end()
})

void t.test('a card is in the e-invoice beside bank details, which are left out; the warning says so', (t) => {
  const bankDetails = { iban: 'FR7630006000011234567890189' }
  const paid = { ...plain, payment: { card: { number: '1234' } }, bankDetails }
  const advised = (data: JsonObject): string[] =>
    checkEInvoice(data, { format: 'UBL', currency: 'EUR' }, '').warnings.map(({ code, path }) => `${code} ${path}`)
  t.strictSame(reported(paid), [])
  t.equal(textAt(ubl(paid), 'PaymentMeans/PaymentMeansCode'), '48')
  t.equal(textAt(ubl(paid), 'PaymentMeans/CardAccount/PrimaryAccountNumberID'), '1234')
  t.strictSame(advised(paid), ['other_means /bankDetails'])
  t.strictSame(advised({ ...plain, bankDetails }), [])
  t.end()
})

void t.test('outside of Peppol, parts that do not come to the whole are warned about', (t) => {
  const wonder = {
    ...changed(plain, line({ grossPrice: 12, priceDiscount: 1 })) as JsonObject,
    allowances: [{ ...allowance, percent: 10, base: 100 }]
  }
  const { problems, warnings } = checkEInvoice(wonder, { format: 'CII', currency: 'EUR' }, '')
  t.strictSame([problems, warnings.map(({ code, path }) => `${code} ${path}`)], [
    [],
    [
      'amount_of_percent /allowances/0/amount',
      'price_of_gross /lines/0/grossPrice'
    ]
  ])
  t.end()
})

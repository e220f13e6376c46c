import { type Asked, type ExactLine, exactLines, type Invoice, invoiceOf, type JsonObject, minorUnits, Money, refused,
  taxesOf } from '@dispatch/core/provider'

type Request = Pick<Asked<'invoicing'>, 'invoicing' | 'data'>
type Accounts = { accountCode: string, taxTypes: readonly { percent: number, type: string }[] }

/** The most decimals of a quantity and of a price: https://developer.xero.com/documentation/api/accounting/invoices (unitdp). */
const decimals = 4
/** The decimals of every total and every tax. */
const digits = 2

/** Xero's CurrencyCode: https://developer.xero.com/documentation/api/accounting/types#currencies. */
export const currencies: string[] = `
  AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BYR BZD CAD CDF CHF CLF CLP CNY COP CRC
  CUC CUP CVE CZK DJF DKK DOP DZD EEK EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK
  JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LTL LVL LYD MAD MDL MGA MKD MMK MNT MOP MRO MRU MUR MVR MWK MXN MXV
  MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SKK SLE SLL SOS SRD STD
  STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VEF VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMK ZMW ZWD
`.trim().split(/\s+/)

/** An invoice in Xero's words, without its contact, its status and its reference. Refuses what Xero would add up to another total. */
export function invoiceFields ({ invoicing, data }: Request, accounts: Partial<Accounts>): JsonObject {
  const invoice = invoiceOf(data)
  const { number = '', date, currency = '' } = invoice
  const due = invoicing.dueDate ?? invoice.dueDate
  if (due === undefined) throw refused('due_date_required', 'Xero approves no invoice without a due date.', '/data/dueDate')
  const lines = exactLines(invoice, { quantity: decimals, price: decimals })
  const taxes = taxesIn(lines, invoice)
  return {
    Type: 'ACCREC',
    InvoiceNumber: number,
    ...(date !== undefined && { Date: date }),
    DueDate: due,
    CurrencyCode: currency,
    LineAmountTypes: 'Exclusive',
    LineItems: [
      ...lines.map((line, index) => ({ ...itemOf(line, accounts), TaxAmount: taxes[index]?.toNumber() ?? 0 })),
      // An invoice has no other place for a text: a line without an amount is one.
      ...[invoicing.paymentTerms ?? invoice.paymentTerms, invoice.notes, invoice.conditions].flatMap((text) =>
        text === undefined || text === '' ? [] : [{ Description: text }]
      )
    ]
  }
}

/** The references of the invoice that its customer reads; undefined without one. */
export function referencesOf ({ invoicing, data }: Request): string | undefined {
  const { reference, orderReference, buyerReference } = invoiceOf(data)
  return [...new Set([invoicing.reference, reference, orderReference, buyerReference])].filter((text) => text !== undefined).join(', ') ||
    undefined
}

/**
 * The tax of each line, with which Xero comes to the total of the data, whichever way its taxes were rounded. A prepaid amount and a
 * rounding have no field.
 */
function taxesIn (lines: readonly ExactLine[], invoice: Invoice): NonNullable<ReturnType<typeof taxesOf>> {
  const { due, total, currency } = invoice
  if (!due.eq(total)) throw refused('amount_due_differs', 'Xero has no field for a prepaid amount or a rounding.', '/data/amountDue')
  if (total.decimalPlaces() > digits || !minorUnits(total, currency).isInteger()) {
    throw refused('too_fine', `Xero keeps two decimals of an amount, and the total is ${total.toFixed()}.`, '/data/total')
  }
  // Xero keeps two decimals of a currency with three, such as the dinar of Kuwait.
  const counted = minorUnits(new Money(1), currency).gt(100) ? { total } : invoice
  const taxes = taxesOf(lines.map(({ quantity, unitPrice, taxRate }) => ({ net: quantity.mul(unitPrice), taxRate })), counted)
  if (taxes !== undefined) return taxes
  const made = lines.reduce((sum, { quantity, unitPrice, taxRate }) => sum.add(quantity.mul(unitPrice).mul(taxRate.div(100).add(1))),
    new Money(0))
  throw refused('total_differs', `The lines, allowances and charges with their taxes come to ${made.toFixed()}, and the total is ` +
    `${total.toFixed()}.`, '/data/total')
}

function itemOf (
  { description, quantity, unitPrice, taxRate }: ExactLine,
  { accountCode = '', taxTypes = [] }: Partial<Accounts>
): JsonObject {
  const known = taxTypes.find(({ percent }) => taxRate.eq(percent))
  if (known === undefined) throw refused('unknown_tax_rate', `The settings have no tax type of ${taxRate.toFixed()} %.`, '/data/taxRate')
  return {
    Description: description,
    Quantity: quantity.toNumber(),
    UnitAmount: unitPrice.toNumber(),
    AccountCode: accountCode,
    TaxType: known.type
  }
}

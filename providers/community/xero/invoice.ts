import { type InvoiceLine, invoiceOf, type JsonObject, minorUnits, Money, refused, type ServiceContracts } from '@dispatch/core/provider'

type Request = Pick<ServiceContracts['invoicing']['dispatch'], 'invoicing' | 'data'>
type Accounts = { accountCode: string, taxTypes: readonly { percent: number, type: string }[] }
type Line = Pick<InvoiceLine, 'description' | 'quantity' | 'unitPrice' | 'taxRate'>

/** The most decimals of a quantity and of a price: https://developer.xero.com/documentation/api/accounting/invoices (unitdp). */
const decimals = 4

/** An approved invoice in Xero's words. Refuses what Xero would add up to another total. */
export function invoiceFields ({ invoicing, data }: Request, accounts: Partial<Accounts>): JsonObject {
  const invoice = invoiceOf(data)
  const { number = '', date, currency = '', customer: { name = '', email } } = invoice
  const due = invoicing.dueDate ?? invoice.dueDate
  if (due === undefined) throw refused('due_date_required', 'Xero approves no invoice without a due date.', '/data/dueDate')
  const lines = linesOf(invoice)
  checkTotal(lines, invoice)
  return {
    Type: 'ACCREC',
    Status: 'AUTHORISED',
    InvoiceNumber: number,
    Contact: invoicing.customerId === undefined
      ? { Name: name, ...(email !== undefined && { EmailAddress: email }) }
      : { ContactID: invoicing.customerId },
    ...(date !== undefined && { Date: date }),
    DueDate: due,
    CurrencyCode: currency,
    LineAmountTypes: 'Exclusive',
    LineItems: lines.map((line) => itemOf(line, accounts))
  }
}

/** The lines, and after them the allowances and charges on the whole. */
function linesOf ({ lines, adjustments }: ReturnType<typeof invoiceOf>): Line[] {
  const one = new Money(1)
  return [
    ...lines.map((line) => isExact(line) ? line : { ...line, quantity: one, unitPrice: line.total }),
    ...adjustments.map(({ reason: description, amount: unitPrice, taxRate }) => ({ description, quantity: one, unitPrice, taxRate }))
  ]
}

function isExact ({ isPlain, quantity, unitPrice }: InvoiceLine): boolean {
  return isPlain && quantity.decimalPlaces() <= decimals && unitPrice.decimalPlaces() <= decimals
}

/** A prepaid amount and a rounding have no field. Xero rounds the tax of each line: a minor unit of difference for each is permitted. */
function checkTotal (lines: readonly Line[], invoice: ReturnType<typeof invoiceOf>): void {
  if (!invoice.due.eq(invoice.total)) {
    throw refused('amount_due_differs', 'Xero has no field for a prepaid amount or a rounding.', '/data/amountDue')
  }
  const made = lines.reduce((sum, { quantity, unitPrice, taxRate }) => sum.add(quantity.mul(unitPrice).mul(taxRate.div(100).add(1))),
    new Money(0))
  if (minorUnits(made.sub(invoice.total), invoice.currency).abs().lte(lines.length)) return
  const message =
    `The lines, allowances and charges with their taxes come to ${made.toFixed()}, and the total is ${invoice.total.toFixed()}.`
  throw refused('total_differs', message, '/data/total')
}

function itemOf ({ description, quantity, unitPrice, taxRate }: Line, { accountCode = '', taxTypes = [] }: Partial<Accounts>): JsonObject {
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

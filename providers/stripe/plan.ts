import { type Asked, type Invoice, invoiceOf, type Known, refused, textOf } from '@dispatch/core/provider'
import { type Item, itemsOf, joined, minor, type Sent, sentOf, settledOf, withoutNegatives } from './data.ts'
import type { Call } from './settings.ts'
import { beginningOf, endOf } from './time.ts'
import { checkTotal, checkUnrounded } from './totals.ts'

/** The facts of a document at Stripe: times are in Unix time, `due` is in minor units. `reference` names the invoice that is credited. */
export type Plan = {
  invoice: Invoice
  items: Sent[]
  due: number
  memo?: string | undefined
  footer?: string | undefined
  issuedAt?: number
  dueAt?: number
  product?: string
  reference?: string
}

type Whole = Asked<'invoicing'>
type Facts = Pick<Known<Call['settings'], Call['requestSettings']>, 'settings' | 'requestSettings' | 'now'>

/** The most characters of a text that is made of several fields. */
const longest = { memo: 1500, footer: 5000, quote: 500, quoteFooter: 500, credit: 5000 }

/** Computes the whole document before anything is sent. Refuses, with its place, a value that Stripe cannot represent. */
export function planOf ({ invoicing, data }: Whole, { settings, requestSettings, now }: Facts): Plan {
  const invoice = invoiceOf(data)
  const isInvoice = invoicing.documentType === 'INVOICE'
  const whole = itemsOf(invoice)
  const items = isInvoice ? whole : withoutNegatives(whole, invoice)
  const settled = settledOf(invoice, settings)
  if (!isInvoice) refuseSettled(settled)
  const sent = sentOf([...items, ...settled], settings)
  checkTotal(items, invoice)
  if (!isInvoice) checkUnrounded(items, invoice)
  if (minor(invoice.due, invoice).isNegative()) {
    throw refused('nothing_due', 'More has been paid than the total: Stripe makes no invoice of it.', '/data/prepaidAmount')
  }
  return {
    invoice,
    items: sent,
    due: minor(invoice.due, invoice).toNumber(),
    ...timesOf({ invoicing, invoice }, settings, now),
    ...kinds[invoicing.documentType]?.({
      requested: { invoicing, data },
      invoice,
      items,
      settings,
      label: requestSettings.paymentCollectionLabel
    })
  }
}

type Kind = (of: {
  requested: Pick<Whole, 'invoicing' | 'data'>
  invoice: Invoice
  items: readonly Item[]
  settings: Facts['settings']
  label: string | undefined
}) => Partial<Plan>

const termsOf = ({ invoicing }: Pick<Whole, 'invoicing'>, invoice: Invoice): string | undefined =>
  invoicing.paymentTerms ?? invoice.paymentTerms

/** The fields of only one kind of document. */
const kinds: Readonly<Record<string, Kind | undefined>> = {
  INVOICE: ({ requested, invoice, label }) => ({
    memo: fitting('memo', joined(label, invoice.notes), '/data/notes'),
    footer: fitting('footer', joined(termsOf(requested, invoice), invoice.conditions), '/data/conditions')
  }),
  QUOTE ({ requested, invoice, items, settings: { quoteProduct: product } }) {
    if (product === undefined) throw refused('no_product', 'Stripe makes quotes of products: the settings need the product of quotes.')
    return {
      product,
      memo: fitting('quote', items.map(({ quantity, description }) => `${quantity.toFixed()} × ${description}`).join('\n'), '/data/lines'),
      footer: fitting('quoteFooter', joined(termsOf(requested, invoice), invoice.conditions, invoice.notes), '/data/conditions')
    }
  },
  CREDIT ({ requested: { invoicing, data }, invoice }) {
    const { reference: given = '' } = invoicing
    const reference = given.startsWith('in_') ? given : textOf(data, '/invoiceNumber') ?? given
    if (reference !== '') {
      return { reference, memo: fitting('credit', joined(invoice.number, textOf(data, '/reason'), invoice.notes), '/data/notes') }
    }
    throw refused('no_invoice',
      'A credit note needs its invoice: give its id or its number as the reference, or "invoiceNumber" in the data.',
      '/invoicing/reference')
  }
}

/** A quote and a credit note are not paid, so neither has a field for a prepaid amount. */
function refuseSettled ([item]: readonly Item[]): void {
  if (item !== undefined) {
    throw refused('not_for_invoices', 'Stripe has no place for this in a quote or a credit note: leave it out.', item.at)
  }
}

function fitting (name: keyof typeof longest, text: string | undefined, at: string): string | undefined {
  if (text === undefined || text.length <= longest[name]) return text
  throw refused('too_long',
    `Stripe prints at most ${longest[name]} characters there, and together with what stands beside it this has ${text.length}.`, at)
}

/** An invoice can be paid, and a quote accepted, until the end of its day. A day in the past is refused. */
function timesOf (
  { invoicing, invoice }: Pick<Whole, 'invoicing'> & { invoice: Invoice },
  { timezone = 'UTC' }: Facts['settings'],
  now: Date
): Pick<Plan, 'issuedAt' | 'dueAt'> {
  const date = invoicing.dueDate ?? invoice.dueDate
  const dueAt = date === undefined || invoicing.documentType === 'CREDIT' ? undefined : endOf(date, timezone)
  if (dueAt !== undefined && dueAt * 1000 <= now.getTime()) {
    const at = invoicing.dueDate === undefined ? '/data/dueDate' : '/invoicing/dueDate'
    throw refused('due_date_in_the_past', `Stripe takes no due date that has passed: ${date ?? ''} is over in ${timezone}.`, at)
  }
  return { ...(invoice.date !== undefined && { issuedAt: beginningOf(invoice.date, timezone) }), ...(dueAt !== undefined && { dueAt }) }
}

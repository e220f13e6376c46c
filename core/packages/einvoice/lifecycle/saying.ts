import { type Decimal, type JsonObject, Money, type Problem } from '@dispatch/common'
import type { EInvoiceModel, Identifier, Party } from '../model/model.ts'
import { isOneGroup, totalsOf } from '../model/totals.ts'
import { modelOf, type Reading } from '../read/read.ts'
import { factsOf, reasonedStatuses } from './status-codes.ts'
import { checkStatus, type InvoiceStatus, type StatusAmount, type StatusParty } from './status.ts'

/** What a seller says of an invoice in the French life cycle: what was missing is there (209), the money has come in (212). */
export const sellerCodes = ['209', '212'] as const
export type SellerCode = typeof sellerCodes[number]

/** A rate in percent, and what has come in with it, VAT included, in the currency of the invoice. Both are decimals. */
export type Collected = { rate: string, amount: string }

/** `at`: when it came to be, in UTC (ISO 8601). `amounts`: of 212; the whole invoice unless given. */
export type Saying = { code: SellerCode, at: string, amounts?: readonly Collected[], reason?: string }

/**
 * The status of an invoice that its seller says, of its data (`dispatch:invoice`). `id`: of the message; `issued`: when it is made, in UTC
 * (ISO 8601). The places of the problems are in what is said; what is wrong with the invoice has none.
 */
export function sellerStatus (
  data: JsonObject,
  { code, at, amounts, reason }: Saying,
  { id, issued, reading }: { id: string, issued: string, reading: Reading }
): { status: InvoiceStatus, problems: Problem[] } {
  const invoice = modelOf(data, reading)
  const { seller, customer, number = '', type, date, currency } = invoice
  const sellerId = sirenOf(seller)
  const collected = code === '212' ? amounts ?? dueByRate(invoice) : []
  const status: InvoiceStatus = {
    id,
    process: processOf(customer),
    code,
    name: factsOf(code).name,
    issued: plainTime(issued),
    at: plainTime(at),
    invoice: { number, type, ...(date !== undefined && { date }), ...(sellerId !== undefined && { seller: sellerId }) },
    sender: { role: 'WK' },
    issuer: { role: 'SE', ...(sellerId !== undefined && { id: sellerId }), ...(seller.name !== undefined && { name: seller.name }) },
    recipients: [...recipientOf('BY', customer), portal],
    details: detailsOf(collected.map((one) => ({ kind: 'MEN', ...one, currency })), reason)
  }
  return { status, problems: [...rateProblems(invoice, code === '212' ? amounts ?? [] : []), ...checkStatus(status).map(inSaying)] }
}

/**
 * What a buyer says of an invoice in the French life cycle: it is worked on (204), approved (205) or a part of it (206), disputed (207),
 * waits for what is missing (208), is refused (210), and its payment is on the way (211).
 */
export const buyerCodes = ['204', '205', '206', '207', '208', '210', '211'] as const
export type BuyerCode = typeof buyerCodes[number]

/**
 * `at`: when it came to be, in UTC (ISO 8601). `reasonCode`: of 206, 207, 208 and 210, one of those of the status; `reason`: why, in words.
 * `amount`: of 211, what was paid, in the currency of the invoice; a decimal.
 */
export type BuyerSaying = { code: BuyerCode, at: string, reasonCode?: string, reason?: string, amount?: string }

/**
 * The status of an invoice that its buyer says, of its data (`dispatch:invoice`) and as {@link sellerStatus} has it. What is wrong with the
 * invoice has no place.
 */
export function buyerStatus (
  data: JsonObject,
  { code, at, reasonCode, reason, amount }: BuyerSaying,
  { id, issued, reading }: { id: string, issued: string, reading: Reading }
): { status: InvoiceStatus, problems: Problem[] } {
  const { seller, customer, number = '', type, date, currency } = modelOf(data, reading)
  const [sellerId, buyerId] = [sirenOf(seller), sirenOf(customer)]
  const detail = {
    ...(reasonCode !== undefined && { reasonCode }),
    ...(reason !== undefined && { reason }),
    ...(amount !== undefined && { amounts: [{ kind: 'MPA', amount, currency }] })
  }
  const status: InvoiceStatus = {
    id,
    process: sellerId === undefined ? 'B2BINT' : 'REGULATED',
    code,
    name: factsOf(code).name,
    issued: plainTime(issued),
    at: plainTime(at),
    invoice: { number, type, ...(date !== undefined && { date }), ...(sellerId !== undefined && { seller: sellerId }) },
    sender: { role: 'WK' },
    issuer: { role: 'BY', ...(buyerId !== undefined && { id: buyerId }), ...(customer.name !== undefined && { name: customer.name }) },
    // The portal hears of a refusal, as of each payment; the other statuses of a buyer are between the parties.
    recipients: [...recipientOf('SE', seller), ...code === '210' ? [portal] : []],
    details: Object.keys(detail).length === 0 ? [] : [detail]
  }
  const strange = [
    ...reasonCode !== undefined && !reasonedStatuses.has(code) ? ['reasonCode'] : [],
    ...amount !== undefined && code !== '211' ? ['amount'] : []
  ]
  return {
    status,
    problems: [
      ...strange.map((name) => ({ path: `/${name}`, code: 'not_of_this_status', message: `The status ${code} has no "${name}".` })),
      ...checkStatus(status).map((problem) => ({ ...problem, path: problem.path === '/details' ? '/reasonCode' : '' }))
    ]
  }
}

/** Who keeps the directory and hears of each payment. */
const portal: StatusParty = { role: 'DFH', id: { id: '9998', scheme: '0238' }, name: 'PPF' }

function detailsOf (amounts: readonly StatusAmount[], reason: string | undefined): InvoiceStatus['details'] {
  if (amounts.length === 0 && reason === undefined) return []
  return [{ ...(reason !== undefined && { reason }), ...(amounts.length > 0 && { amounts }) }]
}

/** What is wrong with the amounts has a place in what is said; the rest is wrong with the invoice. */
function inSaying ({ path, ...problem }: Problem): Problem {
  return { path: path === '/details' ? '/amounts' : '', ...problem }
}

/** A SIREN, as such or in a French VAT number. */
function sirenOf ({ registration, vatId }: Party): { id: string, scheme: string } | undefined {
  const id = registration?.scheme === '0002' ? registration.id : /^FR..(\d{9})$/.exec(vatId ?? '')?.[1]
  return id === undefined ? undefined : { id, scheme: '0002' }
}

/** Whom a message is for; nobody who has no address. */
function recipientOf (role: 'BY' | 'SE', party: Party): StatusParty[] {
  const id = sirenOf(party)
  const address = schemed(party.electronicAddress) ?? (id && { ...id, scheme: '0225' })
  if (address === undefined) return []
  return [{ role, ...(id !== undefined && { id }), ...(party.name !== undefined && { name: party.name }), address }]
}

function schemed (given: Identifier | undefined): { id: string, scheme: string } | undefined {
  return given?.scheme === undefined ? undefined : { id: given.id, scheme: given.scheme }
}

/** MDT-2: a customer in another country, a French business, or a consumer. */
function processOf (customer: Party): string {
  if ((customer.address.country ?? 'FR') !== 'FR') return 'B2BINT'
  return sirenOf(customer) === undefined ? 'B2C' : 'REGULATED'
}

/** What is to be paid of an invoice (BT-115), of its data (`dispatch:invoice`): a decimal. */
export function amountDueOf (data: JsonObject, reading: Reading): string {
  return totalsOf(modelOf(data, reading)).due.toFixed(2)
}

/** What the customer is to pay with each rate, before any part of it was paid. */
function dueByRate (invoice: EInvoiceModel): Collected[] {
  return [...byRate(invoice)].map(([rate, amount]) => ({ rate, amount: amount.toFixed(2) }))
}

function byRate (invoice: EInvoiceModel): Map<string, Decimal> {
  const sums = new Map<string, Decimal>()
  for (const { category, rate = zero, base, amount } of totalsOf(invoice).taxes) {
    const key = rateText(isOneGroup(category) ? zero : rate)
    sums.set(key, (sums.get(key) ?? zero).add(base).add(amount))
  }
  return sums
}

function rateProblems (invoice: EInvoiceModel, amounts: readonly Collected[]): Problem[] {
  const rates = byRate(invoice)
  return amounts.flatMap(({ rate }, index) =>
    rates.has(rateText(new Money(rate))) ? [] : [{
      path: `/amounts/${index}/rate`,
      code: 'unknown_rate',
      message: `The invoice has no VAT of ${rate} %: its rates are ${[...rates.keys()].join(', ')}.`
    }]
  )
}

const zero = new Money(0)
const rateText = (rate: Decimal): string => rate.toFixed(2)

/** YYYY-MM-DDThh:mm:ss */
function plainTime (at: string): string {
  return at.slice(0, 19)
}

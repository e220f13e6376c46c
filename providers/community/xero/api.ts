import { type Accepted, failureOf, type Found, type Http, type HttpCall, type Invoice as Wanted, type JsonObject, outcomeUnknown, refused,
  type ServiceContracts, type Static, Type } from '@dispatch/core/provider'
import { ask, type Call, send } from './request.ts'

export type Request = ServiceContracts['invoicing']['dispatch']

/** What each thing in an answer says of itself: whether Xero has taken it. */
export const said = {
  HasErrors: Type.Optional(Type.Boolean()),
  HasValidationErrors: Type.Optional(Type.Boolean()),
  StatusAttributeString: Type.Optional(Type.String()),
  ValidationErrors: Type.Optional(Type.Array(Type.Object({ Message: Type.Optional(Type.String()) })))
}

const Invoice = Type.Object({
  InvoiceID: Type.String({ minLength: 1 }),
  InvoiceNumber: Type.Optional(Type.String()),
  Status: Type.String(),
  Total: Type.Optional(Type.Number()),
  ...said
})
type Invoice = Static<typeof Invoice>
export const Invoices = Type.Object({ Invoices: Type.Array(Invoice) })

export const pathOf = (id: string): string => `Invoices/${encodeURIComponent(id)}`

async function sendInvoice (call: Call, step: string, path: string, invoice: JsonObject): Promise<[url: string, call: HttpCall]> {
  return await send(call, step, path, { query: { unitdp: '4' }, json: { Invoices: [invoice] } })
}

const noId = /^[0-]+$/

/** The thing of an answer. Xero may answer 200 and say in it that it has done nothing. */
export function taken<Thing extends Pick<Invoice, keyof typeof said>> ([thing]: readonly Thing[], idOf: (thing: Thing) => string): Thing {
  if (thing === undefined) throw refused('no_answer', 'Xero answered without what it was asked for.')
  const { HasErrors, HasValidationErrors, StatusAttributeString: word, ValidationErrors: errors = [] } = thing
  if (HasErrors === true || HasValidationErrors === true || word === 'ERROR' || noId.test(idOf(thing))) {
    throw refused('ValidationException', errors.map(({ Message: text }) => text).find((text) => text !== undefined) ??
      'Xero has not taken it, and does not say why.')
  }
  return thing
}

function invoiceIn ({ Invoices: invoices }: Static<typeof Invoices>): Invoice {
  return taken(invoices, ({ InvoiceID: id }) => id)
}

/** Makes a draft. One of an earlier call, whose answer was lost, has the number already: it gets the content of this one. */
export async function makeDraft (invoice: JsonObject, wanted: Wanted, call: Call): Promise<string> {
  const draft = { ...invoice, Status: 'DRAFT', Reference: call.reference }
  const made = await create(draft, call)
  call.onRefusal((http) => withdraw(made.InvoiceID, call, http))
  if (made.Total === undefined || !wanted.total.eq(made.Total)) {
    throw refused('total_differs', `Xero makes ${made.Total ?? 'no total'} of the lines and their taxes, and the data says ` +
      `${wanted.total.toFixed()}: nothing was issued.`)
  }
  if (!isNumbered(made, wanted)) throw refused('number_differs', `${numbersOf(made, wanted)}: nothing was issued.`)
  return made.InvoiceID
}

function isNumbered ({ InvoiceNumber: made }: Invoice, { number }: Wanted): boolean {
  return made === undefined || made === number
}

function numbersOf ({ InvoiceNumber: made = '' }: Invoice, { number = '' }: Wanted): string {
  return `Xero calls the invoice ${made}, and the data says ${number}`
}

async function create (draft: JsonObject, call: Call): Promise<Invoice> {
  try {
    return invoiceIn(await call.http.put(...await sendInvoice(call, 'invoice', 'Invoices', draft), Invoices))
  } catch (error) {
    const left = failureOf(error)?.code === 'ValidationException' ? await ofReference(call) : undefined
    if (left?.Status !== 'DRAFT') throw error
    return invoiceIn(await call.http.post(...await sendInvoice(call, 'again', pathOf(left.InvoiceID), draft), Invoices))
  }
}

/** The invoice with our reference, which a draft has. */
async function ofReference (call: Call): Promise<Invoice | undefined> {
  const { Invoices: [found] } = await call.http.get(...await ask(call, 'Invoices', { query: { where: `Reference=="${call.reference}"` } }),
    Invoices)
  return found
}

/** Approves a draft. Its reference becomes that of the invoice. */
export async function approve (draft: string, wanted: Wanted & { references: string | undefined }, call: Call): Promise<Accepted> {
  const { references: reference, total } = wanted
  const approved = { InvoiceID: draft, Status: 'AUTHORISED', ...(reference !== undefined && { Reference: reference }) }
  const invoice = invoiceIn(await call.http.post(...await sendInvoice(call, 'approve', pathOf(draft), approved), Invoices))
  if (invoice.Status === 'DRAFT') throw refused('not_approved', 'Xero has left the invoice a draft.')
  // It is issued: a person looks at it.
  if (invoice.Total !== undefined && !total.eq(invoice.Total)) {
    throw outcomeUnknown(`Xero has issued the invoice over ${invoice.Total}, and the data says ${total.toFixed()}.`)
  }
  if (!isNumbered(invoice, wanted)) throw outcomeUnknown(`${numbersOf(invoice, wanted)}.`)
  return answer(invoice)
}

export async function withdraw (draft: string, call: Call, http: Http): Promise<unknown> {
  return await http.post(...await sendInvoice(call, 'withdraw', pathOf(draft), { InvoiceID: draft, Status: 'DELETED' }), Invoices)
}

export async function read (id: string, call: Call): Promise<Invoice> {
  return invoiceIn(await call.http.get(...await ask(call, pathOf(id)), Invoices))
}

export function answer ({ InvoiceID: id, Status: status, InvoiceNumber: number }: Invoice): Accepted {
  return { id, status, ...(number !== undefined && { number }) }
}

/** The state of a draft. One that was deleted was never issued. */
export async function find (draft: string, call: Call): Promise<Found> {
  return foundOf(await read(draft, call))
}

/** An invoice whose draft was not recorded: nothing was issued, but for what an older version of this provider has issued at once. */
export async function findUnrecorded (call: Call): Promise<Found> {
  const found = await ofReference(call)
  return found === undefined || found.Status === 'DRAFT' ? { found: 'absent' } : foundOf(found)
}

function foundOf (invoice: Invoice): Found {
  if (invoice.Status === 'DELETED') return { found: 'absent' }
  return invoice.Status === 'DRAFT' ? { found: 'draft' } : { found: 'accepted', response: answer(invoice) }
}

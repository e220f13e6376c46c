import { defineProvider, failureOf, refused, type Found } from '@dispatch/core/provider'
import { answer, ask, Paper, Papers, pathOf, read, send } from './api.ts'
import { issueCredit, prepareCredit, prepareInvoice, prepareQuote } from './prepare.ts'
import { RequestSettings, Settings, type Call } from './settings.ts'

/** What the checkpoint of a credit note begins with, before the id of its invoice; other checkpoints are ids of drafts. */
const creditOf = 'credit:'

export default defineProvider({
  code: 'stripe', name: 'Stripe', docs: 'https://stripe.com/docs/api/invoices',
  hosts: ['api.stripe.com', 'files.stripe.com', 'pay.stripe.com'],
  settings: Settings, requestSettings: RequestSettings,
  errors: {
    // Some have no code; their type says as much.
    at: ['/error/code', '/error/type'], message: '/error/message',
    map: {
      api_key_expired: 'authentication_error',
      secret_key_required: 'authentication_error',
      idempotency_key_in_use: 'outcome_unknown', // An earlier request with the same key is still at work.
      lock_timeout: 'provider_unavailable'
    }
  },
  services: {
    invoicing: {
      documentTypes: ['INVOICE', 'QUOTE', 'CREDIT'],
      sendByEmail: ['INVOICE'],
      requires: ['/number', '/currency', '/customer/name', '/customer/email', '/lines/0', '/total'],
      // What is read by its id is there at once; a request that was cut off may be at work for as long as it can take.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      checkpoint: true,
      timeLimit: 100,

      async dispatch (request, call) {
        const { invoicing: { documentType, sendByEmail } } = request
        const { checkpointed, requestSettings: { includePaymentCollectionLink: pay, paymentCollectionLabel: label } } = call
        if (documentType !== 'INVOICE' && (pay === true || label !== undefined)) throw refused('no_payment_page', 'Stripe has a page to pay on for invoices alone.')
        const before = checkpointed === undefined ? undefined : await find(checkpointed, call)
        if (before?.found === 'accepted') return before.response
        if (documentType === 'CREDIT') {
          const invoice = await prepareCredit(request, call)
          await call.checkpoint(`${creditOf}${invoice}`)
          return answer(await issueCredit(invoice, request, call), call)
        }
        const draft = checkpointed !== undefined && before?.found === 'draft' ? checkpointed : await (documentType === 'QUOTE' ? prepareQuote : prepareInvoice)(request, call)
        await call.checkpoint(draft)
        // A draft that is sent is finalized with it.
        const last = sendByEmail === true ? 'send' : 'finalize'
        return answer(await call.http.post(...send(call, last, `${pathOf(draft)}/${last}`), Paper), call)
      },

      // Before its checkpoint a dispatch has made nothing but drafts.
      lookup: async ({ checkpoint }, call) => checkpoint === undefined ? { found: 'absent' } : await find(checkpoint, call),

      async document ({ id }, call) {
        if (id.startsWith('qt_')) {
          const [url, request] = ask(call, `${pathOf(id)}/pdf`, {}, 'files')
          return await call.http.download(url, { ...request, filename: `${id}.pdf` })
        }
        const { number, pdf, invoice_pdf: url = pdf } = await read(id, call)
        if (typeof url !== 'string') throw refused('no_document', 'Stripe has made no document of this invoice yet.')
        return await call.http.download(url, { filename: `${number ?? id}.pdf` })
      }
    }
  }
})

/** What became of what stands at a checkpoint. */
async function find (checkpoint: string, call: Call): Promise<Found> {
  try {
    const papers = checkpoint.startsWith(creditOf) ? await creditsFor(checkpoint.slice(creditOf.length), call) : [await read(checkpoint, call)]
    const paper = papers.find(({ metadata }) => metadata?.['dispatch_reference'] === call.reference)
    if (paper === undefined) return { found: 'absent' }
    return paper.status === 'draft' ? { found: 'draft' } : { found: 'accepted', response: answer(paper, call) }
  } catch (error) {
    if (failureOf(error)?.status === 404) return { found: 'absent' }
    throw error
  }
}

async function creditsFor (invoice: string, call: Call): Promise<Paper[]> {
  return (await call.http.get(...ask(call, 'credit_notes', { invoice, limit: 100 }), Papers)).data
}

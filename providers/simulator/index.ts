import { at, defineProvider, outcomeUnknown, refused, type Accepted, type ServiceContracts } from '@dispatch/core/provider'
import { magicWord, perform } from './magic.ts'
import { record, recorded } from './outbox.ts'
import { RequestSettings, Settings, type Call } from './settings.ts'

export default defineProvider({
  code: 'simulator',
  name: 'Simulator',
  settings: Settings,
  requestSettings: RequestSettings,
  services: {
    invoicing: {
      documentTypes: ['INVOICE', 'QUOTE', 'CREDIT'],
      sendByEmail: true,
      requires: ['/number'],
      idempotency: { kind: 'lookup', visibleAfter: 0 },

      async dispatch (request, call) {
        const before = await recorded(call.reference, call)
        if (before !== undefined) return before

        const { invoicing, data, document, metadata } = request
        const word = magicWord(invoicing.reference, at(data, '/customer/email'), at(data, '/customer/name'))
        await perform(word, call)
        const number = await claimNumber(request, call)

        const response = answer(request, number, call)
        await record({ service: 'invoicing', invoicing, data, document, metadata }, response, call)
        if (word === 'uncertain') throw outcomeUnknown('The simulator accepted the document, and its answer was lost.')
        return response
      },

      async lookup ({ reference }, call) {
        const response = await recorded(reference, call)
        return response === undefined ? { found: 'absent' } : { found: 'accepted', response }
      }
    }
  }
})

type Request = ServiceContracts['invoicing']['dispatch']

/** A number is given once per document type; a step that comes back with its own is no duplicate. */
async function claimNumber ({ invoicing: { documentType }, data }: Request, { reference, state }: Call): Promise<string> {
  const number = at(data, '/number')
  if ((typeof number !== 'string' && typeof number !== 'number') || number === '') throw refused('missing_number', 'The document has no number.')
  const holder = await state.putIfAbsent(`number:${documentType}:${number}`, reference)
  if (holder !== reference) throw refused('duplicate_number', `The number "${number}" of a document of type ${documentType} is taken.`)
  return String(number)
}

/** Addresses under .invalid lead nowhere (RFC 2606). */
function answer ({ invoicing: { documentType, sendByEmail = false } }: Request, number: string, { reference, requestSettings }: Call): Accepted {
  const id = `sim-${reference}`
  const { includePaymentCollectionLink = false, paymentCollectionBeneficiaryName: beneficiary, paymentCollectionLabel: label } = requestSettings
  const payment = new URLSearchParams({ ...(beneficiary !== undefined && { beneficiary }), ...(label !== undefined && { label }) })
  return {
    id,
    status: sendByEmail ? 'sent' : 'created',
    url: `https://simulator.invalid/documents/${id}`,
    documentType,
    number,
    ...(includePaymentCollectionLink && { paymentUrl: `https://simulator.invalid/pay/${id}?${payment.toString()}` })
  }
}

import { AllowedSenders, defineProvider, Host, Type } from '@dispatch/core/provider'

const Item = Type.Object({ id: Type.String(), status: Type.String() })
const Items = Type.Object({ items: Type.Array(Item) })

/** Seconds until the vendor finds what it hid: more than the first look waits. */
const visibleAfter = 12

/** A vendor that finds what it accepted by our reference, a while after it accepted it. Of its invoices it makes the documents itself. */
export default defineProvider({
  code: 'searched',
  name: 'Searched',
  settings: Type.Object({ vendor: Host(), allowedSenders: AllowedSenders() }),
  errors: { at: '/code', message: '/message' },
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      idempotency: { kind: 'lookup', visibleAfter },
      timeLimit: 5,
      notProcessed: [503],
      dispatch: ({ data, metadata }, { settings: { vendor }, reference, http }) =>
        http.post(`${vendor}/invoicing`, { query: { ...metadata, reference }, json: data }, Item),
      async lookup ({ reference }, { settings: { vendor }, http }) {
        const { items: [response] } = await http.get(`${vendor}/invoicing`, { query: { reference } }, Items)
        return response === undefined ? { found: 'absent' } : { found: 'accepted', response }
      },
      document: ({ id }, { settings: { vendor }, http }) => http.download(`${vendor}/documents/${id}`, { filename: 'invoice.pdf' })
    },
    email: {
      idempotency: { kind: 'lookup', visibleAfter },
      timeLimit: 5,
      notProcessed: [503],
      dispatch ({ email, attachments: [document], metadata }, { settings: { vendor }, reference, http }) {
        const body = document === undefined ? { json: email } : { document }
        return http.post(`${vendor}/email`, { query: { ...metadata, reference }, ...body }, Item)
      },
      async lookup ({ reference }, { settings: { vendor }, http }) {
        const { items: [response] } = await http.get(`${vendor}/email`, { query: { reference } }, Items)
        return response === undefined ? { found: 'absent' } : { found: 'accepted', response }
      }
    }
  }
})

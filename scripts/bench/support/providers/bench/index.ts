import { defineProvider, Host, Type } from '@dispatch/core/provider'

const Message = Type.Object({ id: Type.String(), status: Type.String() })

/** One request to the vendor of the benchmarks for each dispatch. */
export default defineProvider({
  code: 'bench',
  name: 'Bench',
  settings: Type.Object({ vendor: Host() }),
  services: {
    sms: {
      idempotency: { kind: 'none' },
      dispatch: ({ sms, metadata }, { settings: { vendor }, http }) =>
        http.post(`${vendor}/messages`, { query: metadata, json: sms }, Message)
    },
    invoicing: {
      documentTypes: ['INVOICE'],
      idempotency: { kind: 'none' },
      dispatch: ({ document }, { settings: { vendor }, http }) =>
        http.post(`${vendor}/invoices`, { multipart: { file: document } }, Message)
    }
  }
})

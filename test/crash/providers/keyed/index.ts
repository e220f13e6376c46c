import { defineProvider, Host, Type } from '@dispatch/core/provider'

const Item = Type.Object({ id: Type.String(), status: Type.String() })

/** A vendor that honours an idempotency key. */
export default defineProvider({
  code: 'keyed',
  name: 'Keyed',
  settings: Type.Object({ vendor: Host() }),
  errors: { at: '/code', message: '/message' },
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      idempotency: { kind: 'key', ttl: 24 * 3600 },
      notProcessed: [503],
      dispatch: ({ document, metadata }, { settings: { vendor }, idempotencyKey, http }) =>
        http.post(`${vendor}/invoicing`, { query: metadata, headers: { 'idempotency-key': idempotencyKey }, document }, Item)
    },
    upload: {
      idempotency: { kind: 'key', ttl: 24 * 3600 },
      notProcessed: [503],
      dispatch: ({ document, metadata }, { settings: { vendor }, idempotencyKey, http }) =>
        http.post(`${vendor}/upload`, { query: metadata, headers: { 'idempotency-key': idempotencyKey }, document }, Item)
    }
  }
})

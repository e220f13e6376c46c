import { defineProvider, Type } from '@dispatch/core/provider'

/** Accepts every SMS at once, without a request: what is left is the cost of a dispatch itself. */
export default defineProvider({
  code: 'instant',
  name: 'Instant',
  settings: Type.Object({}),
  services: {
    sms: {
      idempotency: { kind: 'none' },
      dispatch: (_request, { reference }) => Promise.resolve({ id: reference, status: 'accepted' })
    }
  }
})

import { defineProvider, Host, Type } from '@dispatch/core/provider'

const Item = Type.Object({ id: Type.String(), status: Type.String() })

/** A vendor that neither honours a key nor finds anything again. */
export default defineProvider({
  code: 'blind',
  name: 'Blind',
  settings: Type.Object({ vendor: Host() }),
  errors: { at: '/code', message: '/message' },
  services: {
    sms: {
      idempotency: { kind: 'none' },
      notProcessed: [503],
      dispatch: ({ sms, metadata }, { settings: { vendor }, http }) => http.post(`${vendor}/sms`, { query: metadata, json: sms }, Item)
    }
  }
})

import { defineProvider, Host, Type } from '@dispatch/core/provider'

const Message = Type.Object({ id: Type.String(), status: Type.String() })

/** A request to the vendor of the benchmarks. */
export default defineProvider({
  code: 'bench',
  name: 'Bench',
  settings: Type.Object({ vendor: Host() }),
  services: {
    sms: {
      idempotency: { kind: 'none' },
      dispatch: ({ sms, metadata }, { settings: { vendor }, http }) =>
        http.post(`${vendor}/messages`, { query: metadata, json: sms }, Message)
    }
  }
})

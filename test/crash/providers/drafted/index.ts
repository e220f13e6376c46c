import { type Context, defineProvider, draftFirst, type Found, Host, type ServiceContracts, Type } from '@dispatch/core/provider'

const Item = Type.Object({ id: Type.String(), status: Type.String() })
const Event = Type.Object({ event: Type.String(), id: Type.String(), status: Type.String() })

type Call = Context<{ vendor: string }, object>
type Signing = ServiceContracts['esign']['dispatch']

/** A vendor that makes a draft, issues it, tells when it is signed, and has the signed document. */
export default defineProvider({
  code: 'drafted',
  name: 'Drafted',
  settings: Type.Object({ vendor: Host() }),
  errors: { at: '/code', message: '/message' },
  services: {
    esign: {
      signatureTypes: ['SIMPLE'],
      idempotency: { kind: 'lookup', visibleAfter: 1 },
      timeLimit: 5,
      notProcessed: [503],
      ...draftFirst<Signing, Call>({
        async prepare ({ document, metadata }, { settings: { vendor }, http }) {
          const { id } = await http.post(`${vendor}/drafts`, { query: metadata, document }, Item)
          return id
        },
        async find (draft, { settings: { vendor }, http }): Promise<Found> {
          const response = await http.get(`${vendor}/drafts/${draft}`, {}, Item)
          return response.status === 'draft' ? { found: 'draft' } : { found: 'accepted', response }
        },
        issue: (draft, { metadata }, { settings: { vendor }, http }) => http.post(`${vendor}/drafts/${draft}`, { query: metadata }, Item)
      }),
      document: ({ id }, { settings: { vendor }, http }) => http.download(`${vendor}/documents/${id}`, { filename: 'signed.pdf' })
    }
  },
  webhooks: {
    esign: {
      verify: { kind: 'basic' },
      body: Event,
      read: ({ event, id, status }) => ({ eventId: event, remoteId: id, type: status }),
      events: { signed: 'completed' }
    }
  }
})

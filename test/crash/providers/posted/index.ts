import { type Context, defineProvider, Host, type Reported, Type } from '@dispatch/core/provider'

const Item = Type.Object({ id: Type.String(), status: Type.String() })

type Call = Context<{ vendor: string }, object>

/** What its words say beside is of no interest. */
async function ask (verb: 'get' | 'delete', id: string, { settings: { vendor }, http }: Call): Promise<Reported> {
  const { status } = await http[verb](`${vendor}/postal/${id}`, {}, Item)
  return { status }
}

/** A vendor of letters, which it takes back. */
export default defineProvider({
  code: 'posted',
  name: 'Posted',
  settings: Type.Object({ vendor: Host() }),
  errors: { at: '/code', message: '/message' },
  services: {
    postal: {
      mailTypes: ['SIMPLE'],
      idempotency: { kind: 'key', ttl: 24 * 3600 },
      timeLimit: 5,
      notProcessed: [503],
      statuses: { accepted: 'accepted', cancelled: 'cancelled' },
      dispatch: ({ document, metadata }, { settings: { vendor }, idempotencyKey, http }) =>
        http.post(`${vendor}/postal`, { query: metadata, headers: { 'idempotency-key': idempotencyKey }, document }, Item),
      status: ({ id }, call) => ask('get', id, call),
      cancel: ({ id }, call) => ask('delete', id, call)
    }
  }
})

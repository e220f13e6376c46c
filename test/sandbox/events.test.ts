import t from 'tap'
import { basic, hookService, serverAuth, until } from '../core/work/support.ts'
import { directory, provide } from '../fixtures/providers/folders.ts'

/** Tells with each event what it has read before. */
const source = `import { defineProvider, Type } from '@dispatch/core/provider'
const seen = []
export default defineProvider({
  code: 'leak-one', name: 'Leak', hosts: ['api.vendor.example'], settings: Type.Object({}),
  services: { postal: { mailTypes: ['SIMPLE'], idempotency: { kind: 'none' }, dispatch: async () => ({ id: '1', status: 'sent' }) } },
  webhooks: { postal: {
    verify: { kind: 'basic' },
    body: Type.Object({ transaction: Type.String(), type: Type.String(), secret: Type.String() }),
    read ({ transaction, type, secret }) {
      seen.push(secret)
      return { remoteId: transaction, type, seen: seen.join() }
    },
    events: { printed: 'printed', there: 'delivered' }
  } }
})
`

await t.test('events at the address that companies share are read for each company in a process of its own', async (t) => {
  const folder = await directory(t)
  await provide(folder, 'leak-one', { 'index.js': source })
  const { accepted, post, delivery, company, app } = await hookService(t, {
    config: { sandbox: 'all', providerDirectories: [folder], webhookAuth: { LEAK_ONE: serverAuth } }
  })
  const { companyId, admin } = await company('second-company')
  const { user_id: userId } = await app.get('database').owner.selectFrom('users').select('user_id').where('email', '=', admin.email)
    .executeTakeFirstOrThrow()
  const step = { provider: 'leak-one', service: 'postal' } as const
  const first = await accepted({ ...step, remoteId: 'l_1' })
  const second = await accepted({ ...step, remoteId: 'l_2', companyId, userId })
  const tell = async (event: object, { dispatchId }: { dispatchId: string }, amount: number): Promise<unknown> => {
    await post('postal/providers/leak-one/endpoint.json', event, basic(serverAuth))
    await until('the event is applied', async () => (await delivery(dispatchId)).events.length === amount)
    return (await delivery(dispatchId)).events.at(-1)?.facts.seen
  }
  t.equal(await tell({ transaction: 'l_1', type: 'printed', secret: 'of the first' }, first, 1), 'of the first')
  t.equal(await tell({ transaction: 'l_2', type: 'printed', secret: 'of the second' }, second, 1), 'of the second')
  t.equal(await tell({ transaction: 'l_1', type: 'there', secret: 'again' }, first, 2), 'of the first,again')
})

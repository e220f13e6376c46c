import { randomUUIDv7 } from 'node:crypto'
import type { Test } from 'tap'
import { memoryLog } from '../../../../../test/fixtures/providers/call.ts'
import { seededDatabase } from '../../../../../test/support/service.ts'
import { openDispatch } from '../../../../store/dispatch/dispatches.ts'
import type { AuditAuthor } from '../../../accounts/audit/audit.ts'
import { createCompanies } from '../../../accounts/store/accounts.ts'
import { createKeyring } from '../../../common/keyring.ts'
import type { CallbackType } from '../../../contract/callbacks.ts'
import { type Database, openDatabase } from '../../../database/database.ts'
import type { Job, Queue } from '../../../queue/queue.ts'
import { createNetwork, type Network, type NetworkOptions } from '../../../vendor-io/network.ts'
import { type Callbacks, createCallbacks } from '../service/callbacks.ts'
import { callbackJob, createDelivery, type Delivery } from '../service/delivery.ts'
import { createSigning, type Signing } from '../service/signing.ts'
import { type CallbackRecord, listCallbacks } from '../store/callbacks.ts'
import { noteCallback } from '../store/outbox.ts'

/** As in `startService`, so that a service may work on the same database. */
export const keyring = createKeyring(Buffer.alloc(32, 7))

export type Desk = {
  database: Database
  databaseUrl: string
  signing: Signing
  clock: { time: number }
  log: ReturnType<typeof memoryLog>
  /** The jobs that were added and have not been worked on. */
  jobs: Job<'callback'>[]
  /** A process that delivers, through its own network. */
  process: (network: NetworkOptions) => Callbacks & Delivery & { network: Network }
  /** A company with a user. */
  company: () => Promise<AuditAuthor>
  /** A dispatch of a company. */
  dispatch: (of: { companyId: number, userId: number }) => Promise<string>
  /** Records a callback. */
  note: (of: { companyId: number, dispatchId: string, url: string, type?: CallbackType }) => Promise<string>
  /** The callbacks of a dispatch. */
  read: (companyId: number, dispatchId: string) => Promise<CallbackRecord[]>
}

/** A database with what callbacks need, a clock that stands, and a queue that only remembers. */
export async function desk (t: Test): Promise<Desk> {
  const databaseUrl = await seededDatabase(t)
  const clock = { time: Date.now() }
  const now = () => new Date(clock.time)
  const database = openDatabase({ connectionString: databaseUrl }, { connections: 6, onError: (error) => t.fail(error.message), time: now })
  t.teardown(() => database.close())
  const jobs: Job<'callback'>[] = []
  const queue = {
    send: (_name: string, added: readonly unknown[]) => {
      jobs.push(...added as Job<'callback'>[])
      return Promise.resolve()
    }
  } as Pick<Queue, 'send'>
  const signing = createSigning({ database, keyring, now, newId: randomUUIDv7 })
  const log = memoryLog()
  let companies = 0
  return {
    database,
    databaseUrl,
    signing,
    clock,
    log,
    jobs,
    process (options) {
      const network = createNetwork(options)
      t.teardown(() => network.close())
      const outbox = { tell: () => Promise.resolve() }
      const delivery = createDelivery({ database, queue, network, signing, outbox, log, now, random: () => 0 })
      return { network, ...delivery, ...createCallbacks({ database, queue, now }) }
    },
    async company () {
      const email = `user-${++companies}@callbacks.example.com`
      const [companyId = 0] = await createCompanies(database, [{
        name: email,
        credits: 10,
        users: [{ email, role: 'member', services: [], passwordHash: '' }]
      }], now())
      const { user_id: userId } = await database.owner.selectFrom('users').select('user_id').where('email', '=', email)
        .executeTakeFirstOrThrow()
      return { companyId, userId, address: '127.0.0.1', requestId: 'r' }
    },
    async dispatch ({ companyId, userId }) {
      const dispatchId = randomUUIDv7()
      await openDispatch(database, {
        dispatchId,
        companyId,
        actor: { kind: 'user', userId },
        requestId: 'r',
        services: ['file'],
        metadata: {},
        steps: [{ stepId: randomUUIDv7(), service: 'file', fields: {}, requestSettings: {}, price: 0 }]
      }, { lease: { runId: randomUUIDv7(), seconds: 15 } })
      return dispatchId
    },
    note: ({ companyId, dispatchId, url, type = 'dispatch.succeeded' }) =>
      database.company(companyId, async (queries) => {
        const id = await noteCallback(queries, {
          companyId,
          dispatchId,
          type,
          url,
          data: { dispatchId, note: 'Zoë' },
          now: now(),
          due: database.now,
          newId: randomUUIDv7
        })
        await queue.send('callback', [callbackJob({ companyId, toEndpoint: false }, id)], queries)
        return id
      }),
    read: (companyId, dispatchId) => listCallbacks(database, companyId, dispatchId, { limit: 100 })
  }
}

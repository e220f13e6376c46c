/**
 * A process that drains a queue of pg-boss alone, in the database and through the vendor given as arguments: the two transactions by hand
 * around one request. It adds so many jobs when it is told a number, and then works on 16 at a time.
 */
import { PgBoss } from 'pg-boss'
import { Agent, request } from 'undici'
import { openTransactions } from './by-hand.ts'
import { whenStopped } from './stop.ts'

/** As the service works on its queue: 16 jobs at once, two of them fetched together; new ones are announced. */
const options = {
  batchSize: 2,
  localConcurrency: 8,
  burstWhenBatchFull: true,
  perJobResults: true,
  notifyPollingIntervalSeconds: 2
} as const

/** The work of the process, when the file is run and not only imported for its types. */
async function serve (databaseUrl: string, vendorUrl: string): Promise<void> {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    schema: 'boss_alone',
    useListenNotify: true,
    max: 3,
    options: '-c synchronous_commit=off'
  })
  boss.on('error', (error) => console.error(error))
  const transactions = await openTransactions(databaseUrl, 1)
  const vendor = new Agent({ connections: 16 })
  await boss.start()
  await boss.createQueue('sms', { notify: true, expireInSeconds: 120, heartbeatSeconds: 10 })

  process.on('message', (amount: number) => {
    void add(amount)
  })
  async function add (amount: number): Promise<void> {
    await boss.insert('sms', Array.from({ length: amount }, (_, nth) => ({ data: { order: `boss-${nth}` } })))
    await boss.work<{ order: string }, unknown, typeof options>('sms', options,
      (jobs) =>
        Promise.all(jobs.map(async ({ id, data: { order } }) => {
          await transactions.begin(id, 1)
          const { body } = await request(`${vendorUrl}/messages`, { method: 'POST', dispatcher: vendor, query: { order }, body: '{}' })
          await transactions.settle(id, 1, await body.json())
          return { id, status: 'completed' as const }
        })))
  }
  whenStopped(async () => {
    await boss.stop({ graceful: false })
    await Promise.all([transactions.close(), vendor.close()])
  })
  process.send?.({})
}

await serve(process.argv[2] ?? '', process.argv[3] ?? '')

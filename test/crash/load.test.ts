import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { check } from './check.ts'
import { place, type Told } from './client.ts'
import { openInstallation } from './installation.ts'
import { fields, type Order } from './plan.ts'

// tap's word for a test that is out of time: everything that was started ends with this process.
process.once('SIGALRM', () => process.exit(1))
// Forty seconds where the machine has nothing else to do, minutes where it has; tap takes the limit of a file from such a comment.
t.setTimeout(400_000)
t.comment('timeout=400000')

/**
 * How many invoices are queued, every fourth for its time, and of how many the vendor has heard when all processes are killed: while those
 * wait, and while they are sent.
 */
const [queued, heard] = [64, [20, 56]] as const
/** Milliseconds until they are due. */
const dueIn = 15_000

/** What the vendor does with each invoice: most are caught in the call, before the vendor has accepted them or after. */
const scripts = ['wait accept answer', 'accept wait answer', 'wait accept answer', 'accept wait answer', 'wait accept answer',
  'accept cut'] as const

/** Their time is that of whoever asks. */
const orders = (): Order[] =>
  Array.from({ length: queued }, (_, index): Order => ({
    number: index + 1,
    at: 0,
    mode: 'asynchronous',
    path: '/api/invoicing?async=true',
    body: {
      ...fields.invoicing(index + 1),
      ...(index % 4 === 3 ? { sendAt: new Date(Date.now() + dueIn).toISOString() } : {}),
      providerName: index % 2 === 0 ? 'keyed' : 'searched',
      metadata: { order: String(index + 1), invoicing: scripts[index % scripts.length] }
    },
    version: '1.1.0',
    keyed: true,
    retries: 0
  }))

void t.test(`of ${queued} invoices that were queued when every process was killed each succeeds, once`, async (t) => {
  const installation = await openInstallation({ serving: 1, working: 1 })
  try {
    const over = new AbortController()
    const told: Told[] = await Promise.all(orders().map((order) => place(order, installation.urls, installation.token, over.signal)))
    t.equal(told.filter(({ answer }) => answer?.status === 200).length, queued, 'all are accepted')
    for (const count of heard) {
      while ((await installation.vendor.receipts()).length < count) await pause(20)
      for (const process of installation.processes) process.kill()
    }
    const statuses = (): Promise<{ status: string, providers: string, count: number }[]> =>
      installation.database.rows(
        'select dispatches.status, count(*)::int, string_agg(distinct provider_code, \' \' order by provider_code) as providers ' +
          'from dispatches join steps using (dispatch_id) group by 1'
      )
    const ended = new Set(['succeeded', 'failed', 'partial', 'cancelled'])
    while ((await statuses()).some(({ status }) => !ended.has(status))) await pause(500)
    t.strictSame(await statuses(), [{ status: 'succeeded', count: queued, providers: 'keyed searched' }])
    t.strictSame(await check(installation, told), [])
    t.ok((await installation.database.rows('select from events where kind = \'recovered\'')).length > 0,
      'some were under way when they were killed')
  } finally {
    await installation.close()
  }
})

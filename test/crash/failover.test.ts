import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { check } from './check.ts'
import { place, send, type Told } from './client.ts'
import { openInstallation } from './installation.ts'
import { fields, type Order } from './plan.ts'

// tap's word for a test that is out of time: everything that was started ends with this process.
process.once('SIGALRM', () => process.exit(1))
t.setTimeout(400_000)
t.comment('timeout=400000')

/** How many invoices are queued, and of how many requests the vendor has heard when all processes are killed. */
const [queued, heard] = [48, 20]

/** What the vendor does with each invoice: the first provider is busy, so that the second is called, or the first again. */
const scripts = ['busy,wait accept answer', 'busy,accept wait answer', 'busy,accept cut', 'busy,busy,accept answer',
  'wait busy,accept answer', 'accept cut'] as const

const orders = Array.from({ length: queued }, (_, index): Order => ({
  number: index + 1,
  at: 0,
  mode: 'asynchronous',
  path: '/api/invoicing?async=true',
  body: { ...fields.invoicing(index + 1), metadata: { order: String(index + 1), invoicing: scripts[index % scripts.length] } },
  keyed: true,
  retries: 0
}))

type Entry = { id: string, kind: string, facts: { providerName?: string, outcome?: string, status?: string } }

/** The dispatches in which another provider was called after a doubt. */
function changedInDoubt (entries: readonly Entry[]): string[] {
  return [...Map.groupBy(entries, ({ id }) => id)].flatMap(([id, timeline]) => {
    let [last, doubted]: [string | undefined, boolean] = [undefined, false]
    for (const { kind, facts: { providerName, outcome, status } } of timeline) {
      if (kind === 'calling' && doubted && providerName !== last) return [id]
      if (kind === 'calling') last = providerName
      doubted ||= outcome === 'uncertain' || (kind === 'recovered' && status === 'uncertain')
    }
    return []
  })
}

void t.test('whatever is killed between the providers of a list: each invoice succeeds, once, with one of them', async (t) => {
  const installation = await openInstallation({ serving: 1, working: 1 })
  const { database, urls, token, vendor, processes } = installation
  try {
    const providers = [{ providerName: 'keyed' }, { providerName: 'searched' }]
    const chosen = await send(urls[0] ?? '', '/api/v1/company/defaults/invoicing', { method: 'PUT', token, body: { providers } })
    t.equal(chosen?.status, 200)
    const over = new AbortController()
    const told: Told[] = await Promise.all(orders.map((order) => place(order, urls, token, over.signal)))
    t.equal(told.filter(({ answer }) => answer?.status === 200).length, queued, 'all are accepted')
    while ((await vendor.receipts()).length < heard) await pause(20)
    for (const process of processes) process.kill()
    const statuses = (): Promise<{ status: string, count: number }[]> =>
      database.rows('select status, count(*)::int from dispatches group by 1')
    const ended = new Set(['succeeded', 'failed', 'partial', 'cancelled'])
    while ((await statuses()).some(({ status }) => !ended.has(status))) {
      await pause(2_000)
      // After a few failures the next try or look is minutes away: an operator lets all go on, and a look comes early.
      await send(urls[0] ?? '', '/api/v1/queue/release', { method: 'POST', token, body: {} })
      await database.rows('update steps set next_look_at = now() where next_look_at > now() + interval \'15 seconds\' returning step_id')
    }
    t.strictSame(await statuses(), [{ status: 'succeeded', count: queued }])
    // One of the two sends the document and the other one the data.
    t.strictSame((await check(installation, told)).filter(({ rule }) => rule !== 'a step is sent with the same bytes each time'), [])
    t.strictSame(
      await database.rows('select provider_code as code, sum(charged)::int = count(*) as exact from steps group by 1 order by 1'),
      ['keyed', 'searched'].map((code) => ({ code, exact: true }))
    )
    const timeline = await database.rows<Entry>('select dispatch_id as id, kind, facts from events order by event_id')
    t.ok(timeline.some(({ kind }) => kind === 'recovered'), 'some were under way when they were killed')
    t.strictSame(changedInDoubt(timeline), [])
  } finally {
    await installation.close()
  }
})

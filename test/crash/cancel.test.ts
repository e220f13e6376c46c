import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { check } from './check.ts'
import { type Answer, place, send, type Told } from './client.ts'
import { type Installation, openInstallation } from './installation.ts'
import { fields, type Order } from './plan.ts'

// tap's word for a test that is out of time: everything that was started ends with this process.
process.once('SIGALRM', () => process.exit(1))
// A minute where the machine has nothing else to do, minutes where it has; tap takes the limit of a file from such a comment.
t.setTimeout(400_000)
t.comment('timeout=400000')

/** What the vendor does when it is asked to take a letter back: a turn for each time, and takes it back after the last. */
const scripts = ['stop answer', 'wait stop answer', 'wait answer', 'stop wait answer', 'stop cut', 'cut', 'break', 'refuse',
  'refuse,refuse', 'busy', 'stop kill answer', 'wait kill stop', 'kill cut', 'stop cut,busy', 'stop break', 'stop half'] as const

const orders = scripts.map((cancel, index): Order => ({
  number: index + 1,
  at: 0,
  mode: 'synchronous',
  path: '/api/postal',
  body: { ...fields.postal(index + 1), metadata: { order: String(index + 1), cancel } },
  keyed: true,
  retries: 0
}))

/** What we say of a letter: how its last cancellation ended, its delivery status, and whether a run still asks. */
type Said = { order: string, dispatchId: string, last: string | null, delivery: string | null, open: boolean }

function said ({ database }: Installation): Promise<Said[]> {
  return database.rows<Said>(`
    select metadata->>'order' as order, dispatch_id as "dispatchId", delivery_status as delivery, cancel_run is not null as open,
      (select kind from events where events.step_id = steps.step_id and kind in ('cancelling', 'cancelled', 'not_cancelled', 'cancel_unknown')
        order by event_id desc limit 1) as last
    from dispatches join steps using (dispatch_id) order by dispatch_id`)
}

/** Where the vendor and we say different things: what we do not know we may not say. */
async function contradictions (installation: Installation): Promise<Said[]> {
  const cancelled = new Set(await installation.vendor.cancelled())
  return (await said(installation)).filter(({ order, last, delivery, open }) =>
    open || last === 'cancelling' ||
    (cancelled.has(order) ? delivery !== 'cancelled' && last !== 'cancel_unknown' : delivery === 'cancelled')
  )
}

/**
 * A kill ends a round for all letters, and a script has two turns at most. On a busy machine the database is away for whole rounds, which
 * are short then: they are many, with pauses (milliseconds) between them.
 */
const maxRounds = 100
const betweenRounds = 250

/** A client that asks once for each letter. */
async function cancelAll ({ token }: Installation, url: string, told: readonly Told[]): Promise<Map<string, Answer | undefined>> {
  const answers = await Promise.all(told.map(async ({ order, answer }) => {
    const path = `/api/v1/dispatches/${String(answer?.body.dispatchId)}/cancel`
    return [String(order.number), await send(url, path, { token })] as const
  }))
  return new Map(answers)
}

/** Until all processes are there and no run asks a vendor any more. */
async function quiet (installation: Installation): Promise<void> {
  for (;;) {
    await Promise.all(installation.processes.map((process) => process.ready()))
    if (!(await said(installation)).some(({ open }) => open)) return
    await pause(250)
  }
}

void t.test(`of ${orders.length} letters that are cancelled while every process is killed the vendor and we never say different things`,
  async (t) => {
    const installation = await openInstallation({ serving: 2, working: 0 })
    const left = async (): Promise<Said[]> => (await said(installation)).filter(({ delivery }) => delivery !== 'cancelled')
    try {
      const over = new AbortController()
      // The clock of the first process is slow: to it the vendor's certificate is not valid yet.
      const [, url = ''] = installation.urls
      const told = await Promise.all(orders.map((order) => place(order, [url], installation.token, over.signal)))
      t.strictSame([...new Set(told.map(({ answer }) => answer?.body.message as string | undefined))], [undefined], 'all are accepted')

      let last: unknown[] = []
      for (let round = 1; round <= maxRounds && (await left()).length > 0; round++) {
        const before = new Set(await installation.vendor.cancelled())
        const answers = await cancelAll(installation, url, told)
        last = [...answers].map(([order, answer]) => [order, answer?.status, answer?.body.error])
        await quiet(installation)
        const cancelled = new Set(await installation.vendor.cancelled())
        for (const [order, answer] of answers) {
          if (answer?.status === 200) t.ok(cancelled.has(order), `round ${round}: letter ${order}, which is said to be taken back, is`)
          if (answer?.status === 503 && !before.has(order)) {
            t.notOk(cancelled.has(order), `round ${round}: of letter ${order} nothing was done`)
          }
        }
        t.strictSame(await contradictions(installation), [], `round ${round}`)
        await pause(betweenRounds)
      }

      t.ok(
        (await installation.database.rows('select from events where kind = \'cancel_unknown\' and actor->>\'kind\' = \'system\'')).length >
          0,
        'some were under way when their process was killed'
      )
      t.strictSame(await left(), [], `asked again, all are taken back; the last answers: ${JSON.stringify(last)}`)
      t.equal((await installation.vendor.cancelled()).length, orders.length)
      t.strictSame(await check(installation, told), [], 'they stay paid, and whatever else is promised')
    } finally {
      await installation.close()
    }
  })

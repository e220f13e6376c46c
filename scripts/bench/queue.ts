/**
 * Queued SMS: the rate at which they are sent through a vendor that takes 5 ms for each, the delay of one when nothing else waits, and the
 * delay of one behind another company's thousands. Vendor, database and each worker are separate processes.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { hasBull } from './support/bull.ts'
import { effort } from './support/effort.ts'
import { median } from './support/measure.ts'
import { drain, drainByBull, drainByHand, many, queue, type QueueBench, receiptsOf, receiptsOnceThere, tell, withQueueBench,
  withWorkers } from './support/queued.ts'
import { smsRequest } from './support/sms.ts'
import { printTable } from './support/table.ts'
import { vendorLatency } from './support/vendor.ts'

/** The numbers of SMS: for the rate, for the other company's backlog, and for the single ones; and how many a vendor accepts at a time. */
const { drained, ahead, pickedUp, vendors } = effort(
  { drained: 3_000, ahead: 10_000, pickedUp: 200, vendors: [1, 2, 4] },
  { drained: 50, ahead: 100, pickedUp: 5, vendors: [1] }
)
/** Milliseconds from the answer until the vendor has the message; one after the other. */
async function pickUp (bench: QueueBench): Promise<number[]> {
  await tell(bench.vendor, { atOnce: many })
  const { ready: { url, bearer: authorization } } = bench.company
  const dispatcher = new Agent()
  const answered = new Map<string, number>()
  for (let nth = 0; nth < pickedUp; nth++) {
    const order = `pick-up-${nth}`
    const { body, statusCode } = await request(`${url}/api/sms?async=true`, {
      method: 'POST',
      dispatcher,
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify(smsRequest(order))
    })
    answered.set(order, performance.timeOrigin + performance.now())
    await body.dump()
    if (statusCode !== 200) throw new Error(`Queuing an SMS was answered with ${statusCode}.`)
    await pause(50)
  }
  await dispatcher.close()
  return (await receiptsOnceThere(bench.vendor, pickedUp)).map(({ order, came }) => came - (answered.get(order) ?? NaN))
}

/** Seconds that one company's SMS takes behind thousands of another's. */
async function waitBehindOthers (bench: QueueBench): Promise<number> {
  await tell(bench.vendor, { atOnce: 1 })
  await queue(bench.company, ahead)
  return withWorkers(bench, { processes: 1, concurrency: 16 }, async () => {
    await receiptsOnceThere(bench.vendor, ahead / 20)
    const { ready: { url, bearer: authorization } } = bench.other
    const before = performance.timeOrigin + performance.now()
    const { body } = await request(`${url}/api/sms?async=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify(smsRequest('single'))
    })
    await body.dump()
    for (;;) {
      const receipts = await receiptsOf(bench.vendor)
      const single = receipts.find(({ order, answered }) => order === 'single' && answered > 0)
      if (single !== undefined) return (single.answered - before) / 1000
      await pause(100)
    }
  })
}

const percent = (part: number): string => `${Math.round(part * 100)} %`

await withQueueBench(async (bench) => {
  const idle = await withWorkers(bench, { processes: 1, concurrency: 16 }, () => pickUp(bench))
  printTable({ 'from the answer to the vendor, median ms': { measured: median(idle).toFixed(1), wanted: '< 20' } })

  const limited: Record<string, object> = {}
  for (const slots of vendors) {
    const rate = await drain(bench, { amount: drained, slots, processes: 1, concurrency: 16 })
    const ideal = slots / vendorLatency * 1000
    limited[`a vendor that takes ${slots} at a time`] = {
      'SMS/s': Math.round(rate),
      ideal,
      reached: percent(rate / ideal),
      wanted: '≥ 80 %'
    }
  }
  printTable(limited)

  const [one, two] = [
    await drain(bench, { amount: drained, slots: many, processes: 1, concurrency: 2 }),
    await drain(bench, { amount: drained, slots: many, processes: 2, concurrency: 2 })
  ]
  const byHand = await drainByHand(bench, drained)
  const byBull = hasBull() ? await drainByBull(bench, drained) : undefined
  const sixteen = await drain(bench, { amount: drained, slots: many, processes: 1, concurrency: 16 })
  printTable({
    'one process that works on 2 at a time': { 'SMS/s': Math.round(one) },
    'two of them': { 'SMS/s': Math.round(two), reached: `${(two / one).toFixed(1)}×`, wanted: '≥ 1.5×' },
    'pg-boss alone on 16 at a time, two transactions by hand': { 'SMS/s': Math.round(byHand) },
    ...(byBull === undefined ? {} : { 'BullMQ on Redis on 16 at a time, without the transactions': { 'SMS/s': Math.round(byBull) } }),
    'one process that works on 16 at a time': { 'SMS/s': Math.round(sixteen), reached: percent(sixteen / byHand), wanted: '≥ 60 %' }
  })

  printTable({
    [`one SMS behind ${ahead} of another company, s`]: {
      measured: (await waitBehindOthers(bench)).toFixed(1),
      'the others, s': ahead * vendorLatency / 1000
    }
  })
})

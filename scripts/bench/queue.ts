/**
 * Queued SMS: the rate at which they are sent through a vendor that takes 5 ms for each, the delay of one when nothing else waits, and the
 * delay of one behind another company's thousands. Vendor, database and each worker are separate processes.
 */
import { createAuthority } from '@dispatch/conformance'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { type Child, startChild } from './support/child.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { sendRequests } from './support/load.ts'
import { median } from './support/measure.ts'
import type { RunningService } from './support/service.ts'
import { smsRequest } from './support/sms.ts'
import { printTable } from './support/table.ts'
import { type Receipt, type ToVendor, vendorLatency } from './support/vendor.ts'

/** The numbers of SMS: for the rate, for the other company's backlog, and for the single ones; and how many a vendor accepts at a time. */
const { drained, ahead, pickedUp, vendors } = effort(
  { drained: 3_000, ahead: 10_000, pickedUp: 200, vendors: [1, 2, 4] },
  { drained: 50, ahead: 100, pickedUp: 5, vendors: [1] }
)
/** More than are ever sent at once. */
const many = 1_000

type Vendor = Child<{ url: string }>
type Bench = { databaseUrl: string, folder: string, vendor: Vendor, company: Child<RunningService>, other: Child<RunningService> }

async function tell (vendor: Vendor, message: ToVendor): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    vendor.process.send(message, (error) => {
      if (error === null) resolve()
      else reject(error)
    })
  )
}

async function receiptsOf (vendor: Vendor): Promise<Receipt[]> {
  const told = new Promise<Receipt[]>((resolve) => vendor.process.once('message', (receipts) => resolve(receipts as Receipt[])))
  await tell(vendor, 'tell')
  return told
}

/** Waits until the vendor has so many messages, and returns them. */
async function receiptsOnceThere (vendor: Vendor, amount: number): Promise<Receipt[]> {
  for (;;) {
    const receipts = await receiptsOf(vendor)
    if (receipts.filter(({ answered }) => answered > 0).length >= amount) return receipts
    await pause(200)
  }
}

function queue ({ ready: { url, bearer: authorization } }: Child<RunningService>, amount: number): Promise<void> {
  return sendRequests({ url: `${url}/api/sms?async=true`, body: smsRequest('[<id>]'), authorization }, amount)
}

async function withWorkers<Result> (
  { databaseUrl, folder }: Bench,
  { processes, concurrency }: { processes: number, concurrency: number },
  work: () => Promise<Result>
): Promise<Result> {
  const workers = await Promise.all(
    Array.from({ length: processes },
      () => startChild('worker.ts', [databaseUrl, folder], { DISPATCH_WORKER: 'on', DISPATCH_CONCURRENCY: String(concurrency) }))
  )
  try {
    return await work()
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()))
  }
}

/** `places`: how many messages the vendor accepts at once. */
type Drain = { places: number, processes: number, concurrency: number }

/** Messages per second while all processes work and none has run out of work. */
async function drain (bench: Bench, { places, ...workers }: Drain): Promise<number> {
  await tell(bench.vendor, { atOnce: places })
  await queue(bench.company, drained)
  const receipts = await withWorkers(bench, workers, () => receiptsOnceThere(bench.vendor, drained))
  const times = receipts.map(({ answered }) => answered).sort((a, b) => a - b)
  const [from, to] = [Math.floor(drained * 0.3), Math.floor(drained * 0.9)]
  return (to - from) / ((times[to] ?? NaN) - (times[from] ?? NaN)) * 1000
}

/** Milliseconds from the answer until the vendor has the message; one after the other. */
async function pickUp (bench: Bench): Promise<number[]> {
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
async function waitBehindOthers (bench: Bench): Promise<number> {
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

async function withBench (work: (bench: Bench) => Promise<void>): Promise<void> {
  await withBenchDatabase(async ({ url: databaseUrl }, folder) => {
    const authority = await createAuthority()
    const { key, cert } = await authority.issue('127.0.0.1')
    const [trusted = '', keyFile = '', certificate = ''] = ['authority.pem', 'key.pem', 'certificate.pem'].map((name) => join(folder, name))
    for (const [file, text] of [[trusted, authority.ca], [keyFile, key], [certificate, cert]] as const) writeFileSync(file, text)
    process.env['NODE_EXTRA_CA_CERTS'] = trusted
    await using opened = new AsyncDisposableStack()
    const vendor = opened.adopt(await startChild<{ url: string }>('vendor.ts', [keyFile, certificate]), (child) => child.stop())
    const serve = async (): Promise<Child<RunningService>> =>
      opened.adopt(
        await startChild<RunningService>('service.ts', [databaseUrl, folder, 'unrendered', vendor.ready.url], { DISPATCH_WORKER: 'off' }),
        (child) => child.stop()
      )
    await work({ databaseUrl, folder, vendor, company: await serve(), other: await serve() })
  })
}

await withBench(async (bench) => {
  const idle = await withWorkers(bench, { processes: 1, concurrency: 16 }, () => pickUp(bench))
  printTable({ 'from the answer to the vendor, median ms': { measured: median(idle).toFixed(1), wanted: '< 20' } })

  const limited: Record<string, object> = {}
  for (const places of vendors) {
    const rate = await drain(bench, { places, processes: 1, concurrency: 16 })
    const ideal = places / vendorLatency * 1000
    limited[`a vendor that takes ${places} at a time`] = {
      'SMS/s': Math.round(rate),
      ideal,
      reached: percent(rate / ideal),
      wanted: '≥ 80 %'
    }
  }
  printTable(limited)

  const [one, two] = [
    await drain(bench, { places: many, processes: 1, concurrency: 2 }),
    await drain(bench, { places: many, processes: 2, concurrency: 2 })
  ]
  printTable({
    'one process that works on 2 at a time': { 'SMS/s': Math.round(one) },
    'two of them': { 'SMS/s': Math.round(two), reached: `${(two / one).toFixed(1)}×`, wanted: '≥ 1.5×' },
    'one process that works on 16 at a time': { 'SMS/s': Math.round(await drain(bench, { places: many, processes: 1, concurrency: 16 })) }
  })

  printTable({
    [`one SMS behind ${ahead} of another company, s`]: {
      measured: (await waitBehindOthers(bench)).toFixed(1),
      'the others, s': ahead * vendorLatency / 1000
    }
  })
})

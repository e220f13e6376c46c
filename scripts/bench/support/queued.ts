import { createAuthority } from '@dispatch/conformance'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../../plugins/config/config.ts'
import { type Child, startChild } from './child.ts'
import { withBenchDatabase } from './database.ts'
import { sendRequests } from './load.ts'
import type { RunningService } from './service.ts'
import { smsRequest } from './sms.ts'
import type { Receipt, ToVendor } from './vendor.ts'

/** More than are ever sent at once. */
export const many = 1_000

type Vendor = Child<{ url: string }>
/** A queue with its database, a vendor, and two companies that queue SMS for it. */
export type QueueBench = {
  databaseUrl: string
  folder: string
  vendor: Vendor
  company: Child<RunningService>
  other: Child<RunningService>
}

export async function tell (vendor: Vendor, message: ToVendor): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    vendor.process.send(message, (error) => {
      if (error === null) resolve()
      else reject(error)
    })
  )
}

export async function receiptsOf (vendor: Vendor): Promise<Receipt[]> {
  const receipts = new Promise<Receipt[]>((resolve) => vendor.process.once('message', (message) => resolve(message as Receipt[])))
  await tell(vendor, 'tell')
  return receipts
}

/** Waits until the vendor has so many messages, and returns them. */
export async function receiptsOnceThere (vendor: Vendor, amount: number): Promise<Receipt[]> {
  for (;;) {
    const receipts = await receiptsOf(vendor)
    if (receipts.filter(({ answered }) => answered > 0).length >= amount) return receipts
    await pause(200)
  }
}

export function queue ({ ready: { url, bearer: authorization } }: Child<RunningService>, amount: number): Promise<void> {
  return sendRequests({ url: `${url}/api/sms?async=true`, body: smsRequest('[<id>]'), authorization }, amount)
}

/** How many processes work on the queue, on how many dispatches each at once, and where their providers run. */
type Workers = { processes: number, concurrency: number, sandbox?: Config['sandbox'] }

export async function withWorkers<Result> (
  { databaseUrl, folder }: QueueBench,
  { processes, concurrency, sandbox = 'none' }: Workers,
  work: () => Promise<Result>
): Promise<Result> {
  const workers = await Promise.all(
    Array.from({ length: processes }, () =>
      startChild('worker.ts', [databaseUrl, folder], {
        DISPATCH_WORKER: 'on',
        DISPATCH_CONCURRENCY: String(concurrency),
        DISPATCH_SANDBOX: sandbox
      }))
  )
  try {
    return await work()
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()))
  }
}

/** `amount`: how many messages are queued. `slots`: how many of them the vendor accepts at once. */
type Drain = Workers & { amount: number, slots: number }

/** Messages per second while all processes work and none has run out of work. */
export async function drain (bench: QueueBench, { amount, slots, ...workers }: Drain): Promise<number> {
  await tell(bench.vendor, { atOnce: slots })
  await queue(bench.company, amount)
  return rateOf(await withWorkers(bench, workers, () => receiptsOnceThere(bench.vendor, amount)))
}

/** The same by pg-boss alone, with the two transactions by hand. */
export async function drainByHand ({ databaseUrl, vendor }: QueueBench, amount: number): Promise<number> {
  await tell(vendor, { atOnce: many })
  const boss = await startChild('boss.ts', [databaseUrl, vendor.ready.url])
  try {
    boss.process.send(amount)
    return rateOf(await receiptsOnceThere(vendor, amount))
  } finally {
    await boss.stop()
  }
}

/** The same by BullMQ on Redis. */
export async function drainByBull ({ folder, vendor }: QueueBench, amount: number): Promise<number> {
  await tell(vendor, { atOnce: many })
  const bull = await startChild('bull.ts', [folder, vendor.ready.url])
  try {
    bull.process.send(amount)
    return rateOf(await receiptsOnceThere(vendor, amount))
  } finally {
    await bull.stop()
  }
}

/** Messages per second between the first 30 and the last 10 percent. */
function rateOf (receipts: readonly Receipt[]): number {
  const amount = receipts.length
  const times = receipts.map(({ answered }) => answered).sort((a, b) => a - b)
  const [from, to] = [Math.floor(amount * 0.3), Math.floor(amount * 0.9)]
  return (to - from) / ((times[to] ?? NaN) - (times[from] ?? NaN)) * 1000
}

export async function withQueueBench (
  work: (bench: QueueBench) => Promise<void>,
  settings: Readonly<Record<string, string>> = {}
): Promise<void> {
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
  }, settings)
}

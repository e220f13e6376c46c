/**
 * An adapter in a process of its own beside the same adapter in the process of the host: a dispatch with a document, the queue, and what
 * such a process costs.
 */
import type { Log } from '@dispatch/common'
import { type CallContext, callDispatch, type InstalledProvider, loadProvider } from '@dispatch/host'
import { createNetwork, type Network } from '@dispatch/vendor-io'
import { hash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { residentMemory } from '../../core/packages/sandbox/memory.ts'
import type { PoolOptions } from '../../core/packages/sandbox/pool.ts'
import { createSandbox, type Sandbox } from '../../core/packages/sandbox/provider.ts'
import { startChild } from './support/child.ts'
import { effort } from './support/effort.ts'
import { benchRow, inTurns, median } from './support/measure.ts'
import { drain, many, withQueueBench } from './support/queued.ts'
import type { QuickVendor } from './support/quick-vendor.ts'
import { printTable } from './support/table.ts'

/** `rounds` of `calls` dispatches each; queued SMS, `turns` times; started processes; calls before memory is read again. */
const { rounds, calls, amount, turns, starts, callsBefore } = effort(
  { rounds: 40, calls: 50, amount: 3_000, turns: 3, starts: 10, callsBefore: 500 },
  { rounds: 1, calls: 10, amount: 50, turns: 1, starts: 2, callsBefore: 20 }
)
/** Milliseconds unused after which a process ends in this benchmark; in the service 10 minutes. */
const idle = 1_000
/** Milliseconds in which a process that has nothing to do comes to rest. */
const rest = 500

const folder = fileURLToPath(new URL('support/providers/bench', import.meta.url))
const content = randomBytes(200_000)
const document = {
  id: '01960000-0000-7000-8000-000000000001',
  filename: 'F-1.pdf',
  contentType: 'application/pdf',
  size: content.byteLength,
  sha256: hash('sha256', content)
}

type Started = { pid: number, ms: number }
type Outside = { sandbox: Sandbox, provider: InstalledProvider, started: Started[] }

const nothing = (): void => undefined
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const missing = (): Promise<never> => Promise.reject(new Error('There is no such thing here.'))

/** The adapter in processes of its own; `started` tells of each. */
async function openOutside (cache: string, options: Partial<PoolOptions> = {}): Promise<Outside> {
  const started: Started[] = []
  const debug: Log['debug'] = (facts, message) => {
    if (message === 'the process of an adapter started') started.push(facts as Started)
  }
  const sandbox = await createSandbox({ cache, log: { ...silent, debug }, ...options })
  return { sandbox, provider: await sandbox.load(folder, 'bench', 10), started }
}

/** Dispatches an invoice with its document for an account. */
function dispatchTo (provider: InstalledProvider, network: Network, account: string): () => Promise<void> {
  const context: CallContext = {
    settings: { vendor: 'https://api.bench.test' },
    requestSettings: {},
    sandbox: false,
    reference: 'step-1',
    idempotencyKey: 'step-1',
    log: silent,
    state: { get: missing, put: missing, putIfAbsent: missing, delete: missing },
    now: () => new Date(),
    resources: {
      documents: { read: () => Promise.resolve(Readable.from([content], { objectMode: false })), keep: missing },
      network,
      account,
      checkpoint: { save: missing }
    }
  }
  return async () => {
    const outcome = await callDispatch(provider, 'invoicing', { invoicing: { documentType: 'INVOICE' }, data: {}, document, metadata: {} },
      context)
    if (outcome.outcome !== 'accepted') throw new Error(outcome.error.message)
  }
}

/** The median milliseconds of a dispatch of each; they take turns. */
async function compare (contestants: readonly (() => Promise<void>)[]): Promise<number[]> {
  const times = contestants.map((): number[] => [])
  for (let round = -1; round < rounds; round++) {
    for (const [index, dispatch] of contestants.entries()) {
      for (let call = 0; call < calls; call++) {
        const begun = performance.now()
        await dispatch()
        if (round >= 0) times[index]?.push(performance.now() - begun)
      }
    }
  }
  return times.map(median)
}

async function measureCalls (cache: string, network: Network): Promise<void> {
  const { sandbox, provider, started } = await openOutside(cache)
  try {
    const [inside = NaN, outside = NaN] = await compare([
      dispatchTo(await loadProvider(folder, 'bench', 10), network, 'company'),
      dispatchTo(provider, network, 'company')
    ])
    printTable({
      'in the process': { 'median ms': inside.toFixed(2) },
      'in a process of its own': { 'median ms': outside.toFixed(2) },
      'more than in the process': { 'median ms': (outside - inside).toFixed(2), wanted: '≤ 1' }
    })

    const before = started.length
    for (let nth = 0; nth < starts; nth++) await dispatchTo(provider, network, `company ${nth}`)()
    const times = started.slice(before).map(({ ms }) => ms)
    await pause(rest)
    const fresh = memoryOf(started.at(-1))
    const dispatch = dispatchTo(provider, network, 'busy company')
    for (let call = 0; call < callsBefore; call++) await dispatch()
    await pause(rest)
    printTable({
      'start, median ms': { measured: median(times), wanted: '≤ 150' },
      'idle, after its first call, MB': { measured: fresh, wanted: '≤ 60' },
      [`idle, after ${callsBefore} calls, MB`]: { measured: memoryOf(started.at(-1)), wanted: '≤ 60' },
      [`left when unused for ${idle / 1000} s`]: { measured: await leftOver(cache, network), wanted: 0 }
    })
  } finally {
    await sandbox.close()
  }
}

/** Megabytes. */
function memoryOf (started: Started | undefined): number {
  return Math.round(residentMemory(started?.pid) / 1e6)
}

/** How many processes are there some time after they were last used. */
async function leftOver (cache: string, network: Network): Promise<number> {
  const { sandbox, provider, started } = await openOutside(cache, { idle })
  try {
    await Promise.all(['one', 'two'].map((account) => dispatchTo(provider, network, account)()))
    // The pool looks once a second.
    await pause(idle + 2_000)
    return Math.max(sandbox.state().processes, started.filter(({ pid }) => residentMemory(pid) > 0).length)
  } finally {
    await sandbox.close()
  }
}

async function measureQueue (): Promise<void> {
  await withQueueBench(async (bench) => {
    const one = { amount, slots: many, processes: 1, concurrency: 16 }
    const { inside, outside } = await inTurns({
      inside: () => drain(bench, { ...one, sandbox: 'none' }),
      outside: () => drain(bench, { ...one, sandbox: 'all' })
    }, turns)
    printTable({
      'queued SMS, in the process': benchRow(inside),
      'in a process of its own, of that': benchRow(outside, { baseline: inside, wanted: 80 })
    })
  })
}

const cache = mkdtempSync(join(tmpdir(), 'dispatch-bench-'))
const { ready: { ca, port }, stop } = await startChild<QuickVendor>('quick-vendor.ts')
const network = createNetwork({ ca: [ca], loopback: 'allowed', route: () => ({ host: '127.0.0.1', port }) })
try {
  await measureCalls(cache, network)
} finally {
  await network.close()
  await stop()
  rmSync(cache, { recursive: true })
}
await measureQueue()

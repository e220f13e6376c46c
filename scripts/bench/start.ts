/**
 * The time of `npm start` until it is ready, in an empty data directory and in an existing one, and its memory: after 10,000 dispatches
 * with documents, after as many again, and a while later, when the thread that makes documents has ended.
 */
import { demo } from '@dispatch/core'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { whenCut } from './support/cut.ts'
import { effort } from './support/effort.ts'
import { invoiceRequest } from './support/invoice.ts'
import { sendRequests } from './support/load.ts'
import { median } from './support/measure.ts'
import { printTable } from './support/table.ts'

/** `starts`: with existing data. `idle`: seconds, longer than a thread without a document lives. */
const { starts, dispatches, idle } = effort({ starts: 5, dispatches: 10_000, idle: 75 }, { starts: 1, dispatches: 50, idle: 1 })
const root = fileURLToPath(new URL('../..', import.meta.url))

type Started = { url: string, pid: number, seconds: number, stop: () => Promise<void> }

/** Credits and rate limits are switched off, because they are not measured. */
const settings = { PORT: '0', DISPATCH_PRICES: 'invoicing=0', DISPATCH_AUTH_LIMIT: '0', DISPATCH_DISPATCH_LIMIT: '0' }

/** Runs `npm start` on a data directory. */
async function start (dataDirectory: string): Promise<Started> {
  const began = performance.now()
  const npm = spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, ...settings, DISPATCH_DATA_DIR: dataDirectory },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const [url = '', pid = ''] = await readUntil(npm.stdout, [/ is ready at (\S+)/, /"pid":(\d+)/])
  const seconds = (performance.now() - began) / 1000
  npm.stdout.resume()
  const whole = whenCut(() => process.kill(Number(pid), 'SIGTERM'))
  return {
    url,
    pid: Number(pid),
    seconds,
    async stop () {
      const exited = once(npm, 'exit')
      process.kill(Number(pid), 'SIGTERM')
      await exited
      whole()
    }
  }
}

/** The first group of each pattern, once all patterns were found in the output. */
async function readUntil (output: NodeJS.ReadableStream, patterns: readonly RegExp[]): Promise<string[]> {
  let written = ''
  for await (const line of createInterface({ input: output })) {
    written += `${line}\n`
    const found = patterns.flatMap((pattern) => pattern.exec(written)?.[1] ?? [])
    if (found.length === patterns.length) return found
  }
  throw new Error(`The service did not start: ${written}`)
}

/** Resident memory of a process in MB. */
function resident (pid: number): number {
  return kilobytes(pid, 'status', 'VmRSS') / 1000
}

/** Memory of the database server in MB. Memory that its processes share counts once. */
function residentDatabase (dataDirectory: string): number {
  const pid = Number(readFileSync(join(dataDirectory, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0])
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
  return [pid, ...children].reduce((sum, each) => sum + kilobytes(each, 'smaps_rollup', 'Pss'), 0) / 1000
}

function kilobytes (pid: number, file: string, name: string): number {
  const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8')) ?? []
  return Number(kibibytes) * 1.024
}

/** Seconds until it is ready. */
async function timeStart (dataDirectory: string): Promise<number> {
  const { seconds, stop } = await start(dataDirectory)
  await stop()
  return seconds
}

/** The memory of a started service in MB: before its dispatches, after them, after as many again, and when it has been idle. */
type Memory = { whenReady: number, afterwards: number, later: number, whenIdle: number, database: number }

async function memoryOf ({ url, pid }: Started, dataDirectory: string): Promise<Memory> {
  const whenReady = resident(pid)
  const authorization = `Basic ${btoa(`${demo.admin.email}:${demo.admin.password}`)}`
  const load = { url: `${url}/api/invoicing`, body: invoiceRequest('[<id>]'), authorization }
  await sendRequests(load, dispatches)
  const afterwards = resident(pid)
  await sendRequests(load, dispatches)
  const later = resident(pid)
  const database = residentDatabase(dataDirectory)
  await pause(idle * 1000)
  return { whenReady, afterwards, later, whenIdle: resident(pid), database }
}

const folder = mkdtempSync(join(tmpdir(), 'dispatch-bench-'))
try {
  const first = await timeStart(folder)
  const later: number[] = []
  for (let round = 1; round < starts; round++) later.push(await timeStart(folder))
  const last = await start(folder)
  later.push(last.seconds)
  let memory: Awaited<ReturnType<typeof memoryOf>>
  try {
    memory = await memoryOf(last, folder)
  } finally {
    await last.stop()
  }
  const { whenReady, afterwards, later: afterTwice, whenIdle, database } = memory
  printTable({
    'ready, first run, s': { measured: first.toFixed(1), wanted: '≤ 5' },
    'ready, existing data, s': { measured: median(later).toFixed(1), wanted: '≤ 1.5' },
    'resident when ready, MB': { measured: Math.round(whenReady) },
    [`resident after ${dispatches} dispatches, MB`]: { measured: Math.round(afterwards), wanted: '≤ 200' },
    [`grown with ${dispatches} more, MB`]: { measured: Math.round(afterTwice - afterwards), wanted: '0' },
    [`resident ${idle} s later, MB`]: { measured: Math.round(whenIdle), wanted: '≤ 200' },
    'PostgreSQL beside it, MB': { measured: Math.round(database) }
  })
} finally {
  rmSync(folder, { recursive: true })
}

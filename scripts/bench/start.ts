/** `npm start` until it is ready, in an empty data directory and in one that is there; its memory after 1,000 dispatches. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { demo } from '@dispatch/core'
import { invoiceRequest } from './support/invoice.ts'
import { sendRequests } from './support/load.ts'
import { median } from './support/measure.ts'

const starts = 5
const dispatches = 1_000
const root = fileURLToPath(new URL('../..', import.meta.url))

type Started = { url: string, pid: number, seconds: number, stop: () => Promise<void> }

/** Runs `npm start` on a data directory; credits are no matter. */
async function start (dataDirectory: string): Promise<Started> {
  const began = performance.now()
  const npm = spawn('npm', ['start'], { cwd: root, env: { ...process.env, PORT: '0', DISPATCH_DATA_DIR: dataDirectory, DISPATCH_PRICES: 'invoicing=0' }, stdio: ['ignore', 'pipe', 'inherit'] })
  const [url = '', pid = ''] = await readUntil(npm.stdout, [/ is ready at (\S+)/, /"pid":(\d+)/])
  const seconds = (performance.now() - began) / 1000
  npm.stdout.resume()
  return {
    url, pid: Number(pid), seconds,
    async stop () {
      const exited = once(npm, 'exit')
      process.kill(Number(pid), 'SIGTERM')
      await exited
    }
  }
}

/** What the first group of each pattern stands for, once all of them were written. */
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

/** Memory of the database server in MB; what its processes share counts once. */
function residentDatabase (dataDirectory: string): number {
  const pid = Number(readFileSync(join(dataDirectory, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0])
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
  return [pid, ...children].reduce((sum, each) => sum + kilobytes(each, 'smaps_rollup', 'Pss'), 0) / 1000
}

function kilobytes (pid: number, file: string, name: string): number {
  const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8')) ?? []
  return Number(kibibytes) * 1.024
}

const folder = mkdtempSync(join(tmpdir(), 'dispatch-bench-'))
try {
  const first = await start(folder)
  await first.stop()
  const later: number[] = []
  for (let round = 1; round < starts; round++) {
    const again = await start(folder)
    later.push(again.seconds)
    await again.stop()
  }
  const { url, pid, stop } = await start(folder)
  const whenReady = resident(pid)
  await sendRequests({ url: `${url}/api/invoicing`, body: invoiceRequest('[<id>]'), authorization: `Basic ${btoa(`${demo.admin.email}:${demo.admin.password}`)}` }, dispatches)
  const afterwards = resident(pid)
  const database = residentDatabase(folder)
  await stop()
  console.table({
    'ready, first run, s': { measured: first.seconds.toFixed(1), wanted: '< 8' },
    'ready, existing data, s': { measured: median(later).toFixed(1), wanted: '< 3' },
    'resident when ready, MB': { measured: Math.round(whenReady) },
    [`resident after ${dispatches} dispatches, MB`]: { measured: Math.round(afterwards), wanted: '< 300' },
    'PostgreSQL beside it, MB': { measured: Math.round(database) }
  })
} finally {
  rmSync(folder, { recursive: true })
}

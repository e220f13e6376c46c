/** From the start of the process to its first answer, in an empty data directory and with an existing one; its memory after 1,000 dispatches. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { invoiceRequest } from './support/invoice.ts'

const dispatches = 1_000
const authorization = `Basic ${btoa('demo@example.com:demo-password')}`

type Started = { process: ChildProcess, url: string, seconds: number }

async function start (folder: string): Promise<Started> {
  const began = performance.now()
  const service = spawn(process.execPath, [fileURLToPath(new URL('../serve.ts', import.meta.url))], { env: { ...process.env, PORT: '0', DISPATCH_DATA_DIR: folder }, stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: service.stdout })) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
    if (url === undefined) continue
    service.stdout.resume()
    await fetch(`${url}/livez`)
    return { process: service, url, seconds: (performance.now() - began) / 1000 }
  }
  throw new Error('The service did not start.')
}

async function stop ({ process: service }: Started): Promise<void> {
  const ended = once(service, 'exit')
  service.kill('SIGTERM')
  await ended
}

async function dispatch ({ url }: Started, index: number): Promise<void> {
  const answer = await fetch(`${url}/api/invoicing`, { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify(invoiceRequest(`B-${index}`)) })
  if (answer.status !== 200) throw new Error(await answer.text())
  await answer.arrayBuffer()
}

/** Resident memory of a process in MiB, as Linux tells it. */
function resident ({ pid }: ChildProcess): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? []
  return Math.round(Number(kibibytes) / 1024)
}

const folder = mkdtempSync(join(tmpdir(), 'dispatch-bench-'))
try {
  const first = await start(folder)
  await stop(first)
  const second = await start(folder)
  const fresh = resident(second.process)
  // A sandbox costs nothing: the 100 credits of "Demo" would not do.
  await fetch(`${second.url}/api/v1/company/providers/simulator`, { method: 'PUT', headers: { authorization, 'content-type': 'application/json' }, body: '{"settings":{},"sandbox":true}' })
  for (let index = 0; index < dispatches; index += 8) await Promise.all(Array.from({ length: 8 }, (_, offset) => dispatch(second, index + offset)))
  const used = resident(second.process)
  await stop(second)
  console.table({
    'ready, first run (s)': { measured: first.seconds.toFixed(2), wanted: '< 8' },
    'ready, existing data (s)': { measured: second.seconds.toFixed(2), wanted: '< 3' },
    'resident when ready (MiB)': { measured: fresh },
    [`resident after ${dispatches} dispatches (MiB)`]: { measured: used, wanted: '< 300' }
  })
} finally {
  rmSync(folder, { recursive: true })
}

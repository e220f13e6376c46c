import type { JsonObject } from '@dispatch/common'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { effort } from './effort.ts'

/** The part of autocannon's report that is read; `duration` is in seconds, latencies are in milliseconds. */
const Report = Type.Object({
  '2xx': Type.Integer(),
  non2xx: Type.Integer(),
  errors: Type.Integer(),
  duration: Type.Number(),
  latency: Type.Object({ p50: Type.Number(), p99: Type.Number() })
})

/** `[<id>]` in the body is a different word each time. With several authorizations, requests take them in turns. */
export type Load = { url: string, body: JsonObject, authorization?: string | readonly string[] }

/** Requests answered per second, and milliseconds until half of them, and 99 % of them, were answered. */
export type Loaded = { perSecond: number, p50: number, p99: number }

/** Sends requests for so many seconds. A short run sends 64, because a machine under load may answer none within its time. */
export async function underLoad (load: Load, seconds: number): Promise<Loaded> {
  const { '2xx': answered, duration, latency } = await fire(load, effort({ duration: seconds }, { amount: 64 }))
  // The report has a resolution of 0.01 s.
  return { perSecond: answered / Math.max(duration, 0.01), p50: latency.p50, p99: latency.p99 }
}

/** Requests answered per second. */
export async function requestsPerSecond (load: Load, seconds: number): Promise<number> {
  return (await underLoad(load, seconds)).perSecond
}

/** Sends so many requests, and waits for their answers. */
export async function sendRequests (load: Load, amount: number): Promise<void> {
  await fire(load, { amount })
}

/** POSTs the body over 32 connections from a process of its own. Throws when a request is refused. */
async function fire (load: Load, limit: { duration: number } | { amount: number }): Promise<Static<typeof Report>> {
  const script = fileURLToPath(new URL('load-child.ts', import.meta.url))
  const child = spawn(process.execPath, [script, JSON.stringify({ ...load, limit })], { stdio: ['ignore', 'pipe', 'inherit'] })
  const report = Value.Parse(Report, JSON.parse(await text(child.stdout)))
  if (report.non2xx + report.errors > 0) throw new Error(`${report.non2xx} requests to ${load.url} were refused, ${report.errors} failed.`)
  return report
}

import type { JsonObject } from '@dispatch/common'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { effort } from './effort.ts'

/** The part of autocannon's report that is read; `duration` is in seconds. */
const Report = Type.Object({ '2xx': Type.Integer(), non2xx: Type.Integer(), errors: Type.Integer(), duration: Type.Number() })

export type Load = { url: string, body: JsonObject, authorization?: string }

/** Requests answered per second. A short run counts up to 64 requests, because a machine under load may answer none within its time. */
export async function requestsPerSecond (load: Load, seconds: number): Promise<number> {
  const { '2xx': answered, duration } = await fire(load, effort(['--duration', String(seconds)], ['--amount', '64']))
  // The report has a resolution of 0.01 s.
  return answered / Math.max(duration, 0.01)
}

/** Sends so many requests, and waits for their answers. */
export async function sendRequests (load: Load, amount: number): Promise<void> {
  await fire(load, ['--amount', String(amount)])
}

/**
 * POSTs the body over 32 connections from a separate process. `[<id>]` in the body is a different word each time. Throws when a request is
 * refused.
 */
async function fire ({ url, body, authorization }: Load, limit: readonly string[]): Promise<Static<typeof Report>> {
  const headers = ['content-type=application/json', ...(authorization === undefined ? [] : [`authorization=${authorization}`])]
  const autocannon = spawn(process.execPath, [
    fileURLToPath(import.meta.resolve('autocannon')),
    '--connections',
    '32',
    ...limit,
    '--method',
    'POST',
    ...headers.flatMap((header) => ['--headers', header]),
    '--body',
    JSON.stringify(body),
    '--idReplacement',
    '--json',
    '--no-progress',
    url
  ], { stdio: ['ignore', 'pipe', 'ignore'] })
  const report = Value.Parse(Report, JSON.parse(await text(autocannon.stdout)))
  if (report.non2xx + report.errors > 0) throw new Error(`${report.non2xx} requests to ${url} were refused, ${report.errors} failed.`)
  return report
}

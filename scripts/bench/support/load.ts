import type { JsonObject } from '@dispatch/common'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { effort } from './effort.ts'

/** What autocannon reports, as far as it is read; `duration` in seconds. */
const Report = Type.Object({ '2xx': Type.Integer(), non2xx: Type.Integer(), errors: Type.Integer(), duration: Type.Number() })

export type Load = { url: string, body: JsonObject, authorization?: string }

/** Requests that are answered in a second. A short run counts to 64, as a machine under load may answer none within its time. */
export async function requestsPerSecond (load: Load, seconds: number): Promise<number> {
  const { '2xx': answered, duration } = await fire(load, effort(['--duration', String(seconds)], ['--amount', '64']))
  // The report tells hundredths of a second.
  return answered / Math.max(duration, 0.01)
}

/** Sends so many requests, and waits for their answers. */
export async function sendRequests (load: Load, amount: number): Promise<void> {
  await fire(load, ['--amount', String(amount)])
}

/** POSTs the body over 32 connections, from a process of its own; `[<id>]` in it is another word each time. Throws when one is refused. */
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

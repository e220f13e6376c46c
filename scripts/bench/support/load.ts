import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@dispatch/core'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

/** What autocannon reports, as far as it is read; `duration` in seconds. */
const Report = Type.Object({ '2xx': Type.Integer(), non2xx: Type.Integer(), errors: Type.Integer(), duration: Type.Number() })

export type Load = { url: string, body: JsonObject, authorization?: string }

/** Requests that are answered in a second: POSTs of the body over 32 connections, from a process of its own. `[<id>]` in the body is another word each time. */
export async function requestsPerSecond ({ url, body, authorization }: Load, seconds = 2): Promise<number> {
  const headers = ['content-type=application/json', ...(authorization === undefined ? [] : [`authorization=${authorization}`])]
  const autocannon = spawn(process.execPath, [
    fileURLToPath(import.meta.resolve('autocannon')), '--connections', '32', '--duration', String(seconds), '--method', 'POST',
    ...headers.flatMap((header) => ['--headers', header]), '--body', JSON.stringify(body), '--idReplacement', '--json', '--no-progress', url
  ], { stdio: ['ignore', 'pipe', 'ignore'] })
  const report = Value.Parse(Report, JSON.parse(await text(autocannon.stdout)))
  if (report.non2xx + report.errors > 0) throw new Error(`${report.non2xx} requests to ${url} were refused, ${report.errors} failed.`)
  return report['2xx'] / report.duration
}

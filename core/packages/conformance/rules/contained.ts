import { setTimeout as pause } from 'node:timers/promises'
import { type Case, judged } from '../report.ts'
import { errorWithStack } from '../run/trace.ts'
import type { Watch } from '../run/watch.ts'

/** Milliseconds in which timers that a provider has left behind may still fire. */
const afterwards = 100

/** What the provider did to the process in all that was tried before. `folder` is a real path. */
export async function containedCases (watch: Watch, folder: string): Promise<Case[]> {
  await pause(afterwards)
  return [
    judged('contained', 'every call', [...new Set(watch.used())]),
    judged('floating', 'every call', [...new Set(watch.unhandled().map((error) => `Nobody awaited: ${errorWithStack(error, folder)}`))]),
    judged('globals', 'every call', watch.changedGlobals())
  ]
}

import { setTimeout as pause } from 'node:timers/promises'
import { type Case, judged } from '../report.ts'
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

/** An error with the lines of its stack that lie in the folder. */
export function errorWithStack (error: unknown, folder: string): string {
  if (!(error instanceof Error)) return String(error)
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line) && line.includes(`${folder}/`))
  return [`${error.name}: ${error.message}`, ...frames.map((frame) => frame.replaceAll(/\?provider-load=\d+/g, ''))].join('\n')
}

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Case, type ConformanceReport, type ConformanceRule, judged } from './report.ts'
import type { KitStep } from './run/progress.ts'

type Options = { only?: readonly ConformanceRule[], limit?: number }

/** What the child is sent, once. */
export type ToChild = { folder: string, options: Options }
/** What it sends: the step that it begins, at last its report; or nothing, as a sign of life. */
export type FromChild = { step?: KitStep, report?: ConformanceReport }

/** Milliseconds without a sign of life after which the child is given up: by default as long as a call may take. */
const usuallyStuckAfter = 10_000
/** Milliseconds in which it must have started: a busy machine starts a process slowly. */
const startWithin = 60_000

/**
 * Runs the kit in a process of its own, so that it ends whatever the provider does. A provider that loops without end, or ends the process,
 * is a failed case that says where. What it prints goes to standard error. `stuckAfter`: milliseconds.
 */
export async function runConformanceInChild (
  folder: string,
  { stuckAfter = usuallyStuckAfter, ...options }: Options & { stuckAfter?: number } = {}
): Promise<ConformanceReport> {
  const real = await realpath(folder)
  const { report, last, stuck, how } = await watchChild({ folder: real, options }, stuckAfter)
  return report ?? {
    provider: basename(real),
    cases: [failedAt(last, stuck ? stuckWhile(real, last, stuckAfter) : endedWhile(real, last, how))]
  }
}

/** What came of a child: its report, or the last step that it began, whether it was given up there, and how it ended. */
type Watched = { report?: ConformanceReport, last: KitStep, stuck: boolean, how: string }

async function watchChild (asked: ToChild, stuckAfter: number): Promise<Watched> {
  const child = fork(fileURLToPath(new URL('child.ts', import.meta.url)), { stdio: ['ignore', 2, 2, 'ipc'], execArgv: [] })
  const seen: Omit<Watched, 'how'> = { last: { rules: ['manifest'] }, stuck: false }
  const giveUpAfter = (time: number): NodeJS.Timeout =>
    setTimeout(() => {
      seen.stuck = true
      child.kill('SIGKILL')
    }, time)
  let timer = giveUpAfter(startWithin)
  child.on('message', ({ step, report }: FromChild) => {
    clearTimeout(timer)
    timer = giveUpAfter(stuckAfter)
    if (step !== undefined) seen.last = step
    if (report === undefined) return
    seen.report = report
    // A provider may have left something behind that keeps its process.
    child.kill('SIGKILL')
  })
  child.send(asked)
  // The last messages have been read by the time of the disconnection.
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]) as [
    [number | null, NodeJS.Signals | null],
    []
  ]
  clearTimeout(timer)
  return { ...seen, how: signal ?? `exit code ${String(code)}` }
}

function failedAt ({ rules: [rule = 'manifest', ...more], call = 'the folder' }: KitStep, why: string): Case {
  const together = more.length === 0 ? '' : ` (checked together: ${more.join(', ')})`
  return judged(rule, `${call}${together}`, [why, 'Nothing after that could be checked.'])
}

function stuckWhile (folder: string, { rules, call = 'its code' }: KitStep, time: number): string {
  return rules.includes('manifest')
    ? `${folder} does not finish loading: it blocks the process for ${
      time / 1000
    } seconds. Look for an endless loop at the top of a module.`
    : `It blocks the process: ${call} still runs after ${time / 1000} seconds. Look for an endless loop, or Atomics.wait().`
}

function endedWhile (folder: string, { rules, call = 'its code' }: KitStep, how: string): string {
  const what = rules.includes('manifest') ? `${folder} ends the process when it is loaded` : `It ends the process in ${call}`
  return `${what} (${how}). A provider returns or throws: others use the process, too.`
}

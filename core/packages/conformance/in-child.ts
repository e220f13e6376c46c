import { fork } from 'node:child_process'
import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { beatEvery, pulsePipe } from './beats.ts'
import { type Case, type ConformanceReport, type ConformanceRule, judged } from './report.ts'
import type { KitStep } from './run/progress.ts'

type Options = { only?: readonly ConformanceRule[], limit?: number }

/** What the child is sent, once. */
export type ToChild = { folder: string, options: Options }
/** What it sends: the step that it begins, at last its report; or nothing, as a sign of life. */
export type FromChild = { step?: KitStep, report?: ConformanceReport }

/**
 * Milliseconds of work, or of waiting, without a sign of life after which the child is given up: by default as long as a call may take.
 * Time in which a busy machine does not let it run counts for neither.
 */
const usuallyStuckAfter = 10_000
/** Milliseconds in which nothing at all is heard of the child: it does not start, or the machine does not let it run. */
const usuallyHeardWithin = 60_000

/**
 * Runs the kit in a process of its own, so that it ends whatever the provider does. A provider that loops without end, or ends the process,
 * is a failed case that says where. What it prints goes to standard error.
 */
export async function runConformanceInChild (
  folder: string,
  { stuckAfter = usuallyStuckAfter, heardWithin = usuallyHeardWithin, ...options }: Options & Partial<Limits> = {}
): Promise<ConformanceReport> {
  const real = await realpath(folder)
  const watched = await watchChild({ folder: real, options }, { stuckAfter, heardWithin })
  const { report, last } = watched
  return report ?? { provider: basename(real), cases: [failedAt(last, whyEnded(real, watched, { stuckAfter, heardWithin }))] }
}

/** Both in milliseconds. */
type Limits = { stuckAfter: number, heardWithin: number }

/**
 * What came of a child: its report, or the last step that it began, why it was given up there, and how it ended. `works`, `waits`: its main
 * thread is blocked by work, or by waiting; `unheard`: nobody can tell.
 */
type Watched = { report?: ConformanceReport, last: KitStep, stuck?: Blocked, how: string }
type Blocked = 'works' | 'waits' | 'unheard'

async function watchChild (requested: ToChild, { stuckAfter, heardWithin }: Limits): Promise<Watched> {
  const child = fork(fileURLToPath(new URL('child.ts', import.meta.url)), { stdio: ['ignore', 2, 2, 'ipc', 'pipe'], execArgv: [] })
  const seen: Omit<Watched, 'how'> = { last: { rules: ['manifest'] } }
  const giveUp = (why: Blocked): void => {
    seen.stuck ??= why
    child.kill('SIGKILL')
  }
  let timer = setTimeout(giveUp, heardWithin, 'unheard')
  const heard = (): void => {
    clearTimeout(timer)
    timer = setTimeout(giveUp, heardWithin, 'unheard')
  }
  /** Since the last sign of life of its main thread, in milliseconds. */
  const blocked = { works: 0, waits: 0 }
  let used = 0
  child.on('message', ({ step, report }: FromChild) => {
    heard()
    Object.assign(blocked, { works: 0, waits: 0 })
    if (step !== undefined) seen.last = step
    if (report === undefined) return
    seen.report = report
    // A provider may have left something behind that keeps its process.
    child.kill('SIGKILL')
  })
  createInterface(child.stdio[pulsePipe] as Readable).on('line', (line) => {
    heard()
    const [time, state] = line.split(' ')
    blocked.works += Number(time) - used
    blocked.waits += state === 'S' ? beatEvery : 0
    used = Number(time)
    if (blocked.works >= stuckAfter) giveUp('works')
    else if (blocked.waits >= stuckAfter) giveUp('waits')
  })
  child.send(requested)
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

function whyEnded (folder: string, { last: { rules, call = 'its code' }, stuck, how }: Watched, limits: Limits): string {
  const isLoading = rules.includes('manifest')
  if (stuck === undefined) {
    return `${
      isLoading ? `${folder} ends the process when it is loaded` : `It ends the process in ${call}`
    } (${how}). A provider returns ` +
      'or throws: others use the process, too.'
  }
  const reported = isLoading ? `${folder} does not finish loading: it blocks the process` : `It blocks the process: ${call} still runs`
  const seconds = limits.stuckAfter / 1000
  return {
    works: `${reported} after ${seconds} seconds of work. Look for an endless loop${isLoading ? ' at the top of a module' : ''}.`,
    waits: `${reported}, and waits, for ${seconds} seconds without any work. Look for Atomics.wait().`,
    unheard: `Nothing was heard of the process of the kit for ${limits.heardWithin / 1000} seconds: this machine is too busy to tell more.`
  }[stuck]
}

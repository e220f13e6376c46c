import type { Log } from '@dispatch/common'
import { spawn } from 'node:child_process'
import { hash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import host from '../package.json' with { type: 'json' }
import { LoadTimeout, refusedAsSlow } from './load-error.ts'
import { placeIn } from './place.ts'

/** A folder (a real path) that is to be tried, its entry, and its digest. */
export type TrialFolder = { folder: string, entry: string, digest: string }

/** What the process of a trial reads on its standard input. `word` begins each line of its answer. */
export type TrialInput = { word: string, folders: readonly TrialFolder[] }

/**
 * What came of a trial. `fault`: why the folder must not be imported in the process of the service, in a sentence. `place`: where it has a
 * syntax error. A module that throws has no fault here: the service catches what it throws.
 */
export type Trial = { fault?: string, place?: string }

/** Remembers which folders have passed, by what they were tried with: those are not tried again. */
export type PassedTrials = {
  /** Those among the keys that have passed. */
  among: (keys: readonly string[]) => Promise<ReadonlySet<string>>
  add: (keys: readonly string[]) => Promise<void>
}

/** Tries folders, one after the other in one child process; answers by folder. */
export type Trials = (folders: readonly TrialFolder[]) => Promise<ReadonlyMap<string, Trial>>

/** Tries nothing. */
export const noTrials: Trials = () => Promise.resolve(new Map())

/** Remembers for as long as the process lives, and for all its hosts. */
export const memoryOfTrials: PassedTrials = (() => {
  const passed = new Set<string>()
  return {
    among: (keys) => Promise.resolve(passed.intersection(new Set(keys))),
    add (keys) {
      for (const key of keys) passed.add(key)
      return Promise.resolve()
    }
  }
})()

/**
 * Tries folders of providers in a process of its own. `limit`: seconds that one folder may take to load. The output of a folder that has
 * failed goes to the log.
 */
export function createTrials ({ passed, limit, log }: { passed: PassedTrials, limit: number, log: Log }): Trials {
  return async (folders) => {
    const before = await passed.among(folders.map(keyOf))
    const untried = folders.filter((folder) => !before.has(keyOf(folder)))
    const trials = await tryAll(untried, { limit: limit * 1000, log })
    const good = untried.filter(({ folder }) => trials.get(folder)?.fault === undefined && trials.get(folder)?.place === undefined)
    if (good.length > 0) await passed.add(good.map(keyOf))
    return trials
  }
}

/** Another host, or another Node, may load a folder otherwise. */
function keyOf ({ digest }: TrialFolder): string {
  return hash('sha256', `${digest} ${host.version} ${process.version}`)
}

/** How many times as long a folder may take when it is tried again: the machine may have been busy. */
export const loadTimeoutFactor = 6

/** A child that ends, or hangs, is followed by another one for the folders that are left. What hung is tried once more, by itself. */
async function tryAll (folders: readonly TrialFolder[], { limit, log }: { limit: number, log: Log }): Promise<Map<string, Trial>> {
  const trials = new Map<string, Trial>()
  while (trials.size < folders.length) {
    const left = folders.slice(trials.size)
    const { trials: found, hung } = await tryInChild(left, { limit, log })
    const last = left[found.length]
    const again = hung && last !== undefined
      ? await tryInChild([last], { limit: loadTimeoutFactor * limit, log })
      : { trials: [], hung: false }
    const slow = again.hung ? [{ fault: refusedAsSlow(new LoadTimeout(loadTimeoutFactor * limit / 1000)) }] : again.trials
    for (const [index, trial] of [...found, ...slow].entries()) trials.set(left[index]?.folder ?? '', trial)
  }
  return trials
}

/** Milliseconds: a busy machine starts a process slowly. */
const startLimit = 30_000

/** Tries the folders until one ends the child, or hangs it; answers what came of those before one that hangs, and of one that ends it. */
async function tryInChild (
  folders: readonly TrialFolder[],
  { limit, log }: { limit: number, log: Log }
): Promise<{ trials: Trial[], hung: boolean }> {
  const word = randomUUID()
  // By env(1): whatever observes this process may add variables to those of its children.
  const child = spawn('/usr/bin/env', ['-i', process.execPath, ...permissions, program], { env: {}, stdio: 'pipe' })
  let [printed, done, hung] = ['', 0, false]
  const give = (time: number): NodeJS.Timeout =>
    setTimeout(() => {
      hung = true
      child.kill('SIGKILL')
    }, time)
  let timer = give(startLimit)
  const take = (text: string): void => {
    printed = `${printed}${text}`.slice(-longestPrinted)
  }
  createInterface(child.stdout).on('line', (line) => {
    if (!line.startsWith(word)) {
      take(`${line}\n`)
      return
    }
    clearTimeout(timer)
    timer = give(limit)
    if (line === `${word} done`) done += 1
  })
  child.stderr.setEncoding('utf8').on('data', take)
  child.stdin.on('error', () => undefined).end(JSON.stringify({ word, folders } satisfies TrialInput))
  await once(child, 'close').finally(() => {
    clearTimeout(timer)
  })
  const trials = folders.slice(0, done).map((): Trial => ({}))
  const [last] = folders.slice(done - 1)
  const place = done === 0 || last === undefined ? undefined : placeIn(printed, last.folder)
  if (place !== undefined) return { trials: trials.with(-1, { place }), hung: false }
  if (done === folders.length) return { trials, hung: false }
  log.error({ folder: folders[done]?.folder, printed: printed.slice(-longestLogged) }, 'a provider failed its trial, and printed this')
  return hung ? { trials, hung } : { trials: [...trials, { fault: 'Ends the process when it is loaded.' }], hung }
}

const program = fileURLToPath(new URL('trial-child.ts', import.meta.url))
/**
 * Node's permission model: nothing but reading. What a folder imports may lie behind links anywhere, as some package managers lay packages
 * out; and what passes here is imported by the service, which may read all of it anyway.
 */
const permissions = ['--permission', '--disable-sigusr1', '--allow-fs-read=*']

/** Characters of what is printed that are kept, and those that go to the log. */
const [longestPrinted, longestLogged] = [100_000, 4_000]

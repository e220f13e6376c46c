import { spawn } from 'node:child_process'
import { hash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import core from '../../package.json' with { type: 'json' }
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

/** `limit`: seconds that one folder may take to load. */
export function createTrials ({ passed, limit }: { passed: PassedTrials, limit: number }): Trials {
  return async (folders) => {
    const before = await passed.among(folders.map(keyOf))
    const untried = folders.filter((folder) => !before.has(keyOf(folder)))
    const trials = await tryAll(untried, limit * 1000)
    const good = untried.filter(({ folder }) => trials.get(folder)?.fault === undefined && trials.get(folder)?.place === undefined)
    if (good.length > 0) await passed.add(good.map(keyOf))
    return trials
  }
}

/** Another core, or another Node, may load a folder otherwise. */
function keyOf ({ digest }: TrialFolder): string {
  return hash('sha256', `${digest} ${core.version} ${process.version}`)
}

/** A child that ends, or hangs, is followed by another one for the folders that are left. */
async function tryAll (folders: readonly TrialFolder[], limit: number): Promise<Map<string, Trial>> {
  const trials = new Map<string, Trial>()
  while (trials.size < folders.length) {
    const left = folders.slice(trials.size)
    const found = await tryInChild(left, limit)
    left.slice(0, found.length).forEach(({ folder }, index) => trials.set(folder, found[index] ?? {}))
  }
  return trials
}

/** Milliseconds: a busy machine starts a process slowly. */
const startLimit = 30_000

/** Tries the folders until one ends the child, or hangs it; answers what came of those, at least one. */
async function tryInChild (folders: readonly TrialFolder[], limit: number): Promise<Trial[]> {
  const word = randomUUID()
  // By env(1): whatever observes this process may add variables to those of its children.
  const child = spawn('/usr/bin/env', ['-i', process.execPath, ...await permissions(folders), program], { env: {}, stdio: 'pipe' })
  let [printed, done, hung] = ['', 0, false]
  const give = (time: number): NodeJS.Timeout =>
    setTimeout(() => {
      hung = true
      child.kill('SIGKILL')
    }, time)
  let timer = give(startLimit)
  createInterface(child.stdout).on('line', (line) => {
    if (!line.startsWith(word)) return
    clearTimeout(timer)
    timer = give(limit)
    if (line === `${word} done`) done += 1
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed = `${printed}${text}`.slice(-longestPrinted)
  })
  child.stdin.on('error', () => undefined).end(JSON.stringify({ word, folders } satisfies TrialInput))
  await once(child, 'close').finally(() => {
    clearTimeout(timer)
  })
  const trials = folders.slice(0, done).map((): Trial => ({}))
  const [last] = folders.slice(done - 1)
  const place = done === 0 || last === undefined ? undefined : placeIn(printed, last.folder)
  if (place !== undefined) return trials.with(-1, { place })
  if (done === folders.length) return trials
  return [...trials, { fault: hung ? `It did not finish loading within ${limit / 1000} seconds.` : 'Ends the process when it is loaded.' }]
}

const program = fileURLToPath(new URL('trial-child.ts', import.meta.url))
const coreFolder = fileURLToPath(new URL('../../', import.meta.url))

/** Characters of standard error that are kept. */
const longestPrinted = 100_000

/** Node's permission model: nothing but reading the core, the folders, and what they depend on. */
async function permissions (folders: readonly TrialFolder[]): Promise<string[]> {
  const own = folders.map(({ folder }) => folder)
  const linked = await Promise.all(own.map((folder) => linkedPackages(join(folder, 'node_modules'))))
  const readable = [coreFolder, ...own.map((folder) => `${folder}/`), ...linked.flat(), ...[coreFolder, ...own].flatMap(packagesAbove)]
  return ['--permission', '--disable-sigusr1', ...[...new Set(readable)].map((path) => `--allow-fs-read=${path}`)]
}

/** The folders `node_modules` in which Node looks for what a folder imports. */
function packagesAbove (folder: string): string[] {
  const parent = dirname(folder)
  return [join(folder, 'node_modules/'), ...parent === folder ? [] : packagesAbove(parent)]
}

/** Where installed packages really lie that are links. */
async function linkedPackages (packages: string): Promise<string[]> {
  const entries = await readdir(packages, { withFileTypes: true }).catch(() => [])
  const found = await Promise.all(entries.map(async (entry) => {
    const path = join(packages, entry.name)
    if (entry.isSymbolicLink()) return [`${await realpath(path)}/`]
    return entry.isDirectory() && entry.name.startsWith('@') ? await linkedPackages(path) : []
  }))
  return found.flat()
}

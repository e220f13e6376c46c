/**
 * Checks whether the tests notice small changes of the code. Each change is made in a copy of the checkout. The tests that reach its file
 * run, the likeliest to notice it first, until one fails. The script prints the changes that no test noticed, and the score. The exit code
 * is 1 below `--least` percent. StrykerJS is not used, because it switches its changes by a variable of one process, and our tests use
 * threads and child processes too.
 *
 * `npm run mutate -- core/packages/services --max 60 --seed 1`; `npm run mutate -- core/packages/services/phone.ts:41` tries the changes
 * of one line again.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync,
  writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openTestServer, shareServer } from '../test/support/postgres-server.ts'
import { type Mutation, mutationsOf } from './mutate/mutations.ts'
import { reachOf } from './mutate/reach.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** `survived`: no test failed. `untested`: no test reaches the file. */
type Verdict = 'killed' | 'survived' | 'untested'

const { values, positionals: [target] } = parseArgs({
  allowPositionals: true,
  options: {
    /** The most changes to try, taken evenly from all. */
    max: { type: 'string', default: '60' },
    /** Another seed takes other changes. */
    seed: { type: 'string', default: '1' },
    /** The most test files for each change. */
    tests: { type: 'string', default: '12' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    /** The least percentage of noticed changes. */
    least: { type: 'string', default: '0' }
  }
})

async function run (target: string): Promise<boolean> {
  const [path = target, line] = target.split(':')
  const files = statSync(join(root, path)).isFile() ? [path] : globSync(`${path}/**/*.ts`, { cwd: root, exclude: isLeftOut })
  const all = files.sort().flatMap((file) => mutationsOf(file, readFileSync(join(root, file), 'utf8')))
    .filter((change) => line === undefined || change.line === Number(line))
  const chosen = sample(all, Number(values.max), Number(values.seed))
  const reach = reachOf(root)
  const queue = [...chosen]
  const verdicts: Verdict[] = []
  const server = await openTestServer()
  const work = async (): Promise<void> => {
    const copy = copyOf(root)
    try {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const tests = reach(next.file, next.line).slice(0, Number(values.tests))
        const verdict = tests.length === 0 ? 'untested' : await judge(copy, next, tests, shareServer(server))
        verdicts.push(verdict)
        if (verdict !== 'killed') console.log(`${verdict}: ${described(next)}`)
      }
    } finally {
      rmSync(copy, { recursive: true, force: true })
    }
  }
  await Promise.all(Array.from({ length: Number(values.jobs) }, work))
  await server.close()
  const killed = verdicts.filter((verdict) => verdict === 'killed').length
  const percent = verdicts.length === 0 ? 0 : Math.round(100 * killed / verdicts.length)
  console.log(
    `${target}: ${killed} of ${verdicts.length} changes seen (${percent} %), out of ${all.length} possible ones, seed ${values.seed}`
  )
  return percent >= Number(values.least)
}

/** Tests themselves are not changed, nor are migrations, which have already run. */
function isLeftOut (path: string): boolean {
  return /(^|\/)(node_modules|test|migrations)(\/|$)/.test(path)
}

/** Changes taken evenly from the list, from a start that the seed gives. */
function sample (all: readonly Mutation[], max: number, seed: number): Mutation[] {
  if (all.length <= max) return [...all]
  const step = all.length / max
  const first = (seed * 0.618_034) % 1
  return Array.from({ length: max }, (_, index) => Math.floor((index + first) * step)).flatMap((index) => all[index] ?? [])
}

/** The files that git tracks or would add. Installed packages are shared. */
function copyOf (root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'dispatch-mutate-'))
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  for (const file of listed.split('\0').filter((name) => name !== '')) cpSync(join(root, file), join(copy, file), { recursive: true })
  linkModules(copy)
  return copy
}

/** Installed packages are shared. A workspace is linked by its path, and is the copy's own. */
function linkModules (copy: string): void {
  const [ours, theirs] = [join(root, 'node_modules'), join(copy, 'node_modules')]
  mkdirSync(join(theirs, '@dispatch'), { recursive: true })
  for (const name of readdirSync(ours)) if (name !== '@dispatch') symlinkSync(join(ours, name), join(theirs, name))
  for (const name of readdirSync(join(ours, '@dispatch'))) {
    symlinkSync(readlinkSync(join(ours, '@dispatch', name)), join(theirs, '@dispatch', name))
  }
  for (const folder of globSync('core/{,packages/*/}node_modules', { cwd: root })) symlinkSync(join(root, folder), join(copy, folder))
}

/** Whether each test file passes without a change: a file that fails anyway proves nothing. */
const sound = new Map<string, Promise<boolean>>()

async function judge (
  copy: string,
  { file, start, end, text }: Mutation,
  tests: readonly string[],
  env: NodeJS.ProcessEnv
): Promise<Verdict> {
  const source = readFileSync(join(root, file), 'utf8')
  writeFileSync(join(copy, file), source.slice(0, start) + text + source.slice(end))
  try {
    for (const test of tests) {
      if (await sound.get(test) === false || await passes(copy, test, env)) continue
      if (!sound.has(test)) sound.set(test, passes(root, test, env))
      if (await sound.get(test) === true) return 'killed'
      console.error(`${test} fails without any change`)
    }
    return 'survived'
  } finally {
    writeFileSync(join(copy, file), source)
  }
}

/** The time limit of a test file in milliseconds: a change may make it wait for ever. */
const testLimit = 120_000

/** Runs a test file until the first failure. */
async function passes (folder: string, test: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const child = spawn(process.execPath, [test], {
    cwd: folder,
    stdio: 'ignore',
    timeout: testLimit,
    killSignal: 'SIGKILL',
    env: { ...process.env, ...env, TAP_BAIL: '1', TAP_TIMEOUT: String(testLimit / 1000) }
  })
  await once(child, 'exit')
  return child.exitCode === 0
}

function described ({ file, line, kind, before, text }: Mutation): string {
  const short = (code: string): string => code.replaceAll(/\s+/g, ' ').slice(0, 80)
  return `${file}:${line} ${kind}: ${short(before)} → ${short(text) || 'nothing'}`
}

if (target === undefined) {
  console.error('npm run mutate -- <folder, file or file:line> [--max 60] [--seed 1] [--tests 12] [--jobs 2] [--least 90]')
  process.exit(2)
}
process.exitCode = await run(target) ? 0 : 1

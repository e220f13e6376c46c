/**
 * Runs the tests on one shared database server: the first tier; with `--long` the second one (test/long-tier.ts); with `--all` both; with
 * `--since <commit or branch>` those that the change since then reaches, or all if that cannot be told; or the files given as arguments. A
 * passing file is one line, a failing one shows what failed. The last line is `N passed, N failed`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { isLong, placeInLongTier } from '../test/long-tier.ts'
import { sharedDocument } from '../test/support/documented.ts'
import { openTestServer, shareServer, type TestServer } from '../test/support/postgres-server.ts'
import { assertNode } from './node-version.mjs'
import { changedSince } from './test/change.ts'
import { openFolderInMemory } from './test/folder-in-memory.ts'
import { groupsOf } from './test/groups.ts'
import { reachedIn } from './test/reached.ts'
import { type Report, report } from './test/report.ts'

const runFiles = fileURLToPath(new URL('test/run-files.ts', import.meta.url))

/**
 * Where Node keeps the modules that it has compiled: most processes load the whole service. It finds them also in a copy of this checkout,
 * with its packages.
 */
const compiled = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))

type Outcome = { exitCode: number, passed: number, failed: number, skipped: number }

/** Files wait for processes and for the database: seven of them keep two processors busy. */
const jobs = Math.ceil(availableParallelism() * 3.5)

/** What a test needs to know of the change: which adapters it reaches. */
const change = (): Record<string, string> => changed === undefined ? {} : { DISPATCH_TEST_CHANGED: changed.join('\n') }

async function runTap (files: readonly string[], server: TestServer): Promise<Outcome> {
  const tap = spawn(process.execPath, [runFiles, String(jobs), ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { NODE_COMPILE_CACHE: compiled, NODE_COMPILE_CACHE_PORTABLE: '1', ...process.env, ...shareServer(server), ...change() }
  })
  // Ctrl-C also reaches tap itself. This process continues until it has closed the server.
  process.on('SIGINT', () => undefined).on('SIGTERM', () => tap.kill())
  const closed = once(tap, 'close')
  const reported = await report(tap.stdout)
  await closed
  return outcomeOf(reported, tap.exitCode ?? 1)
}

/** tap does not count its own failures (a crashed file, no test at all). A run that does not end well counts as at least one failure. */
function outcomeOf ({ summary, failedFiles }: Report, exitCode: number): Outcome {
  const count = (kind: string) => Number(new RegExp(`\\b${kind}: (\\d+)`).exec(summary)?.[1] ?? 0)
  const passed = count('pass')
  const failed = Math.max(count('fail'), failedFiles, exitCode === 0 && passed > 0 ? 0 : 1)
  return { exitCode: exitCode === 0 && failed > 0 ? 1 : exitCode, passed, failed, skipped: count('skip') + count('todo') }
}

async function runOnServer (files: readonly string[]): Promise<Outcome> {
  const memory = process.env['TMPDIR'] === undefined ? openFolderInMemory() : undefined
  // Where the server and the tests have their temporary files.
  if (memory !== undefined) process.env['TMPDIR'] = memory.path
  try {
    const server = await openTestServer()
    try {
      return await runTap(files, server)
    } finally {
      rmSync(sharedDocument(server.run), { force: true })
      await server.close()
    }
  } finally {
    memory?.close()
  }
}

assertNode()
const given = process.argv.slice(2)
/** The files that a change has touched; undefined if that cannot be told, or is not asked for. */
const changed = given[0] === '--since' ? changedSince(given[1] ?? '', process.cwd()) : undefined
/** The feature among the fixtures is tested where it is added to a checkout. */
const all = (): string[] =>
  globSync('{test,core/packages/*/test,core/packages/features/*/test}/**/*.test.ts', { exclude: ['test/fixtures/features/**'] }).sort()
const longFiles = (files = all()): string[] => files.filter(isLong).sort((a, b) => placeInLongTier(a) - placeInLongTier(b))
const shortFiles = (files = all()): string[] => files.filter((file) => !isLong(file))

/** Those that the change reaches: undefined if that cannot be told. */
function reachedByChange (): string[] | undefined {
  const reached = changed === undefined ? undefined : reachedIn(process.cwd(), all())(changed)
  console.log(
    reached === undefined ?
      'all tests run: it cannot be told which ones the change reaches' :
      `the change reaches ${reached.length} test files`
  )
  return reached
}

function chosen ([first]: readonly string[]): string[] {
  if (first === undefined) return shortFiles()
  if (first === '--long') return longFiles()
  if (first !== '--all' && first !== '--since') return given
  const files = first === '--since' ? reachedByChange() : undefined
  return mixed({ long: longFiles(files), short: shortFiles(files) })
}

/**
 * Files of both tiers, so that from the first to the last those that wait run beside those that work: the processes of the short ones are
 * spread over the first nine tenths of those of the long ones.
 */
function mixed (files: { long: readonly string[], short: readonly string[] }): string[] {
  const [long, short] = [groupsOf(files.long), groupsOf(files.short)]
  const every = 0.9 * long.length / short.length
  return long.flatMap((group, nth) => [...group, ...short.filter((_, place) => Math.floor(place * every) === nth).flat()])
    .concat(long.length === 0 ? files.short : [])
}

const { exitCode, passed, failed, skipped } = await runOnServer(chosen(given))
  .catch((error: unknown) => {
    console.error(error)
    return outcomeOf({ summary: '', failedFiles: 0 }, 1)
  })
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = exitCode

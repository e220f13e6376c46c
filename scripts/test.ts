/**
 * Runs the tests on one shared database server: the first tier; with `--long` the second one (test/long-tier.ts); or the files given as
 * arguments. A passing file is one line, a failing one shows what failed. The last line is `N passed, N failed`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { isLong, placeInLongTier } from '../test/long-tier.ts'
import { openTestServer, shareServer, type TestServer } from '../test/support/postgres-server.ts'
import { assertNode } from './node-version.mjs'

const runFiles = fileURLToPath(new URL('test/run-files.ts', import.meta.url))

/** Where Node keeps the modules that it has compiled: each file is a process of its own, and most load the whole service. */
const compiled = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))

type Outcome = { exitCode: number, passed: number, failed: number, skipped: number }

/** Files of the second tier wait more than they work: four of them keep two processors busy. Those of the first wait for the database. */
const jobsOf = (files: readonly string[]): number => Math.ceil(availableParallelism() * (files.every(isLong) ? 2 : 1.5))

async function runTap (files: readonly string[], server: TestServer): Promise<Outcome> {
  const tap = spawn(process.execPath, [runFiles, String(jobsOf(files)), ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { NODE_COMPILE_CACHE: compiled, ...process.env, ...shareServer(server) }
  })
  // Ctrl-C also reaches tap itself. This process continues until it has closed the server.
  process.on('SIGINT', () => undefined).on('SIGTERM', () => tap.kill())
  const closed = once(tap, 'close')
  const reported = await report(tap.stdout)
  await closed
  return outcomeOf(reported, tap.exitCode ?? 1)
}

/** tap's final `# { total: …, pass: … }`, and the number of failed files. */
type Report = { summary: string, failedFiles: number }

/** What starts a test file, or a process of several. */
const start = /^(?: {4})?# Subtest: (\S+\.test\.ts|\d+ files)$/

/** The result of a test file: a subtest of the run, or of the process that it shares with others. */
const fileResult = /^(?: {4})?(not )?ok \d+ - (\S+\.test\.ts(?: .*)?)$/

/** Prints the TAP of a run file by file. A process that fails although its files passed counts as one more. */
async function report (output: Readable): Promise<Report> {
  let [summary, files, failedFiles, failedHere] = ['', 0, 0, 0]
  let lines: string[] = []
  let shown = false
  for await (const line of createInterface({ input: output })) {
    if (line.startsWith('# {')) summary = line
    // Below its result: how a failed file ended (its exit code, a timeout).
    if (shown && isTelling(line)) console.log(line)
    if (start.test(line)) [lines, shown] = [[], false]
    lines.push(line)
    const [, not, file] = fileResult.exec(line) ?? []
    const end = /^(not )?ok /.exec(line)
    if (file !== undefined && not === undefined) console.log(`ok ${String(++files)} - ${file}`)
    if (not !== undefined || (end?.[1] !== undefined && failedHere === 0)) {
      console.log(lines.filter(isTelling).join('\n'))
      shown = true
      failedHere++
    }
    if (end === null) continue
    failedFiles += failedHere
    failedHere = 0
  }
  return { summary, failedFiles }
}

/** The passed tests inside a failing file are left out. */
const isTelling = (line: string) => !/^\s*(ok |1\.\.\d+$|# |TAP version|$)/.test(line)

/** tap does not count its own failures (a crashed file, no test at all). A run that does not end well counts as at least one failure. */
function outcomeOf ({ summary, failedFiles }: Report, exitCode: number): Outcome {
  const count = (kind: string) => Number(new RegExp(`\\b${kind}: (\\d+)`).exec(summary)?.[1] ?? 0)
  const passed = count('pass')
  const failed = Math.max(count('fail'), failedFiles, exitCode === 0 && passed > 0 ? 0 : 1)
  return { exitCode: exitCode === 0 && failed > 0 ? 1 : exitCode, passed, failed, skipped: count('skip') + count('todo') }
}

async function runOnServer (files: readonly string[]): Promise<Outcome> {
  const server = await openTestServer()
  try {
    return await runTap(files, server)
  } finally {
    await server.close()
  }
}

assertNode()
const given = process.argv.slice(2)
/** The feature among the fixtures is tested where it is added to a checkout. */
const all = (): string[] =>
  globSync('{test,core/packages/*/test,core/packages/features/*/test}/**/*.test.ts', { exclude: ['test/fixtures/features/**'] }).sort()
const longFiles = (): string[] => all().filter(isLong).sort((a, b) => placeInLongTier(a) - placeInLongTier(b))
const { exitCode, passed, failed, skipped } = await runOnServer(
  given.length === 0 ? all().filter((file) => !isLong(file)) : given[0] === '--long' ? longFiles() : given
)
  .catch((error: unknown) => {
    console.error(error)
    return outcomeOf({ summary: '', failedFiles: 0 }, 1)
  })
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = exitCode

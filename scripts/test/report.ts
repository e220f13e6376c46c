import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** tap's final `# { total: …, pass: … }`, and the number of failed files. */
export type Report = { summary: string, failedFiles: number }

/** What starts a test file, or a process of several. */
const start = /^(?: {4})?# Subtest: (\S+\.test\.ts|\d+ files)$/

/** The result of a test file: a subtest of the run, or of the process that it shares with others. */
const fileResult = /^(?: {4})?(not )?ok \d+ - (\S+\.test\.ts(?: .*)?)$/

/** Prints the TAP of a run file by file. A process that fails although its files passed counts as one more. */
export async function report (output: Readable): Promise<Report> {
  let [summary, files, failedFiles, failedHere] = ['', 0, 0, 0]
  let lines: string[] = []
  let shown: ((line: string) => boolean) | undefined
  for await (const line of createInterface({ input: output })) {
    if (line.startsWith('# {')) summary = line
    // Below its result: how a failed file ended (its exit code, a timeout).
    if (shown?.(line) === true) console.log(line)
    if (start.test(line)) [lines, shown] = [[], undefined]
    lines.push(line)
    const [, not, file] = fileResult.exec(line) ?? []
    const end = /^(not )?ok /.exec(line)
    if (file !== undefined && not === undefined) console.log(`ok ${String(++files)} - ${file}`)
    if (not !== undefined || (end?.[1] !== undefined && failedHere === 0)) {
      for (const test of late(lines)) console.log(`a time limit fired while this ran: ${test}`)
      shown = createNotifier()
      console.log(lines.filter(shown).join('\n'))
      lines = []
      failedHere++
    }
    if (end === null) continue
    failedFiles += failedHere
    failedHere = 0
  }
  return { summary, failedFiles }
}

/** What tap says of each test that is started after a time limit has ended its parent. */
const consequence = /not ok \d+ - cannot create subtest after parent test ends/

/**
 * Tells of each line of a failing file, one after the other, whether it is worth to be shown. The passed tests are left out, and what only
 * follows from a time limit: it comes by the dozen, and hides the cause.
 */
function createNotifier (): (line: string) => boolean {
  let hiding: number | undefined
  return (line) => {
    if (/^\s*(ok |1\.\.\d+$|# |TAP version|$)/.test(line)) return false
    if (consequence.test(line)) hiding = indentOf(line)
    else if (hiding !== undefined && indentOf(line) <= hiding) hiding = undefined
    return hiding === undefined
  }
}

const indentOf = (line: string): number => line.length - line.trimStart().length

/**
 * The tests that ran when a time limit fired, by their names from the outermost on. Where the process was ended before it could tell, the
 * last one that had begun.
 */
function late (lines: readonly string[]): string[] {
  const reported = lines.flatMap((line, index) =>
    /^ +not ok \d+ - timeout!/.test(line) ? [[...around(lines, index)].reverse().join(' > ')] : []
  )
  const named = reported.filter((names) => names !== '')
  if (named.length > 0 || !lines.some((line) => /^\s*not ok \d+ - (test unfinished|timeout!)/.test(line))) return [...new Set(named)]
  const last = lines.findLast((line) => /^\s*# Subtest: /.test(line))
  return last === undefined ? [] : [last.trim().slice('# Subtest: '.length)]
}

/** The names of the failed tests that the line at `index` is in: each is told below what it has. */
function* around (lines: readonly string[], index: number): Generator<string> {
  let depth = indentOf(lines[index] ?? '')
  for (const line of lines.slice(index + 1)) {
    if (!/^\s*not ok \d+ - (?!timeout!)/.test(line) || consequence.test(line) || indentOf(line) >= depth) continue
    depth = indentOf(line)
    yield line.replace(/^\s*not ok \d+ - /, '').replace(/ # time=.*$/, '')
  }
}

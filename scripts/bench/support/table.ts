import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { smoke } from './effort.ts'

/** Read before the measurement, because files may change during a long run. */
const taken = takenOn(fileURLToPath(new URL('../../..', import.meta.url)), new Date())

/** Prints a table, and below it the commit, Node's version and the date. */
export function printTable (rows: Record<string, object> | readonly object[]): void {
  console.table(rows)
  console.log(taken + (smoke ? '; a short run: its figures mean nothing' : ''))
}

/** The commit of the working tree in the folder ("+ changes" if files differ from it), Node's version and the date. */
export function takenOn (folder: string, date: Date): string {
  return `commit ${commitOf(folder)}, Node ${process.versions.node}, ${date.toISOString().slice(0, 10)}`
}

/** The commit of the working tree in the folder, with "+ changes" where files differ from it. */
export function commitOf (folder: string): string {
  const commit = git(folder, 'rev-parse', '--short=10', 'HEAD')
  if (commit === undefined) return 'unknown'
  return git(folder, 'status', '--porcelain') === '' ? commit : `${commit} + changes`
}

/** The output of git; empty without git, or outside of a repository. */
function git (cwd: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

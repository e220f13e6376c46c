/**
 * Runs test files in processes and prints what they say as one TAP. Arguments: how many processes at a time, then the files. It is not
 * `tap run`, which has each process and its children load what nothing here uses: coverage, mocks and source maps.
 */
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { groupsOf } from './groups.ts'
import { secondsFor } from './time-limit.ts'

const runGroup = fileURLToPath(new URL('run-group.ts', import.meta.url))
const withoutHooks = `--import=${import.meta.resolve('./without-hooks.ts')}`

const [jobs, ...files] = process.argv.slice(2)
const groups = groupsOf(files)
// What runs is ended with this process.
process.once('SIGTERM', () => process.exit(1))
t.jobs = Math.min(Number(jobs), Math.max(groups.length, 1))
t.setTimeout(0)
t.plan(groups.length)
for (const group of groups) {
  const [first = '', ...others] = group
  const limit = group.reduce((sum, file) => sum + secondsFor(file), 0)
  // tap adds to this variable for every process that it starts.
  const args = [`NODE_OPTIONS=${process.env['NODE_OPTIONS'] ?? ''}`, process.execPath, withoutHooks, others.length === 0 ? first : runGroup]
  const env = { ...process.env, TAP_TIMEOUT: String(limit), NO_COLOR: '1', FORCE_COLOR: '0', DISPATCH_TEST_FILES: group.join('\n') }
  const options = { buffered: t.jobs > 1, timeout: limit * 1000, stdio: 'inherit' as const, env, at: null, stack: '' }
  void t.spawn('/usr/bin/env', args, options, others.length === 0 ? first : `${String(group.length)} files`)
}

/**
 * Runs test files, each as a process of its own, and prints what they say as one TAP. Arguments: how many at a time, then the files. It is
 * not `tap run`, which has each process and its children load what nothing here uses: coverage, mocks and source maps.
 */
import t from 'tap'
import { isLong } from '../../test/long-tier.ts'

/** The time limit in seconds for a file, unless it says otherwise. A busy machine needs twice the time. */
const limitOf = (file: string): number => isLong(file) ? 300 : 120

const [jobs, ...files] = process.argv.slice(2)
// What runs is ended with this process.
process.once('SIGTERM', () => process.exit(1))
t.jobs = Math.min(Number(jobs), Math.max(files.length, 1))
t.setTimeout(0)
t.plan(files.length)
for (const file of files) {
  const limit = limitOf(file)
  // tap adds to this variable for every process that it starts.
  const args = [`NODE_OPTIONS=${process.env['NODE_OPTIONS'] ?? ''}`, process.execPath, file]
  const env = { ...process.env, TAP_TIMEOUT: String(limit), NO_COLOR: '1', FORCE_COLOR: '0' }
  void t.spawn('/usr/bin/env', args, { buffered: t.jobs > 1, timeout: limit * 1000, stdio: 'inherit', env, at: null, stack: '' }, file)
}

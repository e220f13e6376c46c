import { openDatabase } from '@dispatch/core'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { openAdapters } from '../../core/marketplace/open-adapters.ts'
import { editAdapter, listAdapters } from '../../core/store/vendor/adapters.ts'
import { memoryLog } from '../fixtures/providers/call.ts'
import { directory } from '../fixtures/providers/folders.ts'
import { packed } from '../support/adapters.ts'
import { testDatabase } from '../support/postgres.ts'
import { dataDirectory, root, runDispatch } from './support/process.ts'

const { url: DATABASE_URL } = await testDatabase(t)
const DISPATCH_DATA_DIR = dataDirectory(t)
const env = { DATABASE_URL, DISPATCH_DATA_DIR }
const folder = join(DISPATCH_DATA_DIR, 'adapters')
const database = openDatabase({ connectionString: DATABASE_URL }, { connections: 2, onError: (error) => t.fail(error.message) })
t.teardown(database.close)

const remove = (): Promise<void> =>
  editAdapter(database, { code: 'killed', companyId: 1 }, () => ({ action: 'adapter.removed', facts: {}, after: null }), {
    author: null,
    at: new Date()
  })

/** The command lines of the processes of this machine that name a path. */
async function processesOf (path: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(path)).map((line) => line.replaceAll('\0', ' '))
}

await t.test('a package whose taking-in is killed at any moment is there as a whole, or not at all', async (t) => {
  const path = join(await directory(t), 'killed-1.0.0.tgz')
  await writeFile(path, packed({ code: 'killed', version: '1.0.0' }))
  const begun = performance.now()
  t.equal((await runDispatch(['marketplace', 'add', path], { env })).code, 0)
  const whole = performance.now() - begun
  await remove()

  const kills = 10
  const seen = new Set<string>()
  for (let kill = 1; kill <= kills; kill++) {
    const child = spawn(process.execPath, ['scripts/dispatch.ts', 'marketplace', 'add', path], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...env },
      stdio: 'ignore'
    })
    const ended = once(child, 'exit')
    // More of them fall into the second half, when the package is staged, tried and written.
    await pause(whole * (0.3 + 0.7 * kill / kills))
    seen.add((await readdir(folder).catch(() => [])).some((name) => name.startsWith('.staging')) ? 'staged' : 'not staged')
    child.kill('SIGKILL')
    await ended

    await openAdapters({ folder, database, log: memoryLog(), sandbox: () => Promise.reject(new Error('Nothing runs.')) })
    t.same(await readdir(folder).catch(() => []), [], 'no file')
    const [record] = await listAdapters(database, 'killed')
    t.equal(record?.packages.length ?? 1, 1)
    t.equal(record?.adapter, undefined)
    if (record !== undefined) await remove()
  }
  t.same([...seen].sort(), ['not staged', 'staged'], 'some were killed in the middle')
  const late = performance.now() + 5_000
  while ((await processesOf(DISPATCH_DATA_DIR)).length > 0 && performance.now() < late) await pause(100)
  t.same(await processesOf(DISPATCH_DATA_DIR), [], 'no process')
})

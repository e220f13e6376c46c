import { openDatabase } from '@dispatch/database'
import { buildCatalog, catalogFile, makeKeys, signCatalog } from '@dispatch/marketplace'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createAdapters } from '../../core/packages/features/marketplace/service/adapters.ts'
import { editAdapter } from '../../core/packages/features/marketplace/store/adapter-changes.ts'
import { listAdapters } from '../../core/packages/features/marketplace/store/adapters.ts'
import { memoryLog } from '../fixtures/providers/call.ts'
import { directory } from '../fixtures/providers/folders.ts'
import { packed } from '../support/adapters.ts'
import { seededDatabase } from '../support/service.ts'
import { dataDirectory } from './support/process.ts'

const databaseUrl = await seededDatabase(t)
const database = openDatabase({ connectionString: databaseUrl }, { connections: 2, onError: (error) => t.fail(error.message) })
t.teardown(database.close)
const data = dataDirectory(t)
const folder = join(data, 'adapters')
const root = await directory(t)
const catalog = join(root, 'catalog')
const keyFile = join(root, 'key.json')
const stamp = () => ({ author: null, at: new Date() })

const { privateKey, publicKey } = await makeKeys()
await mkdir(catalog)
await mkdir(folder, { recursive: true })
const bytes = packed({ code: 'killed', version: '1.0.0', conforms: 1 })
await writeFile(join(catalog, 'killed-1.0.0.tgz'), bytes)
const payload = await buildCatalog([{ place: 'killed-1.0.0.tgz', bytes }], { now: new Date(), days: 90 })
await writeFile(join(catalog, catalogFile), await signCatalog(payload, privateKey))
await writeFile(keyFile, JSON.stringify(publicKey))

/** Installs in a process of its own, which is killed before the step of this number; 0: never. Answers what its steps were. */
async function install (killAt: number): Promise<{ steps: string[], signal: NodeJS.Signals | null }> {
  const program = fileURLToPath(new URL('support/installing.ts', import.meta.url))
  const child = spawn(process.execPath, [program, databaseUrl, data, catalog, keyFile, String(killAt)], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const [printed, [, signal]] = await Promise.all([text(child.stdout),
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>])
  return { steps: printed === '' ? [] : JSON.parse(printed), signal }
}

/** A start of the service: it sweeps, and loads what the database wants. */
async function start (): Promise<string[]> {
  const sandbox = () => Promise.reject(new Error('Nothing runs.'))
  const { load, sweep } = createAdapters({ folder, database, log: memoryLog(), sandbox })
  await sweep()
  const swept = await readdir(folder).catch(() => [])
  await load()
  return swept
}

async function remove (t: Test): Promise<void> {
  await editAdapter(database, { code: 'killed', companyId: 1 }, () => ({ action: 'adapter.removed', facts: {}, after: null }), stamp())
  await database.pool.query('delete from catalogs')
  t.same(await start(), [], 'what was removed has no files')
}

/** The command lines of the processes of this machine that name the data directory. */
async function processes (): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(data)).map((line) => line.replaceAll('\0', ' '))
}

const steps: string[] = []
await t.test('an installation writes to the disk, to the database, and runs the adapter once', async (t) => {
  steps.push(...(await install(0)).steps)
  await remove(t)
  for (const step of ['mkdir', 'open', 'spawn', 'begin', 'insert into adapter_packages', 'insert into adapters', 'commit', 'rename']) {
    t.ok(steps.includes(step), step)
  }
})

/** Writing files takes many steps, of which the first and the last one stand for all. */
const kindOf = (step: string | undefined): string | undefined => step === 'mkdir' ? 'open' : step
const numbers = steps.flatMap((step, index) =>
  [steps[index - 1], steps[index + 1]].some((next) => kindOf(next) !== kindOf(step)) ? [index + 1] : []
)
for (const number of numbers) {
  await t.test(`killed before step ${number}, ${steps[number - 1] ?? ''}, it is done as a whole, or not at all`, async (t) => {
    t.equal((await install(number)).signal, 'SIGKILL')
    const late = performance.now() + 60_000
    while ((await processes()).length > 0 && performance.now() < late) await pause(50)
    t.same(await processes(), [], 'no process')

    const [record] = await listAdapters(database, 'killed')
    const isDone = record !== undefined
    t.same([record?.packages.length ?? 0, record?.adapter?.enabled ?? false], isDone ? [1, true] : [0, false])
    const integrity = record?.packages[0]?.integrity.slice('sha512-'.length) ?? ''
    const own = isDone ? [Buffer.from(integrity, 'base64').toString('hex')] : []
    t.ok(['', ...own].includes((await start()).join(' ')), 'no file but those of what is installed')
    t.same((await readdir(data)).filter((name) => !['adapters', 'adapters.lock.json', 'sandbox'].includes(name)), [])
    if (isDone) t.same(await readdir(folder), own, 'what is installed is there after the start')
    await remove(t)
  })
}

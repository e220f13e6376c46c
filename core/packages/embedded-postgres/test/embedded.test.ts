import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync,
  writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { contains, has, lacks } from '../../../../test/support/matching.ts'
import { locateBinaries } from '../binaries.ts'
import { findEmbedded, startEmbedded, StartError } from '../embedded.ts'
import { chooseOsAccount } from '../os-account.ts'
import { isPostmaster, readPostmaster, stopServer } from '../postmaster.ts'
import { giveTo } from '../vanishing.ts'

const isRoot = process.getuid?.() === 0
const nobody = { uid: 65534, gid: 65534 }
const holder = fileURLToPath(new URL('fixtures/embedded-holder.ts', import.meta.url))
const Report = Type.Object({
  url: Type.Optional(Type.String()),
  pid: Type.Optional(Type.Number()),
  adopted: Type.Optional(Type.Boolean()),
  refused: Type.Optional(Type.String())
})

/** What another start does in the folder: initdb makes many files, and removes some. */
const comingAndGoing = `
  const { mkdirSync, rmSync, writeFileSync } = require('node:fs')
  const folder = process.argv[1] + '/initdb-1-abcdef'
  for (let round = 0; ; round++) {
    for (let index = 0; index < 20; index++) {
      mkdirSync(folder + '/base/' + index, { recursive: true })
      writeFileSync(folder + '/base/' + index + '/PG_VERSION', '18')
    }
    if (round % 10 === 0) process.stdout.write('.')
    rmSync(folder, { recursive: true })
  }`

/** A database folder that other accounts may reach. At the end of the test, a server that still runs on it is stopped. */
function folder (t: Test, parent = mkdtempSync(join(tmpdir(), 'dispatch-embedded-'))): string {
  chmodSync(parent, 0o711)
  const dir = join(parent, 'postgres')
  t.teardown(async () => {
    const left = readPostmaster(join(dir, 'data'))
    if (left !== undefined) await stopServer(left.pid, join(dir, 'data'))
    rmSync(parent, { recursive: true, force: true })
  })
  return dir
}

async function query (url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

/** Another process that starts the database in `dir`, and what it reports. */
async function service (dir: string, ...mode: string[]): Promise<{ process: ChildProcess, report: Type.Static<typeof Report> }> {
  const child = spawn(process.execPath, [holder, dir, ...mode], { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  for await (const line of createInterface({ input: child.stdout })) {
    return { process: child, report: Value.Parse(Report, JSON.parse(line)) }
  }
  throw new Error('the service ended without a word')
}

async function kill (child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exit = once(child, 'exit')
  process.kill(-Number(child.pid), signal)
  await exit
}

/** The lock alone does not keep a process alive. */
async function keepingAlive (promise: Promise<unknown>): Promise<void> {
  const timer = setInterval(() => undefined, 1_000)
  await promise
  clearInterval(timer)
}

const refusal = (message: RegExp) => ({ constructor: StartError, message })

void t.test('a second start finds the data of the first, on a durable, checksummed UTF-8 server off the network', async t => {
  const dir = folder(t)
  const lines: string[] = []
  const first = await startEmbedded({ dir, log: line => lines.push(line) })
  t.same(lines, [`Creating the database in ${dir}`])
  const settings = await query(first.url,
    'select name, setting from pg_settings where name in (\'data_checksums\', \'fsync\', \'full_page_writes\', \'listen_addresses\', ' +
      '\'server_encoding\', \'synchronous_commit\') order by name')
  t.same(settings.map(row => Object.values(row)), [
    ['data_checksums', 'on'],
    ['fsync', 'on'],
    ['full_page_writes', 'on'],
    ['listen_addresses', ''],
    ['server_encoding', 'UTF8'],
    ['synchronous_commit', 'on']
  ])
  t.same(await query(first.url, 'select datlocprovider, datlocale from pg_database where datname = \'postgres\''), [{
    datlocprovider: 'b',
    datlocale: 'C.UTF-8'
  }])
  await query(first.url, 'create table kept as select 42 as answer')
  await first.stop()
  t.notOk(isPostmaster(first.pid, join(dir, 'data')), 'no process is left')

  const second = await startEmbedded({ dir, log: line => lines.push(line) })
  has(t, second, { adopted: false })
  t.equal(lines.length, 1, 'nothing is created twice')
  t.same(await query(second.url, 'select answer from kept'), [{ answer: 42 }])
  await second.stop()
})

/** The error of a connection without the password. */
const withoutPassword = (url: string): Promise<unknown> =>
  query(url.replace(/:[0-9a-f]+@/, '@'), 'select 1').catch((error: unknown) => error)
const refusedWithout = { message: /password/ }

void t.test('only who knows the password comes in, and the service alone can read it', async t => {
  const dir = folder(t)
  const embedded = await startEmbedded({ dir })
  const file = statSync(join(dir, 'password'))
  t.same([file.mode & 0o777, file.uid], [0o600, process.getuid?.()])
  contains(t, embedded.url, /^postgres:\/\/dispatch:[0-9a-f]{64}@/)
  has(t, await withoutPassword(embedded.url), refusedWithout)
  has(t, await query(embedded.url.replace(/:[0-9a-f]+@/, ':0@'), 'select 1').catch((error: unknown) => error), refusedWithout)
  t.same(await query(embedded.url, 'select rolpassword like \'SCRAM-SHA-256$%\' as sealed from pg_authid where rolname = \'dispatch\''), [{
    sealed: true
  }])
  t.equal(await findEmbedded(dir), embedded.url, 'a command beside the service')
  await embedded.stop()
  const again = await startEmbedded({ dir })
  t.equal(again.url, embedded.url)
  await again.stop()
})

void t.test('a database of before there were passwords gets one, whether its server runs or not, and so does one ' +
  'whose password is lost', async t => {
  const trusting = 'local all all trust\n'
  for (const [isRunning, access] of [[false, trusting], [true, trusting], [true, undefined]] as const) {
    const dir = folder(t)
    const before = await startEmbedded({ dir })
    await query(before.url, 'create table kept as select 42 as answer')
    if (access !== undefined) await query(before.url, 'alter role dispatch password null')
    await before.stop()
    if (access !== undefined) writeFileSync(join(dir, 'data/pg_hba.conf'), access)
    rmSync(join(dir, 'password'))
    const left = isRunning ? await leftRunning(dir, access) : undefined
    const after = await startEmbedded({ dir })
    t.equal(after.adopted, left !== undefined)
    t.same(await query(after.url, 'select answer from kept'), [{ answer: 42 }])
    has(t, await withoutPassword(after.url), refusedWithout)
    t.not(after.url, before.url, 'it is another one')
    await after.stop()
  }
})

/** A server that an earlier, killed service left on the folder. */
async function leftRunning (dir: string, access: string | undefined): Promise<number> {
  const { process: owner, report } = await service(dir)
  if (access !== undefined) {
    writeFileSync(join(dir, 'data/pg_hba.conf'), access)
    await query(report.url ?? '', 'select pg_reload_conf()')
  }
  rmSync(join(dir, 'password'))
  await kill(owner, 'SIGKILL')
  return Number(report.pid)
}

void t.test('stop ends the connections of others, resolves the hold, and may be called again', async t => {
  const embedded = await startEmbedded({ dir: folder(t) })
  const client = new pg.Client({ connectionString: embedded.url })
  const cut = new Promise(resolve =>
    client.on('error', () => undefined).once('end', () => {
      resolve(undefined)
    })
  )
  await client.connect()
  await client.query('begin')
  await Promise.all([embedded.stop(), embedded.stop()])
  await embedded.stop()
  await keepingAlive(Promise.all([cut, embedded.lost]))
  t.pass('all ended')
})

void t.test('a server that a killed service left is adopted, not doubled', async t => {
  const dir = folder(t)
  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    const { process: owner, report } = await service(dir)
    await kill(owner, signal)
    const embedded = await startEmbedded({ dir })
    has(t, embedded, { adopted: true, pid: report.pid, url: report.url }, `after ${signal} to the whole process group`)
    await embedded.stop()
    t.notOk(isPostmaster(embedded.pid, join(dir, 'data')), 'and stopped like an own one')
  }
})

void t.test('a running server does not keep the process alive', async t => {
  const dir = folder(t)
  const { process: owner, report } = await service(dir, 'leave')
  if (owner.exitCode === null) await once(owner, 'exit')
  t.equal(owner.exitCode, 0)
  t.ok(isPostmaster(Number(report.pid), join(dir, 'data')))
})

void t.test('a killed server recovers what was committed', async t => {
  const dir = folder(t)
  const first = await startEmbedded({ dir })
  await query(first.url, 'create table kept as select 42 as answer')
  process.kill(first.pid, 'SIGKILL')
  await keepingAlive(first.lost)
  const second = await startEmbedded({ dir })
  t.equal(second.adopted, false)
  t.same(await query(second.url, 'select answer from kept'), [{ answer: 42 }])
  await second.stop()
})

void t.test('of services that start at once on an empty folder, one gets the database and the others are refused', async t => {
  const dir = folder(t)
  const services = await Promise.all([service(dir), service(dir), service(dir)])
  const refused = services.filter(({ report }) => report.refused !== undefined)
  t.equal(refused.length, 2)
  for (const { report } of refused) contains(t, report.refused, /^Another instance of the service runs on .*: stop it first/)
  t.same(readdirSync(dir).filter(name => name.startsWith('initdb-')), [], 'nothing half-made is left')
  const owner = services.find(({ report }) => report.url !== undefined)
  t.same(await query(owner?.report.url ?? '', 'select 1 as one'), [{ one: 1 }], 'the server goes on for its owner')
  const exit = owner === undefined ? undefined : once(owner.process, 'exit')
  owner?.process.stdin?.end()
  t.same(await exit, [0, null])
  t.equal(readPostmaster(join(dir, 'data')), undefined)
})

void t.test('an initdb that was killed half-way is cleared away', async t => {
  const dir = folder(t)
  const { pid } = spawnSync('true')
  mkdirSync(join(dir, `initdb-${pid}-abcdef`, 'base'), { recursive: true })
  mkdirSync(join(dir, `initdb-${process.pid}-abcdef`))
  const embedded = await startEmbedded({ dir })
  t.same(readdirSync(dir).filter(name => name.startsWith('initdb-')), [`initdb-${process.pid}-abcdef`],
    'but not that of a process that lives')
  await embedded.stop()
})

void t.test('a pid file of before a reboot, whose number another program has now, is no obstacle', async t => {
  const dir = folder(t)
  const first = await startEmbedded({ dir })
  const [, ...rest] = readFileSync(join(dir, 'data/postmaster.pid'), 'utf8').split('\n')
  await first.stop()
  // It runs under the server's account, because PostgreSQL accepts no other process as a rival.
  const other = spawn('sleep', ['600'], isRoot ? nobody : {})
  t.teardown(() => other.kill())
  writeFileSync(join(dir, 'data/postmaster.pid'), [other.pid, ...rest].join('\n'))
  const second = await startEmbedded({ dir })
  t.equal(second.adopted, false)
  t.equal(other.exitCode, null, 'and is left alone')
  await second.stop()
})

void t.test('a copied folder gets a server of its own, though the pid file names that of the original', async t => {
  const [original, copy] = [folder(t), folder(t)]
  await (await startEmbedded({ dir: original })).stop()
  cpSync(original, copy, { recursive: true })
  const first = await startEmbedded({ dir: original })
  cpSync(join(original, 'data/postmaster.pid'), join(copy, 'data/postmaster.pid'))
  const second = await startEmbedded({ dir: copy })
  t.equal(second.adopted, false)
  t.not(second.pid, first.pid)
  await Promise.all([first.stop(), second.stop()])
})

void t.test('a data directory may lie deeper than a socket path is long', async t => {
  const dir = join(folder(t), 'x'.repeat(120))
  const embedded = await startEmbedded({ dir })
  lacks(t, embedded.socketDir, dir)
  t.equal(statSync(embedded.socketDir).mode & 0o777, 0o700, 'the folder of the socket is private')
  t.same(await query(embedded.url, 'select 1 as one'), [{ one: 1 }])
  await embedded.stop()
  chmodSync(embedded.socketDir, 0o777)
  t.teardown(() => rmSync(embedded.socketDir, { recursive: true }))
  await t.rejects(startEmbedded({ dir }), refusal(/is open to others: remove it$/))
})

void t.test('what makes a start impossible is one sentence', async t => {
  const dir = folder(t)
  mkdirSync(dir)
  writeFileSync(join(dir, 'file'), '')
  await t.rejects(startEmbedded({ dir: join(dir, 'file/postgres') }),
    refusal(/^The data directory .*file\/postgres cannot be written \(ENOTDIR\): choose another with DISPATCH_DATA_DIR/))
  await t.rejects(startEmbedded({ dir, settings: { shared_buffers: 'plenty' } }),
    refusal(/^PostgreSQL did not start in .*: invalid value for parameter "shared_buffers": "plenty"$/))
  writeFileSync(join(dir, 'data/PG_VERSION'), '17\n')
  await t.rejects(startEmbedded({ dir }), refusal(/made by PostgreSQL 17 and this service brings 18: move the data with pg_dump/))
})

void t.test('as root', { skip: isRoot ? false : 'needs root' }, async t => {
  await t.test('PostgreSQL runs as nobody, and owns what it writes', async t => {
    const dir = folder(t)
    const embedded = await startEmbedded({ dir })
    t.equal(statSync(join(dir, 'data')).uid, nobody.uid)
    t.equal(statSync(`/proc/${embedded.pid}`).uid, nobody.uid)
    await embedded.stop()
  })

  await t.test('a folder is given away with all that is in it but the password, while files come and go in it', async t => {
    const dir = folder(t)
    mkdirSync(join(dir, 'data/base'), { recursive: true })
    for (const name of ['data/base/1', 'password', 'password.123']) writeFileSync(join(dir, name), '')
    const rival = spawn(process.execPath, ['--eval', comingAndGoing, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.teardown(() => rival.kill('SIGKILL'))
    let rounds = 0
    for await (const signs of rival.stdout) {
      for (let time = 0; time < 5; time++) giveTo(nobody, dir, name => name.startsWith('password'))
      rounds += String(signs).length
      if (rounds >= 10) break
    }
    const owners = ['data/base/1', 'password', 'password.123'].map(name => statSync(join(dir, name)).uid)
    t.same(owners, [nobody.uid, 0, 0])
    t.doesNotThrow(() => {
      giveTo({ uid: 0, gid: 0 }, '/proc/self/fd')
    }, 'the folder names the file that is open while it is read')
  })

  await t.test('a data directory in a closed home works, and goes on working once the home is opened', async t => {
    const dir = folder(t)
    chmodSync(dirname(dir), 0o700)
    const closed = await startEmbedded({ dir })
    await query(closed.url, 'create table kept as select 42 as answer')
    await closed.stop()
    chmodSync(dirname(dir), 0o711)
    const opened = await startEmbedded({ dir })
    t.same(await query(opened.url, 'select answer from kept'), [{ answer: 42 }])
    t.equal(statSync(join(dir, 'data/base')).uid, nobody.uid, 'the files follow the account')
    await opened.stop()
  })

  await t.test('without user namespaces, binaries that nobody cannot reach are copied beside the data', t => {
    const [closed, dir] = [folder(t), folder(t)]
    mkdirSync(dir)
    const binaries = locateBinaries()
    cpSync(binaries.home, join(closed, 'native'), { recursive: true, verbatimSymlinks: true })
    chmodSync(dirname(closed), 0o700)
    withoutUnshare(t)
    const account = chooseOsAccount({ ...binaries, home: join(closed, 'native') }, [dir])
    has(t, account, { binaries: { home: join(dir, `postgres-${binaries.version}`) }, prefix: [], ids: nobody })
    t.equal(spawnSync(join(account.binaries.home, 'bin/postgres'), ['--version'], nobody).status, 0)
    t.same(chooseOsAccount({ ...binaries, home: join(closed, 'native') }, [dir]), account, 'once')
    t.end()
  })

  await t.test('without user namespaces, a data directory that nobody can reach is refused', async t => {
    const dir = folder(t)
    chmodSync(dirname(dir), 0o700)
    withoutUnshare(t)
    await t.rejects(startEmbedded({ dir }), refusal(/user 65534 cannot reach .*: choose a data directory/))
    t.notOk(existsSync(join(dir, 'data')))
    t.equal(statSync(dir).uid, 0, 'to see who can reach it takes it from nobody who uses it')
  })

  await t.test('another user starts it too', { skip: mayNobodyRunThis() ? false : 'needs a checkout that others can read' }, t => {
    const dir = folder(t)
    mkdirSync(dir)
    chownSync(dir, nobody.uid, nobody.gid)
    const { stdout } = spawnSync(process.execPath, [holder, dir], { ...nobody, input: '', encoding: 'utf8' })
    has(t, Value.Parse(Report, JSON.parse(stdout)), { adopted: false })
    t.equal(readPostmaster(join(dir, 'data')), undefined)
    t.end()
  })

  await t.test('another user hears which directory cannot be written', {
    skip: mayNobodyRunThis() ? false : 'needs a checkout that others can read'
  }, t => {
    const dir = folder(t)
    mkdirSync(dir, { mode: 0o755 })
    const { stdout } = spawnSync(process.execPath, [holder, dir], { ...nobody, input: '', encoding: 'utf8' })
    contains(t, Value.Parse(Report, JSON.parse(stdout)).refused, /^The data directory .* cannot be written \(EACCES\)/)
    t.end()
  })
})

function withoutUnshare (t: Test): void {
  const { PATH } = process.env
  process.env['PATH'] = ''
  t.teardown(() => {
    process.env['PATH'] = PATH
  })
}

function mayNobodyRunThis (): boolean {
  return spawnSync(process.execPath, ['--check', holder], nobody).status === 0
}

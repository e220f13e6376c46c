import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import t, { type Test } from 'tap'
import { openFolderInMemory } from '../../scripts/test/folder-in-memory.ts'
import { has } from '../support/matching.ts'
import { openTestServer } from '../support/postgres-server.ts'

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const support = JSON.stringify(path('test/support/postgres.ts'))

/** Runs the runner on files of a project of their own, on a server of their own. */
async function run (t: Test, sources: Record<string, string | Record<string, string>>, ...args: string[]) {
  const cwd = t.testdir({
    'package.json': '{ "type": "module" }',
    '.taprc': t.fixture('symlink', path('.taprc')),
    node_modules: t.fixture('symlink', path('node_modules')),
    test: sources
  })
  const server = await openTestServer()
  t.teardown(() => server.close())
  const { PATH, HOME } = process.env
  const env = { PATH: `${path('node_modules/.bin')}:${PATH ?? ''}`, HOME, DISPATCH_TEST_DATABASE_URL: server.url }
  const { pid, status, stdout } = spawnSync(process.execPath, [path('scripts/test.ts'), ...args], { cwd, env, encoding: 'utf8' })
  return { pid, status, lines: stdout.trimEnd().split('\n'), server }
}

const passing = 'import t from \'tap\'\nt.pass(\'one\')\nt.pass(\'two\')'

void t.test('files that pass are one line each, and the last line counts', async t => {
  const { status, lines } = await run(t, {
    'a.test.ts': passing,
    'b.test.ts': `${passing}\nt.test('later', { skip: 'why' })`,
    'c.ts': 'throw new Error()'
  })
  t.equal(status, 0)
  has(t, lines, [/^ok 1 - test\/[ab]\.test\.ts/, /^ok 2 - test\/[ab]\.test\.ts/, /^4 passed, 0 failed, 1 skipped$/])
})

void t.test('a failure is shown with its reason, not with what passed beside it', async t => {
  const { status, lines } = await run(t, { 'a.test.ts': `${passing}\nt.equal(1, 2, 'sums')` })
  t.equal(status, 1)
  t.equal(lines.at(-1), '2 passed, 1 failed')
  t.ok(lines.some(line => line.includes('not ok 3 - sums')))
  t.ok(lines.some(line => line.includes('-2')))
  t.notOk(lines.some(line => line.includes('ok 1 - one')))
})

void t.test('files share a process, and each has teardowns of its own', async t => {
  const source = (after: string) =>
    `${passing}
    t.equal(globalThis.ended, ${after})
    t.teardown(() => { globalThis.ended = (globalThis.ended ?? 0) + 1 })
    t.test('later', t => { setTimeout(() => t.end(), 20) })`
  const { status, lines } = await run(t, { 'a.test.ts': source('undefined'), 'b.test.ts': source('1') })
  t.equal(status, 0, lines.join('\n'))
  t.equal(lines.at(-1), '8 passed, 0 failed')
})

void t.test('one failing file among several is shown alone, and the others run', async t => {
  const { status, lines } = await run(t, {
    'a.test.ts': passing,
    'b.test.ts': `${passing}\nt.equal(1, 2, 'sums')`,
    'c.test.ts': passing
  })
  t.equal(status, 1)
  t.equal(lines.at(-1), '6 passed, 1 failed')
  t.same(lines.filter((line) => line.startsWith('ok ')).map((line) => line.replace(/ #.*/, '')), [
    'ok 1 - test/a.test.ts',
    'ok 2 - test/c.test.ts'
  ])
  t.equal(lines.filter((line) => line.includes('not ok') && line.includes('sums')).length, 1)
})

void t.test('an error that nobody could catch fails the test in which it was thrown, and no other', async t => {
  const stray = (name: string, stray: string) =>
    `void t.test('${name}', { buffered: true }, async (t) => { t.pass(); ${stray}; await new Promise((end) => setTimeout(end, 100)) })`
  const { status, lines } = await run(t, {
    'a.test.ts': [
      passing,
      't.jobs = 3',
      stray('in a timer', 'setTimeout(() => { throw new Error("from a timer") }, 20)'),
      stray('in a promise', 'void Promise.reject(new Error("from a promise"))'),
      stray('beside them', '')
    ].join('\n')
  })
  t.not(status, 0)
  t.equal(lines.at(-1), '5 passed, 2 failed')
  const failed = lines.flatMap((line) => /^ {4}not ok \d+ - ([^#]*[^# ])/.exec(line)?.[1] ?? [])
  t.same(failed, ['in a timer', 'in a promise'])
  for (const told of ['not ok 2 - from a timer', 'not ok 2 - from a promise']) t.ok(lines.some((line) => line.endsWith(told)), told)
})

const memory = openFolderInMemory()
memory?.close()

const whereRoom = { skip: memory === undefined ? 'no room in memory' : false }

void t.test('temporary files are in memory and go with the run, as do those of a run that was killed', whereRoom, async (t) => {
  const [abandoned, fresh] = ['/dev/shm/dispatch-tests-999999999-killed', '/dev/shm/dispatch-tests-999999999-begun']
  for (const folder of [abandoned, fresh]) mkdirSync(folder, { recursive: true })
  t.teardown(() => rmSync(fresh, { recursive: true }))
  const longAgo = Date.now() / 1000 - 3 * 3600
  utimesSync(abandoned, longAgo, longAgo)
  const source = `${passing}
    import { mkdtempSync } from 'node:fs'
    import { tmpdir } from 'node:os'
    t.ok(mkdtempSync(tmpdir() + '/a-').startsWith('/dev/shm/dispatch-tests-'))`
  const { pid, status, lines } = await run(t, { 'a.test.ts': source })
  t.equal(status, 0, lines.join('\n'))
  t.notOk(existsSync(abandoned))
  t.ok(existsSync(fresh), 'it may be of a run in another container')
  t.same(readdirSync('/dev/shm').filter((name) => name.startsWith(`dispatch-tests-${String(pid)}-`)), [])
})

const failures: [what: string, source: string, closing: string][] = [
  ['a file that throws', 'throw new Error(\'no\')', '0 passed, 1 failed'],
  ['a file that ends early', `${passing}\nprocess.exit(7)`, '2 passed, 1 failed'],
  ['a file that kills itself', `${passing}\nprocess.kill(process.pid, 'SIGKILL')`, '2 passed, 1 failed'],
  [
    'a file that never ends',
    `${passing}\nt.setTimeout(50)\nawait t.test('waits', () => new Promise(resolve => setTimeout(resolve, 60_000)))`,
    '2 passed, 2 failed'
  ],
  ['no test at all', '', '0 passed, 1 failed, 1 skipped']
]

for (const [what, source, closing] of failures) {
  void t.test(`${what} is a failure`, async t => {
    const { status, lines } = await run(t, { 'a.test.ts': source })
    t.not(status, 0)
    t.equal(lines.at(-1), closing)
  })
}

void t.test('a file that ends the process of several is a failure, and what follows it is not said to have passed', async t => {
  const { status, lines } = await run(t, { 'a.test.ts': passing, 'b.test.ts': `${passing}\nprocess.exit(7)`, 'c.test.ts': passing })
  t.not(status, 0)
  t.equal(lines.at(-1), '4 passed, 1 failed')
  t.equal(lines.filter((line) => line.startsWith('ok ')).length, 1)
  t.ok(lines.some((line) => line.includes('not ok 3 - test unfinished')))
})

void t.test('without arguments the first tier runs, with --long the second', async t => {
  const files = { 'a.test.ts': passing, e2e: { 'b.test.ts': 'import t from \'tap\'\nt.pass(\'long\')' } }
  const [first, second] = [await run(t, files), await run(t, files, '--long')]
  t.same([first.lines.length, first.lines.at(-1)], [2, '2 passed, 0 failed'])
  t.same([second.lines.length, second.lines.at(-1)], [2, '1 passed, 0 failed'])
})

void t.test('with --all both tiers run, and with --since too where it cannot be told what a change reaches', async t => {
  const files = { 'a.test.ts': passing, 'b.test.ts': passing, e2e: { 'b.test.ts': passing, 'c.test.ts': passing } }
  const [whole, since] = [await run(t, files, '--all'), await run(t, files, '--since', 'no-such-branch')]
  t.same([whole.lines.length, whole.lines.at(-1)], [5, '8 passed, 0 failed'])
  t.same([since.lines[0], since.lines.at(-1)], ['all tests run: it cannot be told which ones the change reaches', '8 passed, 0 failed'])
})

const waiting = '() => new Promise((end) => setTimeout(end, 2_000))'

const late: [what: string, sources: Record<string, string>, told: string[]][] = [
  [
    'in a file alone',
    {
      'a.test.ts': `await t.test('outer', async (t) => { await t.test('inner', ${waiting}) })`
    },
    ['outer > inner']
  ],
  [
    'in one of several files, with tests that begin afterwards',
    {
      'a.test.ts': `await t.test('waits', ${waiting})\nfor (let i = 0; i < 9; i++) await t.test('later', (t) => t.end())`,
      'b.test.ts': ''
    },
    ['test/a.test.ts > waits']
  ],
  [
    'in tests that run at once',
    {
      'a.test.ts': `t.jobs = 2\nfor (const name of ['one', 'two']) void t.test(name, { buffered: true }, ${waiting})`
    },
    ['one', 'two']
  ]
]

for (const [where, sources, told] of late) {
  void t.test(`a time limit that fires tells which test ran, ${where}`, async t => {
    const files = Object.entries(sources).map(([name, source]) => [name, `${passing}\nt.setTimeout(100)\n${source}`])
    const { status, lines } = await run(t, Object.fromEntries(files) as Record<string, string>)
    t.not(status, 0)
    const telling = 'a time limit fired while this ran: '
    t.same(lines.filter((line) => line.startsWith(telling)).map((line) => line.slice(telling.length)), told)
    t.notOk(lines.some((line) => line.includes('after parent test ends')))
  })
}

void t.test('a path that names no file is a failure, whatever else is there', async t => {
  const { status, lines } = await run(t, { 'a.test.ts': passing }, 'test/none.test.ts')
  has(t, { status, last: lines.at(-1) }, { status: 1, last: '0 passed, 1 failed' })
})

void t.test('test files share the server; each gets databases of its own, a template is prepared once, and none is left', async t => {
  const source = `
    import t from 'tap'
    import pg from 'pg'
    import { templateDatabase, testDatabase } from ${support}
    const query = async (url, sql) => {
      const client = new pg.Client(url)
      await client.connect()
      const { rows } = await client.query(sql)
      await client.end()
      return rows
    }
    const prepare = url => query(url, 'create table prepared as select pg_backend_pid() as by')
    const [template] = await Promise.all([1, 2].map(() => templateDatabase('sample', prepare)))
    const [empty, copy] = [await testDatabase(t), await testDatabase(t, { template })]
    t.same(await query(empty.url, "select 1 from pg_tables where schemaname = 'public'"), [])
    t.equal((await query(copy.url, 'select by from prepared')).length, 1)
    await query(empty.url, 'create table prepared ()')
    await copy.drop()
    await t.rejects(query(copy.url, 'select 1'), { code: '3D000' })`
  const { status, lines, server } = await run(t, { 'a.test.ts': source, 'b.test.ts': source })
  t.equal(status, 0, lines.join('\n'))
  t.equal(lines.at(-1), '6 passed, 0 failed')
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const { rows } = await client.query(
    'select datname from pg_database where datname like \'dispatch\\_test\\_\' || \'%\' and datname not like $1',
    [`dispatch_test_${process.env['DISPATCH_TEST_RUN'] ?? server.run}_%`]
  )
  await client.end()
  t.same(rows, [])
})

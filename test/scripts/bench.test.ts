import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { byFolder, byFunction, selfTimes } from '../../scripts/bench/support/cpu-profile.ts'
import { keptStages, pictureOf } from '../../scripts/bench/support/picture.ts'
import { transactionsOf } from '../../scripts/bench/support/statements.ts'
import { takenOn } from '../../scripts/bench/support/table.ts'
import { faultOf } from '../../scripts/bench/support/verdict.ts'
import { contains, lacks } from '../support/matching.ts'

const path = (name: string) => fileURLToPath(new URL(`../../scripts/bench/${name}`, import.meta.url))

const table = (cell: string) => `┌───┬───┐\n│   │ a │\n├───┼───┤\n│ b │ ${cell} │\n└───┴───┘\n`

void t.test('a benchmark fails that ends badly, prints no table, or lacks a figure', t => {
  t.equal(faultOf({ code: 0, output: `some words\n${table('12')}` }), undefined)
  t.equal(faultOf({ code: 3, output: table('12') }), 'ended with 3')
  t.equal(faultOf({ code: null, output: table('12') }), 'was stopped')
  t.equal(faultOf({ code: 0, output: 'some words\n' }), 'printed no table')
  t.equal(faultOf({ code: 0, output: '┌───┐\n│   │\n└───┘\n' }), 'printed no table')
  for (const cell of ['NaN', '\'NaN %\'', 'Infinity', 'undefined', 'null']) {
    t.equal(faultOf({ code: 0, output: table(cell) }), 'lacks a figure', cell)
  }
  t.equal(faultOf({ code: 0, output: table('\'select null\'') }), undefined, 'a word of a statement is none')
  t.end()
})

void t.test('the picture of the floor shows the kept stages, and escapes their names', t => {
  t.equal(readFileSync(path('floor.svg'), 'utf8'), pictureOf(keptStages()))
  const drawn = pictureOf([{ stage: 'a <b> & c', commit: 'abc', waited: 50, queued: 25, waitedOfMany: 5 }])
  lacks(t, drawn, '<b>')
  contains(t, drawn, '>a &lt;b> &amp; c</text>')
  contains(t, drawn, 'waited for, one company 50 %, queued, one company 25 %, waited for, 50 companies 5 %')
  contains(t, drawn, '<rect class="waited" x="240" y="50" width="320.0"')
  t.end()
})

void t.test('a name that is none of theirs is refused, and theirs are told', t => {
  const { status, stderr } = spawnSync(process.execPath, [path('run.ts'), 'nothing', '--smoke'], { encoding: 'utf8' })
  t.equal(status, 1)
  t.equal(stderr, 'There is no benchmark "nothing"; there are '
    + 'batches, console, dispatch, e-invoice, floor, formats, growth, hostile, intake, marketplace, pdf, profile, queue, sandbox, search, '
    + 'start, statements, validation, webhooks.\n')
  t.end()
})

void t.test('a table tells the commit, whether files differ from it, Node and the day', t => {
  const folder = t.testdir({ tracked: 'as committed' })
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], { cwd: folder, encoding: 'utf8' }).stdout.trim()
  const day = new Date('2026-03-14T23:30:00Z')
  git('init', '--quiet')
  t.equal(takenOn(folder, day), `commit unknown, Node ${process.versions.node}, 2026-03-14`)
  git('add', '.')
  git('commit', '--quiet', '--message', 'First')
  const commit = git('rev-parse', '--short=10', 'HEAD')
  t.ok(/^[0-9a-f]{10}$/.test(commit), commit)
  t.equal(takenOn(folder, day), `commit ${commit}, Node ${process.versions.node}, 2026-03-14`)
  writeFileSync(`${folder}/tracked`, 'otherwise')
  t.equal(takenOn(folder, day), `commit ${commit} + changes, Node ${process.versions.node}, 2026-03-14`)
  t.end()
})

void t.test('a profile is the time of functions by themselves in its last seconds, without waiting', t => {
  const file = (path: string) => new URL(`../../${path}`, import.meta.url).href
  const frames = [
    ['(idle)', ''],
    ['query', file('node_modules/pg/lib/client.js')],
    ['settle', file('core/store/dispatch/steps.ts')],
    ['check', file('node_modules/@fastify/cors/index.js')],
    ['writev', ''],
    ['emit', 'node:events']
  ]
  const profile = {
    nodes: frames.map(([functionName = '', url = ''], id) => ({ id, callFrame: { functionName, url, lineNumber: 6 } })),
    samples: [1, 1, 0, 2, 3, 4, 5, 2],
    timeDeltas: [9_000_000, 100, 5_000, 400, 100, 200, 100, 100]
  }
  const times = selfTimes(profile, 0.006)
  t.strictSame([...byFolder(times)].sort(), [['@fastify/cors', 0.1], ['core/store', 0.5], ['node', 0.1], ['pg', 0.1], ['writev', 0.2]])
  t.equal(byFunction(times).get('settle core/store/dispatch/steps.ts:7'), 0.5)
  t.end()
})

void t.test('recorded statements are transactions of their connections; one outside of any is a transaction of its own', t => {
  const [a, b] = [{}, {}]
  const recorded = ([
    [a, 'select 1'],
    [a, 'begin; set local role r'],
    [b, 'select 2'],
    [a, 'insert'],
    [b, 'begin'],
    [a, 'commit'],
    [b, 'rollback'],
    [
      a,
      'select 3'
    ]
  ] as const)
    .map(([connection, text]) => ({ connection, statement: [{ text }] as [{ text: string }] }))
  t.same(transactionsOf(recorded).map(statements => statements.map(([asked]) => typeof asked === 'string' ? asked : asked.text)), [
    ['select 1'],
    ['begin; set local role r', 'insert', 'commit'],
    ['select 2'],
    ['begin', 'rollback'],
    ['select 3']
  ])
  t.end()
})

void t.test('a child closes what it has opened, once, when it is told to stop and when its parent has gone', async t => {
  const script = `
    import { whenStopped } from ${JSON.stringify(path('support/stop.ts'))}
    const timer = setInterval(() => undefined, 1000)
    whenStopped(async () => { clearInterval(timer); console.log('closed') })
    process.send('ready')`
  const ends = {
    'told to stop': child => child.kill('SIGTERM'),
    'parent gone': child => child.disconnect(),
    both: child => {
      child.disconnect()
      child.kill('SIGTERM')
    }
  } satisfies Record<string, (child: ReturnType<typeof fork>) => void>
  for (const [name, end] of Object.entries(ends)) t.same(await ended(t, script, end), { code: 0, output: 'closed\n' }, name)
})

void t.test('a child that has lost its parent before it has opened anything ends', async t => {
  const script = `
    import { whenStopped } from ${JSON.stringify(path('support/stop.ts'))}
    setInterval(() => undefined, 1000)
    process.on('message', () => whenStopped(async () => undefined))
    process.send('starting')`
  t.same(await ended(t, script, child => child.disconnect()), { code: 1, output: '' })
})

async function ended (t: Test, script: string, end: (child: ReturnType<typeof fork>) => void) {
  const folder = t.testdir({ 'child.ts': script, 'package.json': '{ "type": "module" }' })
  const child = fork(`${folder}/child.ts`, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  await once(child, 'message')
  const closed = Promise.all([once(child, 'exit'), child.stdout === null ? '' : text(child.stdout)])
  end(child)
  const [[code], output] = await closed
  return { code: code as number | null, output }
}

import { existsSync, globSync, readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createStreamLimit } from '../../plugins/routes/streams.ts'
import { createGate } from '../support/gate.ts'
import { startService } from '../support/service.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))

/** What limits something that several companies use. */
const limiting =
  /create(?:Fair)?Semaphore\(|createPasswordSemaphore\(|createLoopTurns\(|new Piscina\b|new (?:pg\.)?Pool\(|new Agent\(|pLimit\(|maxConnections = |: StateQuota = /
/** Where these are made, and what only one process of a script uses. */
const tools = new Set(['core/packages/common/fair-semaphore.ts', 'plugins/hooks/loop-turns.ts'])

/** The names of the tests of a file, as they are written. */
const namesIn = (source: string): string[] =>
  [...source.matchAll(/\bt\.test\(\s*(['`])((?:\\.|(?!\1)[^\\])*)\1/g)].map(([, , name = '']) => name)

await t.test('every shared resource stands in SECURITY.md with its test', (t) => {
  const text = readFileSync(`${project}SECURITY.md`, 'utf8')
  const [, section = ''] = /\n## Shared resources\n(.*?)\n## /s.exec(text) ?? []
  const rows = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| resource'))
  const listed = rows.flatMap((row) => [...row.matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) => path))
  const found = globSync('{core,plugins,providers}/**/*.ts', {
    cwd: project,
    exclude: (name) => /(?:^|\/)(?:node_modules|test)$/.test(name)
  })
    .filter((path) => !tools.has(path) && limiting.test(readFileSync(project + path, 'utf8')))
  t.strictSame(found.filter((path) => !listed.includes(path)), [], 'each file that limits one is in the table')
  t.strictSame(listed.filter((path) => !found.includes(path)), [], 'and no other')
  for (const row of rows) {
    const tests = [...row.matchAll(/`([^`]+\.test\.ts)`: “([^”]+)”/g)]
    t.not(tests.length, 0, row)
    t.equal(tests.length, [...row.matchAll(/\.test\.ts`/g)].length, `each test has its name: ${row}`)
    for (const [, path = '', name = ''] of tests) {
      t.ok(existsSync(project + path) && namesIn(readFileSync(project + path, 'utf8')).some((title) => title.includes(name)),
        `${path}: ${name}`)
    }
  }
  t.end()
})

await t.test('two companies that hold all connections to the database that they can get leave one to a third', async (t) => {
  const { app, company } = await startService(t)
  const database = app.get('database')
  const [one, two, three] = [await company('one'), await company('two'), await company('three')]
  const gate = createGate()
  const held = new Map<number, number>()
  const work = [one, two].flatMap(({ companyId }) =>
    Array.from({ length: 20 }, () =>
      database.company(companyId, async () => {
        held.set(companyId, (held.get(companyId) ?? 0) + 1)
        await gate.pass()
      }))
  )
  const ends = Promise.allSettled(work)
  while ([...held.values()].reduce((sum, count) => sum + count, 0) < 8) await setImmediate()
  t.equal(await database.company(three.companyId, () => Promise.resolve('at once')), 'at once')
  t.strictSame([held.get(one.companyId), held.get(two.companyId)], [5, 3], 'of nine connections')
  gate.open()
  await ends
})

await t.test('companies that hold all streams that they can get leave one to each of sixty others', async (t) => {
  const take = createStreamLimit()
  const begin = async (companyId: number, user: number): Promise<boolean> =>
    await take({ companyId, userId: companyId * 100 + user, email: '', role: 'member', services: [] }).then(() => true, () => false)
  const open = async (companyId: number, many: number): Promise<number> => {
    let opened = 0
    for (let stream = 0; stream < many; stream++) if (await begin(companyId, stream % 20)) opened++
    return opened
  }
  for (let company = 1; company <= 9; company++) t.equal(await open(company, 100), 60)
  for (let company = 10; company < 70; company++) t.equal(await open(company, 2), 1)
  t.equal(await open(70, 1), 0)
})

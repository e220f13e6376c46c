import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { mutationsOf } from '../../scripts/mutate/mutations.ts'
import { reachOf } from '../../scripts/mutate/reach.ts'
import { contains } from '../support/matching.ts'

const changes = (source: string): string[] =>
  mutationsOf('a.ts', source).map(({ start, end, text }) => source.slice(0, start) + text + source.slice(end))

void t.test('each small change of a source is made once', (t) => {
  const cases: [source: string, expected: string[]][] = [
    ['if (a) b()', ['if (!(a)) b()', 'if (a) ;']],
    ['c = a ? 1 : x', ['c = !(a) ? 1 : x', 'c = a ? (1 + 1) : x']],
    ['c = a && b || d', ['c = a && b && d', 'c = a || b || d']],
    ['c = a === b', ['c = a !== b']],
    ['c = a < b', ['c = a <= b']],
    ['c = [a, b]', ['c = [b]', 'c = [a]']],
    ['c = [a]', []],
    ['c = true', ['c = false']],
    ['await f(a)', [';']],
    ['void f(a)', [';']],
    ['c = f(a)', []],
    ['c = a + b', []],
    ['type C = 1 | true\nimport { a } from \'./a.ts\'', []]
  ]
  for (const [source, expected] of cases) t.same(changes(source), expected, source)
  t.equal(mutationsOf('a.ts', 'a()\n\nif (b) c()').at(-2)?.line, 3)
  t.end()
})

void t.test('the tests that reach a line of a file, first the nearest, then those with its words', (t) => {
  const root = t.testdir({
    core: {
      'package.json': '{ "name": "@dispatch/core", "exports": { ".": "./index.ts" } }',
      'index.ts': 'export { a } from \'./store/a.ts\'',
      store: { 'a.ts': '', 'b.ts': 'export const refund = 1', 'c.ts': '' }
    },
    test: {
      'all.test.ts': 'import \'@dispatch/core\'',
      'far.test.ts': 'import \'./other.test.ts\' // what refunds do',
      'middle.test.ts': 'import \'./other.test.ts\'',
      'other.test.ts': 'import \'../core/store/b.ts\'',
      core: { store: { 'a.test.ts': 'import \'../../../core/store/a.ts\'' } }
    }
  })
  const reach = reachOf(root)
  t.same(reach('core/store/a.ts', 1), ['test/core/store/a.test.ts', 'test/all.test.ts'])
  t.same(reach('core/store/b.ts', 1), ['test/other.test.ts', 'test/far.test.ts', 'test/middle.test.ts'])
  t.same(reach('core/store/c.ts', 1), [])
  t.end()
})

void t.test('changes of a file are tried on its tests', (t) => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const run = (...args: string[]): { status: number | null, stdout: string, stderr: string } =>
    spawnSync(process.execPath, ['scripts/mutate.ts', ...args], { cwd: root, encoding: 'utf8' })
  const { status, stdout } = run('core/packages/common/fair-semaphore.ts', '--max', '2', '--tests', '3')
  t.equal(status, 0)
  contains(t, stdout, /^core\/packages\/common\/fair-semaphore\.ts: \d of 2 changes seen \(\d+ %\), out of \d+ possible ones, seed 1$/m)
  t.equal(run('core/packages/common/fair-semaphore.ts', '--max', '1', '--tests', '1', '--least', '101').status, 1)
  t.equal(run().status, 2)
  t.end()
})

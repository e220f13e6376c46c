import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { changedSince } from '../../scripts/test/change.ts'
import { readImports } from '../../scripts/test/imports.ts'
import { reachedIn } from '../../scripts/test/reached.ts'
import { isLong, isLongFor, longTier } from '../long-tier.ts'
import { foldersToTry } from '../support/folders-to-try.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const tests = globSync('{test,core/packages/*/test,core/packages/features/*/test}/**/*.test.ts', {
  cwd: root,
  exclude: ['test/fixtures/features/**']
}).sort()
const inCheckout = reachedIn(root, tests)
const reached = (...changed: string[]): string[] | undefined => inCheckout(changed)

function runs (t: Test, chosen: readonly string[] | undefined, ...tests: readonly string[]): void {
  for (const test of tests) t.ok(chosen?.includes(test), test)
}

const journey = 'test/e2e/clients.test.ts'

void t.test('who imports whom: by the names that a file hands on, by what it starts and imports later, and not for types', (t) => {
  const tree = t.testdir({
    core: {
      'package.json': '{ "name": "@dispatch/core", "exports": { ".": "./index.ts" } }',
      'index.ts': 'export { a as b, type A } from \'./a.ts\'\nexport { c } from \'./c.ts\'',
      'a.ts': '',
      'c.ts': 'new Worker(new URL(\'thread.ts\', import.meta.url))\nawait import(\'./later.ts\')\nexport * from \'./all.ts\'',
      'by-name.ts': 'import { b } from \'@dispatch/core\'',
      'by-type.ts': 'import { type A, b } from \'./index.ts\'\nimport type { C } from \'./c.ts\'',
      'by-default.ts': 'import c, { b } from \'./index.ts\'\nimport \'./c.ts\''
    },
    node_modules: { 'x.ts': 'import \'../core/a.ts\'' }
  })
  const imports = readImports(tree)
  const found = Object.fromEntries(imports.files.map((file) => [file.slice('core/'.length), imports.of(file)]))
  t.same(found, {
    'a.ts': [],
    'by-default.ts': ['core/index.ts', 'core/c.ts'],
    'by-name.ts': ['core/a.ts'],
    'by-type.ts': ['core/a.ts'],
    'c.ts': ['core/all.ts', 'core/thread.ts', 'core/later.ts'],
    'index.ts': ['core/a.ts', 'core/c.ts']
  })
  t.end()
})

void t.test('a change reaches the tests that import it, also through others, and one journey', (t) => {
  const chosen = reached('core/packages/documents/render/pdf.ts') ?? []
  runs(t, chosen, 'core/packages/documents/test/pdf.test.ts')
  runs(t, chosen, journey)
  t.notOk(chosen.includes('core/packages/accounts/test/tokens.test.ts'))
  t.ok(chosen.length < tests.length / 2, `${chosen.length} of ${tests.length}`)
  t.end()
})

void t.test('what the service alone imports reaches the tests of it that are likeliest to notice', (t) => {
  const chosen = reached('plugins/console/pages/people.ts') ?? []
  runs(t, chosen, 'test/plugins/console-people.test.ts')
  runs(t, chosen, 'test/plugins/console-journeys.test.ts')
  t.ok(chosen.length < 60, chosen.join())
  t.end()
})

void t.test('a service, a format and a layout reach their own tests, not each that asks for the names of all services', (t) => {
  for (const [file, test] of [
    ['core/packages/services/sms/index.ts', 'core/packages/contract/test/chains.test.ts'],
    ['core/packages/documents/formats/pdf/make.ts', 'core/packages/documents/test/pdf.test.ts'],
    ['core/packages/documents/layout/breaks.ts', 'test/templates/templates.test.ts']
  ] as const) {
    const chosen = reached(file) ?? []
    runs(t, chosen, test)
    t.ok(chosen.length < tests.length / 4, `${file}: ${chosen.length} of ${tests.length}`)
  }
  t.end()
})

void t.test('a changed test runs, and one that reads a changed page or provider', (t) => {
  runs(t, reached('test/plugins/retry.test.ts'), 'test/plugins/retry.test.ts')
  runs(t, reached('test/e2e/support/process.ts'), 'test/e2e/stop.test.ts')
  runs(t, reached('SECURITY.md'), 'test/docs/security.test.ts')
  runs(t, reached('providers/stripe/index.ts'), 'test/providers/stripe.test.ts', 'test/conformance.test.ts')
  runs(t, reached('templates/invoice/template.yaml'), 'test/templates/templates.test.ts')
  t.same(reached('core/a-file-that-was-removed.ts'), [journey])
  t.end()
})

void t.test('an adapter that is touched passes the kit outside; of the others a sample does, and all with CI_ALL=1', (t) => {
  runs(t, reached('providers/community/xero/limits.ts'), 'core/packages/sandbox/test/conformance.test.ts')
  const one = () => ({ 'package.json': '{}' })
  const tree = t.testdir({ disk: one(), pigeon: one(), 'pigeon-post': one(), community: { xero: one(), sparrow: one() } })
  t.same(foldersToTry(tree, {}), ['community/xero', 'disk'])
  t.same(foldersToTry(tree, { DISPATCH_TEST_CHANGED: 'README.md\nproviders/pigeon/index.ts\nproviders/community/sparrow/fixtures/a.json' }),
    ['community/sparrow', 'community/xero', 'disk', 'pigeon'])
  t.same(foldersToTry(tree, { CI_ALL: '1' }), ['community/sparrow', 'community/xero', 'disk', 'pigeon', 'pigeon-post'])
  t.end()
})

void t.test('a test of the second tier runs where the change is in what it is for', (t) => {
  const chosen = reached(globSync('core/**/sandbox/**/*.ts', { cwd: root }).sort()[0] ?? '') ?? []
  runs(t, chosen, ...tests.filter((test) => test.startsWith('test/sandbox/')))
  t.notOk(chosen.includes('test/templates/office.test.ts'))
  t.notOk(isLongFor('test/plugins/retry.test.ts', 'core/work/retry.ts'), 'the first tier has no such words')
  const paths = [...readImports(root).files, ...globSync('providers/**', { cwd: root })]
  for (const [path, { of }] of Object.entries(longTier)) {
    for (const word of of) t.ok(paths.some((file) => !file.startsWith('test/') && file.split(/[/.-]/).includes(word)), `${path} ${word}`)
  }
  t.end()
})

void t.test('all tests run for what may matter to each, and for what nobody is known to read', (t) => {
  const cases = [
    'package.json',
    'core/packages/common/package.json',
    'package-lock.json',
    '.npmrc',
    'tsconfig.json',
    '.ci/run',
    'scripts/test.ts',
    'test/support/service.ts',
    'test/long-tier.ts',
    'test/fixtures/values/clerk/index.ts',
    'core/store/migrations/001-first.ts',
    'plugins/console/browser/console.css',
    'plugins/a.ttf'
  ]
  for (const file of cases) t.equal(reached('CHANGELOG.md', file), undefined, file)
  t.end()
})

void t.test('what differs from where the branch began: committed, not committed and new; nothing if that cannot be told', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-change-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const file of ['kept.ts', 'changed.ts', 'moved.ts']) writeFileSync(join(folder, file), file)
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  git('init', '--initial-branch=main')
  git('add', '.')
  git('commit', '-m', 'first')
  t.equal(changedSince('main', folder), undefined)
  git('switch', '-c', 'branch')
  git('mv', 'moved.ts', 'there.ts')
  git('commit', '-m', 'second')
  git('switch', 'main')
  writeFileSync(join(folder, 'of-others.ts'), '')
  git('add', '.')
  git('commit', '-m', 'what the branch does not have')
  git('switch', 'branch')
  writeFileSync(join(folder, 'changed.ts'), '1')
  writeFileSync(join(folder, 'new.ts'), '1')
  t.same(changedSince('main', folder)?.sort(), ['changed.ts', 'moved.ts', 'new.ts', 'there.ts'])
  t.equal(changedSince('no-such-branch', folder), undefined)
  t.equal(changedSince('', folder), undefined)
  rmSync(join(folder, '.git'), { recursive: true })
  t.equal(changedSince('main', folder), undefined)
  t.end()
})

t.ok(tests.some(isLong))

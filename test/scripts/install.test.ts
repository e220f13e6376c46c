import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t, { type Test } from 'tap'
import { has, lacks } from '../support/matching.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const lock = {
  packages: {
    '': {},
    core: { version: '1.0.1' },
    'node_modules/@dispatch/core': { resolved: 'core', link: true },
    'node_modules/pg': { version: '8.0.0' },
    'node_modules/tap': { version: '21.0.0', dev: true },
    [`node_modules/native-${process.platform}`]: { version: '1.0.0', optional: true, os: [process.platform] },
    'node_modules/native-elsewhere': { version: '1.0.0', optional: true, os: ['elsewhere'], cpu: 'other' },
    'node_modules/for-native-elsewhere': { version: '1.0.0', optional: true }
  }
}
/** npm's record of an installation without these packages. */
const elsewhere = ['', 'node_modules/native-elsewhere', 'node_modules/for-native-elsewhere']
const without = (...paths: string[]) =>
  Object.fromEntries(Object.entries(lock.packages).filter(([path]) => ![...elsewhere, ...paths].includes(path)))
const installed = without()

/** A checkout whose `npm` and `tap` only write down how they were called; `npm ci` leaves what `npm` says. */
function checkout (
  t: Test,
  { record, npm = 'exit 0', engines = '>=26', tapBuilt = '@tapjs/after' }: {
    record?: object
    npm?: string
    engines?: string
    tapBuilt?: string
  }
) {
  const root = t.testdir({
    'package.json': JSON.stringify({ engines: { node: engines } }),
    'package-lock.json': JSON.stringify(lock),
    scripts: { 'install.mjs': read('scripts/install.mjs'), 'node-version.mjs': read('scripts/node-version.mjs') },
    node_modules: {
      '.bin': { tap: '#!/bin/sh\necho tap "$@" >> "$CALLS"\n' },
      '@tapjs': { test: { 'test-built': { dist: { esm: { 'index.js': tapBuilt } } } } },
      ...(record === undefined ? {} : { '.package-lock.json': JSON.stringify({ packages: record }) })
    },
    path: { npm: `#!/bin/sh\necho npm "$@" >> "$CALLS"\n${npm}\n` }
  })
  for (const file of ['path/npm', 'node_modules/.bin/tap']) chmodSync(join(root, file), 0o755)
  return root
}

function install (root: string, ...args: string[]) {
  return installWith(process.execPath, root, ...args)
}

function installWith (node: string, root: string, ...args: string[]) {
  const calls = join(root, 'calls')
  const PATH = [join(root, 'node_modules/.bin'), join(root, 'path'), '/usr/bin', '/bin'].join(delimiter)
  const { status, stdout, stderr } = spawnSync(node, [join(root, 'scripts/install.mjs'), ...args], {
    encoding: 'utf8',
    env: { PATH, CALLS: calls }
  })
  return { status, stdout, stderr, calls: existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [] }
}

void t.test('nothing is called when all that this platform needs is in place', t => {
  t.same(install(checkout(t, { record: installed }), '--dev'), { status: 0, stdout: '', stderr: '', calls: [] })
  t.end()
})

void t.test('the service does not need the tools of the tests, the tests do', t => {
  const root = checkout(t, { record: without('node_modules/tap') })
  t.same(install(root).calls, [])
  t.same(install(root, '--dev').calls, ['npm ci --ignore-scripts --no-audit --no-fund --include=dev'])
  t.end()
})

for (const [what, record] of Object.entries({
  'no record of an installation': undefined,
  'a missing package': without('node_modules/pg'),
  'another version': { ...installed, 'node_modules/pg': { version: '8.0.1' } },
  'a missing link': without('node_modules/@dispatch/core'),
  'this platform\'s own package missing': without(`node_modules/native-${process.platform}`)
})) {
  void t.test(`${what} calls npm ci once, quietly`, t => {
    const root = checkout(t, { ...(record && { record }), npm: 'echo noise; echo "npm warn EBADENGINE" >&2' })
    t.same(install(root), {
      status: 0,
      stderr: '',
      stdout: 'Installing the dependencies, this may take a minute …\n',
      calls: ['npm ci --ignore-scripts --no-audit --no-fund']
    })
    t.end()
  })
}

void t.test('npm does not run on the Node that it replaces', t => {
  const root = checkout(t, { npm: 'echo "$PATH" >> "$CALLS"' })
  lacks(t, install(root).calls[1], /node_modules/)
  t.end()
})

void t.test('a failed installation shows what npm says and ends with one sentence', t => {
  const offline = install(checkout(t, { npm: 'echo "npm warn EBADENGINE noise" >&2; echo "npm error code EAI_AGAIN" >&2; exit 1' }))
  t.equal(offline.status, 1)
  t.same(offline.stderr.trim().split('\n'), [
    'npm error code EAI_AGAIN',
    'The dependencies could not be installed, because the package registry cannot be reached: connect this machine and try again.'
  ])
  const broken = install(checkout(t, { npm: 'echo "npm error code EUSAGE" >&2; exit 1' }))
  has(t, broken, { status: 1, stderr: /EUSAGE\nThe dependencies could not be installed: npm says why above\.\n$/ })
  t.end()
})

void t.test('a Node that is too old is one sentence, the one of the scripts counts', t => {
  const old = install(checkout(t, { record: installed, engines: '>=99' }))
  has(t, old, { status: 1, stderr: /^Document Dispatch needs Node 99 or later and this is v\d+[^\n]*\n$/ })

  const root = checkout(t, { record: installed, engines: '>=99' })
  writeFileSync(join(root, 'node_modules/.bin/node'), '#!/bin/sh\necho v99.1.0\n', { mode: 0o755 })
  t.equal(install(root).status, 0)
  t.end()
})

/** A Node of the machine that is older than the project's. */
const older = (process.env['PATH'] ?? '').split(delimiter).map(folder => join(folder, 'node'))
  .find(node => Number(/^v(\d+)/.exec(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout)?.[1] ?? 26) < 26)

void t.test('an older Node gets as far as that sentence', { skip: older === undefined ? 'this machine has none' : false }, t => {
  const { status, stdout, stderr } = installWith(older!, checkout(t, { record: installed }))
  has(t, { status, stdout, stderr }, {
    status: 1,
    stdout: '',
    stderr: /^Document Dispatch needs Node 26 or later and this is v\d+[^\n]*\n$/
  })
  t.end()
})

void t.test('tap is rebuilt, for the tests only, while it has the compiler that .taprc leaves out', t => {
  const root = checkout(t, { record: installed, tapBuilt: '@tapjs/after\n@tapjs/typescript' })
  t.same(install(root).calls, [])
  t.same(install(root, '--dev').calls, ['tap build'])
  t.end()
})

import { execFile } from 'node:child_process'
import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { sdkFiles } from '../../scripts/provider/sdk.ts'
import { directory } from '../fixtures/providers/folders.ts'
import { contains, has } from '../support/matching.ts'
import { fillIn } from '../support/scaffold.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

type Ended = { code: number, stdout: string, stderr: string }

/** tap gives its loaders to every child process; the compiler does not run under them. */
async function run (cwd: string, program: string, ...given: string[]): Promise<Ended> {
  const env = { ...process.env, INIT_CWD: undefined, npm_config_cache: join(cwd, '.npm') }
  try {
    return { code: 0, ...await promisify(execFile)('sh', ['-c', 'NODE_OPTIONS= exec "$0" "$@"', program, ...given], { cwd, env }) }
  } catch (error) {
    return error as Ended
  }
}

const install = ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund']

async function repository (t: Test, ...given: string[]): Promise<string> {
  const parent = await directory(t)
  const command = [join(root, 'scripts/provider.ts'), 'new', 'acme', '--service', 'sms', '--dir', 'acme', ...given]
  has(t, await run(parent, process.execPath, ...command), { code: 0, stdout: /^acme is there\./ })
  return join(parent, 'acme')
}

const tsc = join(root, 'node_modules/.bin/tsc')

await t.test('a provider in a repository of its own has its types, the kit and "npm test" from its tarballs alone', async (t) => {
  const folder = await repository(t)
  t.same((await readdir(join(folder, 'vendor'))).sort(), Object.values(sdkFiles).sort())
  has(t, await run(folder, 'npm', ...install), { code: 0 })
  t.same(await readdir(join(folder, 'node_modules/@dispatch')), ['conformance', 'core'])
  const unfilled = await run(folder, 'npm', 'test')
  t.equal(unfilled.code, 1)
  contains(t, unfilled.stdout, /✗ replay: [^]*, 1 failed, \d+ left out\n$/)
  await fillIn(folder)
  has(t, await run(folder, 'npm', 'test'), { code: 0, stdout: /\d{2,} passed, 0 failed/ })
  t.same(await run(folder, tsc, '-p', '.'), { code: 0, stdout: '', stderr: '' })
  await writeFile(join(folder, 'index.ts'), (await readFile(join(folder, 'index.ts'), 'utf8')).replace('sms.message', 'sms.massage'))
  has(t, await run(folder, tsc, '-p', '.'), { stdout: /^index\.ts\(\d+,\d+\): error TS2551: Property 'massage' does not exist/ })
})

await t.test('so has one in JavaScript, and no registry is ever asked for the packages of the core', async (t) => {
  const folder = await repository(t, '--js')
  t.equal(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')).private, true)
  contains(t, await readFile(join(folder, 'README.md'), 'utf8'), 'In `index.js`')
  has(t, await run(folder, 'npm', ...install), { code: 0 })
  await fillIn(folder, 'index.js')
  has(t, await run(folder, 'npm', 'test'), { code: 0, stdout: /\d{2,} passed, 0 failed/ })
  t.same(await run(folder, tsc, '-p', '.'), { code: 0, stdout: '', stderr: '' })
  const code = await readFile(join(folder, 'index.js'), 'utf8')
  const reading = code.replace('async dispatch (request, { settings, http }) {', '$&\n        readdirSync(\'.\')')
  await writeFile(join(folder, 'index.js'), `import { readdirSync } from 'node:fs'\n${reading}`)
  has(t, await run(folder, 'npm', 'test'), { code: 1, stdout: /✗ contained: [^]*It uses files by itself: readdirSync\(\)\.\n/ },
    'the kit tells the provider from itself, which is installed in its folder')
  const elsewhere = await directory(t)
  await cp(join(folder, '.npmrc'), join(elsewhere, '.npmrc'))
  await writeFile(join(elsewhere, 'package.json'), '{ "private": true, "dependencies": { "@dispatch/core": "^1.0.0" } }')
  const asked = await run(elsewhere, 'npm', 'install', '--no-audit', '--fetch-retries=0')
  t.not(asked.code, 0)
  contains(t, asked.stderr, 'registry.invalid')
})

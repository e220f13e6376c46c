import { execFile } from 'node:child_process'
import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { sdkFiles } from '../../scripts/provider/sdk-files.ts'
import { directory } from '../fixtures/providers/folders.ts'
import { contains, has } from '../support/matching.ts'
import { offerInstalled, startNpmRegistry } from '../support/npm-registry.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const registry = await startNpmRegistry(t)
const platform = `${process.platform}-${process.arch}`
offerInstalled(registry, 'esbuild', `@esbuild/${platform}`, '@typescript/native', `@typescript/typescript-${platform}`)

/** The settings of a user whom the registry knows: without them npm publishes nothing. */
const userconfig = join(await directory(t), '.npmrc')
await writeFile(userconfig, `registry=${registry.url}\n${registry.url.slice('http:'.length)}:_authToken=secret\n`)

type Ended = { code: number, stdout: string, stderr: string }

/** tap gives its loaders to every child process; the compiler does not run under them. */
async function run (cwd: string, program: string, ...given: string[]): Promise<Ended> {
  const env = { ...process.env, INIT_CWD: undefined, npm_config_cache: join(cwd, '.npm'), npm_config_userconfig: userconfig }
  try {
    return { code: 0, ...await promisify(execFile)('sh', ['-c', 'NODE_OPTIONS= exec "$0" "$@"', program, ...given], { cwd, env }) }
  } catch (error) {
    return error as Ended
  }
}

const script = join(root, 'scripts/provider.ts')
const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund']

/** A change of a file of a repository. */
async function change (path: string, from: string | RegExp, to: string): Promise<void> {
  await writeFile(path, (await readFile(path, 'utf8')).replace(from, to))
}

/** A folder outside of the checkout, and what npm installs in its repository. */
const empty = await directory(t)
const installed = join(empty, 'acme/node_modules')

await t.test('without a checkout, "npm init" writes a repository that passes the kit, and one command does the rest', async (t) => {
  const tools = await directory(t)
  has(t, await run(tools, process.execPath, script, 'tools', '--out', tools), { code: 0 })
  const [created] = (await readdir(tools)).filter((name) => name.startsWith('create-'))
  has(t, await run(tools, 'npm', 'publish', `./${created ?? ''}`), { code: 0 })

  const init = await run(empty, 'npm', 'init', '--yes', 'dispatch-provider', '--', 'acme', '--service', 'sms')
  has(t, [init.code, init.stdout], [0, /acme is there\./])
  const folder = join(empty, 'acme')
  t.same((await readdir(join(folder, 'vendor'))).sort(), Object.values(sdkFiles).sort())
  has(t, await run(folder, 'npm', ...install), { code: 0 })
  has(t, await run(folder, 'npm', 'test'), { code: 0, stdout: /\d{2,} passed, 0 failed/ })

  await change(join(folder, 'index.ts'), 'request.sms.message', 'request.sms.massage')
  has(t, await run(folder, 'npm', 'test'), { code: 1, stdout: /^index\.ts\(\d+,\d+\): error TS2551: Property 'massage' does not exist/m })
  has(t, await run(folder, 'npx', 'dispatch-provider', 'publish'), { code: 1, stdout: /TS2551/ })
  await change(join(folder, 'index.ts'), 'request.sms.massage', 'request.sms.message')

  has(t, await run(folder, 'npx', 'dispatch-provider', 'pack'), { code: 2, stderr: /must name whoever publishes/ })
  await change(join(folder, 'package.json'), '"private": true', '"publisher": "Acme"')
  has(t, await run(folder, 'npx', 'dispatch-provider', 'pack'), { code: 0, stdout: /the kit passed \d+ cases/ })
  t.ok((await readdir(folder)).includes('dispatch-provider-acme-1.0.0.tgz'))
  const published = await run(folder, 'npm', 'run', 'release', '--', `--registry=${registry.url}`)
  has(t, [published.code, registry.documents.has('dispatch-provider-acme')], [0, true], published.stderr)
  has(t, await run(folder, 'npx', 'dispatch-provider', 'record', 'dispatch', 'real'), { code: 2, stderr: /What is to be done\?/ })
})

await t.test('a repository in JavaScript is the same, and the kit tells its code from the kit that is installed beside it', async (t) => {
  const parent = await directory(t)
  const folder = join(parent, 'acme')
  has(t, await run(parent, process.execPath, script, 'new', 'acme', '--service', 'sms', '--dir', 'acme', '--js'), {
    code: 0,
    stdout: /^acme is there\./
  })
  contains(t, await readFile(join(folder, 'README.md'), 'utf8'), 'in `index.js`')
  await rename(installed, join(folder, 'node_modules'))
  has(t, await run(folder, 'npm', 'test'), { code: 0, stdout: /\d{2,} passed, 0 failed/ })
  const code = await readFile(join(folder, 'index.js'), 'utf8')
  const reading = code.replace('async dispatch (request, { settings, http }) {', '$&\n        readdirSync(\'.\')')
  await writeFile(join(folder, 'index.js'), `// @ts-nocheck\nimport { readdirSync } from 'node:fs'\n${reading}`)
  has(t, await run(folder, 'npm', 'test', '--', 'contained'), {
    code: 1,
    stdout: /✗ contained: [^]*It uses files by itself: readdirSync\(\)\.\n/
  })
})

await t.test('no registry is ever asked for the packages of the core', async (t) => {
  const elsewhere = await directory(t)
  await cp(join(empty, 'acme/.npmrc'), join(elsewhere, '.npmrc'))
  await writeFile(join(elsewhere, 'package.json'), '{ "private": true, "dependencies": { "@dispatch/core": "^1.0.0" } }')
  t.not((await run(elsewhere, 'npm', 'install', '--no-audit', '--fetch-retries=0')).code, 0)
  t.same(registry.requested.filter((path) => path.includes('@dispatch')), [])
})

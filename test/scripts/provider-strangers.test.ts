import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { directory } from '../fixtures/providers/folders.ts'
import { adapted } from '../fixtures/strangers/fixtures.ts'
import { matches } from '../support/matching.ts'
import { offerInstalled, startNpmRegistry } from '../support/npm-registry.ts'

// Four adapters as strangers write them, at most 90 lines each with its webhook: from "npm init" to "npm publish".

const root = fileURLToPath(new URL('../..', import.meta.url))
const longest = 90
const strangers = { 'mailgun': 'email', 'dropbox-sign': 'esign', 'quickbooks': 'invoicing', 'pingen': 'postal' } as const
type Code = keyof typeof strangers
const codes = Object.keys(strangers) as Code[]

const registry = await startNpmRegistry(t)
const platform = `${process.platform}-${process.arch}`
offerInstalled(registry, 'esbuild', `@esbuild/${platform}`, '@typescript/native', `@typescript/typescript-${platform}`)
const desk = await directory(t)
await writeFile(join(desk, '.npmrc'), `registry=${registry.url}\n${registry.url.slice('http:'.length)}:_authToken=secret\n`)

/** A program in the folder of a stranger. tap gives its loaders to every child process; the compiler does not run under them. */
async function run (cwd: string, program: string, ...given: string[]): Promise<string> {
  const env = { ...process.env, INIT_CWD: undefined, npm_config_cache: join(desk, '.npm'), npm_config_userconfig: join(desk, '.npmrc') }
  const { stdout } = await promisify(execFile)('sh', ['-c', 'NODE_OPTIONS= exec "$0" "$@"', program, ...given], { cwd, env })
  return stdout
}

/** The repository of an adapter, as "npm init" begins it. */
async function begin (code: Code): Promise<void> {
  await run(desk, 'npm', 'init', '--yes', 'dispatch-provider', '--', code, '--service', strangers[code])
  const folder = join(desk, code)
  await cp(join(root, `test/fixtures/strangers/${code}.ts`), join(folder, 'index.ts'))
  await rm(join(folder, 'fixtures'), { recursive: true })
  await mkdir(join(folder, 'fixtures'))
  const shown = join(root, `providers/community/${code}/fixtures`)
  for (const name of await readdir(shown)) {
    const fixture = adapted(code, name, JSON.parse(await readFile(join(shown, name), 'utf8')))
    if (fixture !== undefined) await writeFile(join(folder, 'fixtures', name), JSON.stringify(fixture))
  }
  await change(join(folder, 'package.json'), '"private": true', '"publisher": "A stranger"')
}

async function change (path: string, from: string, to: string): Promise<void> {
  await writeFile(path, (await readFile(path, 'utf8')).replace(from, to))
}

await t.test('four adapters of at most 90 lines pass their kit in repositories of their own, and are published by npm', async (t) => {
  await run(desk, process.execPath, join(root, 'scripts/provider.ts'), 'tools', '--out', desk)
  const [created = ''] = (await readdir(desk)).filter((name) => name.startsWith('create-'))
  await run(desk, 'npm', 'publish', `./${created}`)
  for (const [index, code] of codes.entries()) {
    const lines = (await readFile(join(root, `test/fixtures/strangers/${code}.ts`), 'utf8')).trimEnd().split('\n').length
    t.ok(lines <= longest, `${code} has ${lines} lines`)
    await begin(code)
    const folder = join(desk, code)
    const [first = code] = codes
    if (index === 0) await run(folder, 'npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund')
    else await run(desk, 'cp', '-al', `${first}/node_modules`, `${code}/node_modules`)
    const said = await run(folder, 'npm', 'run', 'release', '--', `--registry=${registry.url}`)
    matches(t, said, /the kit passed \d{2,} cases/, code)
    t.ok(registry.documents.has(`dispatch-provider-${code}`), `npm has published ${code}`)
  }
})

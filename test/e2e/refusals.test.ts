import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { contains, lacks } from '../support/matching.ts'
import { testDatabase } from '../support/postgres.ts'
import { seededEnvironment } from '../support/service.ts'
import { databasePid, dataDirectory, isRoot, refusalOf, root, type Starting, startReady } from './support/process.ts'

/** A start ends with exit code 1 and this sentence alone, and leaves nothing running. */
async function refuses (t: Test, starting: Starting, sentence: string | RegExp): Promise<void> {
  const { code, stderr } = await refusalOf(t, starting)
  t.equal(code, 1)
  const [, told = stderr] = /^Document Dispatch could not start: (.*[.])\n$/.exec(stderr) ?? []
  contains(t, told, sentence)
  t.equal(databasePid(starting.dataDirectory), undefined, 'no database is left running')
  lacks(t, stderr, 'geheim', 'no password is told')
}

const masterKey = (): string => randomBytes(32).toString('base64')
const production = { NODE_ENV: 'production', DISPATCH_PUBLIC_URL: 'https://dispatch.example.com', DISPATCH_TRUSTED_PROXIES: '127.0.0.1/32' }

void t.test('what the environment says and cannot be followed', async (t) => {
  const environments: [Record<string, string>, string | RegExp][] = [
    [
      { HOST: '0.0.0.0' },
      'HOST is "0.0.0.0", but plain HTTP is served on a loopback address only, such as 127.0.0.1, because it would carry ' +
      'credentials in the clear: set DISPATCH_TLS_CERT and DISPATCH_TLS_KEY, or DISPATCH_TRUSTED_PROXIES.'
    ],
    [{ DATABASE_URL: 'postgres://user:ge/heim@127.0.0.1/dispatch' },
      /^The database cannot be used: DATABASE_URL is no address: it is .*, %23 for #\.$/]
  ]
  for (const [env, sentence] of environments) await refuses(t, { dataDirectory: dataDirectory(t), env }, sentence)
})

void t.test('a data directory that cannot be used', async (t) => {
  const folder = dataDirectory(t)
  writeFileSync(folder, '')
  await refuses(t, { dataDirectory: folder },
    `The data directory ${folder} cannot be used (not a directory): give the service access to it, or choose another one with ` +
      'DISPATCH_DATA_DIR.')
  await refuses(t, { dataDirectory: join(folder, 'deeper') }, /deeper cannot be used \(not a directory\)/)
})

void t.test('a data directory of another user', {
  skip: isRoot && mayNobodyRunThis() ? false : 'needs root, and a checkout that others can read'
}, async (t) => {
  const folder = dataDirectory(t)
  mkdirSync(folder, { mode: 0o755 })
  await refuses(t, { dataDirectory: folder, asNobody: true }, /cannot be used \(permission denied\)/)
})

void t.test('a second instance on the same data, and a taken port', async (t) => {
  const folder = dataDirectory(t)
  const first = await startReady(t, { dataDirectory: folder })
  const second = await refusalOf(t, { dataDirectory: folder })
  t.same(second, {
    code: 1,
    stderr: `Document Dispatch could not start: Another instance of the service runs on ${folder}/postgres: stop it first, or give this ` +
      'one another data directory (DISPATCH_DATA_DIR).\n'
  })
  t.equal((await fetch(`${first.url()}/readyz`)).status, 204, 'the first is not disturbed')
  const { port } = new URL(first.url())
  await refuses(t, { dataDirectory: dataDirectory(t), env: { PORT: port } },
    `Port ${port} of 127.0.0.1 is taken: stop the program that has it, or choose another one with PORT (metrics: DISPATCH_METRICS_PORT).`)
})

void t.test('a master key that is missing, broken or another one', async (t) => {
  const folder = dataDirectory(t)
  const { url: DATABASE_URL } = await testDatabase(t)
  await refuses(t, { dataDirectory: folder, env: { ...production, DATABASE_URL } },
    'DISPATCH_MASTER_KEY is not set: it needs 32 random bytes in base64, for example from `openssl rand -base64 32`.')
  await refuses(t, { dataDirectory: folder, env: { DATABASE_URL, DISPATCH_MASTER_KEY: 'c2hvcnQ=' } },
    /^DISPATCH_MASTER_KEY does not hold 32 bytes in base64/)
  const first = await startReady(t, { dataDirectory: folder, env: { ...production, DATABASE_URL, DISPATCH_MASTER_KEY: masterKey() } })
  lacks(t, first.stdout(), /example@|curl|company/, 'production seeds nothing and writes nothing but its log')
  process.kill(first.pid, 'SIGTERM')
  t.equal(await first.ended, 0)
  await refuses(t, { dataDirectory: folder, env: { DATABASE_URL, DISPATCH_MASTER_KEY: masterKey() } },
    /^The database holds \d+ secrets under the master key \w{16}, but DISPATCH_MASTER_KEY is \w{16}: start with the key that sealed them or, to replace it, give that one as DISPATCH_MASTER_KEY_PREVIOUS and run `npm run dispatch -- keys rotate`\.$/)
})

void t.test('a shared template that is broken', async (t) => {
  const [checkout, folder] = [dataDirectory(t), dataDirectory(t)]
  for (const part of ['package.json', 'scripts', 'plugins', 'core/packages/features', 'templates']) {
    cpSync(join(root, part), join(checkout, part), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  const starting = {
    dataDirectory: folder,
    cwd: checkout,
    env: { ...await seededEnvironment(t), DISPATCH_PROVIDERS_DIR: join(root, 'providers') }
  }
  appendFileSync(join(checkout, 'templates/quote/template.yaml'), '\nfooter: [\n')
  await refuses(t, starting, /^The shared template "quote" cannot be used: .*templates\/quote\/template\.yaml:\d+:\d+ /)
  rmSync(join(checkout, 'templates/quote/template.yaml'))
  await refuses(t, starting,
    /^The shared template "quote" cannot be used: ENOENT: no such file or directory, open '.*quote\/template\.yaml'\.$/)
})

void t.test('a Node that is too old, before anything else is read', async (t) => {
  const [checkout, folder] = [dataDirectory(t), dataDirectory(t)]
  for (const file of ['scripts/serve.ts', 'scripts/node-version.mjs']) cpSync(join(root, file), join(checkout, file))
  writeFileSync(join(checkout, 'package.json'), JSON.stringify({ type: 'module', engines: { node: '>=99' } }))
  const { code, stderr } = await refusalOf(t, { dataDirectory: folder, cwd: checkout })
  t.equal(code, 1)
  contains(t, stderr, /^Document Dispatch needs Node 99 or later and this is v\d+[^\n]*\n$/)
})

function mayNobodyRunThis (): boolean {
  return spawnSync(process.execPath, ['--check', join(root, 'scripts/serve.ts')], { uid: 65534, gid: 65534 }).status === 0
}

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../../scripts/free-port.ts'
import { type CommandResult, dataDirectory, runDispatch } from '../e2e/support/process.ts'
import { has } from '../support/matching.ts'
import { testDatabase } from '../support/postgres.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { seededDatabase, startService } from '../support/service.ts'

const newKey = randomBytes(32).toString('base64')

const run = (args: readonly string[], env: Record<string, string>): Promise<CommandResult> => runDispatch(args, { env })

await t.test('without a command, or with one that does not exist, it says what there is', async (t) => {
  for (const args of [[], ['toString']]) {
    has(t, await run(args, {}), { code: 1, stdout: '', stderr: /^npm run dispatch -- <command>\n\n {2}.*keys rotate {3}/s })
  }
  has(t, await run(['keys'], {}), { code: 1, stderr: /^It is "keys rotate"/ })
})

await t.test('keys rotate replaces the master key of a service that runs, and says what it did', async (t) => {
  const databaseUrl = await seededDatabase(t)
  const { app, send } = await startService(t, { databaseUrl, replacements: { renderer: quickRenderer } })
  const oldKey = app.get('config').masterKey ?? ''
  const env = { DATABASE_URL: databaseUrl, DISPATCH_DATA_DIR: join(t.testdir(), 'data'), DISPATCH_MASTER_KEY: newKey }
  const both = { ...env, DISPATCH_MASTER_KEY_PREVIOUS: oldKey }
  has(t, await run(['keys', 'rotate'], env), {
    code: 1,
    stdout: '',
    stderr: /^The database holds \d+ secrets under the master key \w+, but DISPATCH_MASTER_KEY is \w+: .*\n$/
  })
  const done = await run(['keys', 'rotate'], both)
  has(t, done, {
    code: 0,
    stdout:
      /^2 rows were rewrapped; all 2 secrets are under the master key \w{16}\. Restart every process without DISPATCH_MASTER_KEY_PREVIOUS; keep the old key as long as backups need it\.\n$/,
    stderr: ''
  })
  t.notOk([oldKey, newKey].some((key) => JSON.stringify(done).includes(key)))
  has(t, await run(['keys', 'rotate'], both), {
    code: 0,
    stdout: /^0 rows were rewrapped; all 2 secrets are under the master key \w{16}\.\n$/
  })
  t.equal((await send('GET', '/healthz')).status, 200)
})

await t.test('it works on the embedded database too', async (t) => {
  const folder = dataDirectory(t)
  has(t, await run(['keys', 'rotate'], { DISPATCH_DATA_DIR: folder }), {
    code: 0,
    stdout: /^0 rows were rewrapped; all 0 secrets are/,
    stderr: ''
  })
})

await t.test('a command says at once why the database cannot be used, and what helps', async (t) => {
  const { url } = await testDatabase(t)
  const nobody = `postgres://dispatch@127.0.0.1:${await freePort()}/dispatch`
  const listening =
    /^The database cannot be used: nothing listens at 127\.0\.0\.1:\d+: start the server, or correct host and port in (\w+)\.\n$/
  for (
    const [args, env, variable] of [
      [['migrate', '--check'], { DATABASE_URL: nobody }, 'DATABASE_URL'],
      [['migrate', '--check'], { DATABASE_URL: url, DATABASE_DIRECT_URL: nobody }, 'DATABASE_DIRECT_URL'],
      [['tokens', 'rotate'], { DATABASE_URL: nobody }, 'DATABASE_URL']
    ] as const
  ) {
    const said = await run(args, { DISPATCH_DATA_DIR: join(t.testdir(), 'data'), ...env })
    has(t, said, { code: 1, stdout: '', stderr: listening })
    t.equal(listening.exec(said.stderr)?.[1], variable)
  }
})

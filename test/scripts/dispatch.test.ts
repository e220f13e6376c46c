import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../../scripts/free-port.ts'
import { type CommandResult, dataDirectory, runDispatch } from '../e2e/support/process.ts'
import { has } from '../support/matching.ts'
import { testDatabase } from '../support/postgres.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, seededDatabase, startService } from '../support/service.ts'

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
  const folder = t.testdir()
  const dataKeys = { folder: join(folder, 'keys') }
  const { app, send } = await startService(t, { databaseUrl, config: { dataKeys }, replacements: { renderer: quickRenderer } })
  const { body: { generatedDocument: { id } } } = await send('POST', '/api/invoicing', { body: invoiceRequest() })
  const oldKey = app.get('config').masterKey ?? ''
  const env = {
    DATABASE_URL: databaseUrl,
    DISPATCH_DATA_DIR: join(folder, 'data'),
    DISPATCH_MASTER_KEY: newKey,
    DISPATCH_KEYS: dataKeys.folder
  }
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
      /^2 rows were rewrapped; all 2 secrets and the data keys \(1\) are under the master key \w{16}\. Restart every process without DISPATCH_MASTER_KEY_PREVIOUS; keep the old key as long as backups need it\.\n$/,
    stderr: ''
  })
  t.notOk([oldKey, newKey].some((key) => JSON.stringify(done).includes(key)))
  has(t, await run(['keys', 'rotate'], { ...both, DISPATCH_KEYS: '' }), { code: 1, stderr: /, and DISPATCH_KEYS is not set: / })
  has(t, await run(['keys', 'rotate'], { ...both, DISPATCH_KEYS: join(folder, 'others') }), {
    code: 1,
    stderr: /^DISPATCH_KEYS has not all of the data keys that the database names: those of the companies \d are missing\./
  })
  has(t, await run(['keys', 'rotate'], both), {
    code: 0,
    stdout: /^0 rows were rewrapped; all 2 secrets and the data keys \(1\) are under the master key \w{16}\.\n$/
  })
  t.equal((await send('GET', '/healthz')).status, 200)
  // What it has read before it remembers; one that begins has the new key alone.
  const fresh = await startService(t, {
    databaseUrl,
    config: { dataKeys, masterKey: newKey, dataDirectory: app.get('config').dataDirectory }
  })
  has(t, await fresh.send('GET', `/api/v1/documents/${id}`), { status: 200, body: /^%PDF-/ })
})

await t.test('keys renew gives another key to who has lost one, and to nobody else', async (t) => {
  const databaseUrl = await seededDatabase(t)
  const folder = t.testdir()
  const dataKeys = { folder: join(folder, 'keys') }
  const { app, send } = await startService(t, { databaseUrl, config: { dataKeys }, replacements: { renderer: quickRenderer } })
  await send('POST', '/api/invoicing', { body: invoiceRequest() })
  const env = {
    DATABASE_URL: databaseUrl,
    DISPATCH_DATA_DIR: join(folder, 'data'),
    DISPATCH_MASTER_KEY: app.get('config').masterKey ?? ''
  }
  has(t, await run(['keys', 'renew'], env), { code: 1, stderr: 'DISPATCH_KEYS is not set: there are no data keys to renew.\n' })
  const kept = { ...env, DISPATCH_KEYS: dataKeys.folder }
  has(t, await run(['keys', 'renew'], kept), { code: 0, stdout: /^Every data key .* is there: nothing was changed\.\n$/ })
  rmSync(dataKeys.folder, { recursive: true })
  has(t, await run(['keys', 'renew'], kept), {
    code: 0,
    stdout: /^Companies that get another data key with what they store next: \d+\.\n$/
  })
  has(t, await run(['keys', 'seal'], kept), {
    code: 0,
    stdout: /^0 values of the database and 0 files were sealed that were stored as they are\.\n$/
  })
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

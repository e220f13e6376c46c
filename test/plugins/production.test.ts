import { demo } from '@dispatch/core'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Config } from '../../plugins/config/config.ts'
import { openKeyring } from '../../plugins/config/master-keys.ts'
import { prepareDatabase } from '../../plugins/config/prepare-database.ts'
import { refuseDevelopmentDefaults } from '../../plugins/config/production-checks.ts'
import { lacks } from '../support/matching.ts'
import { testDatabase } from '../support/postgres.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { startService, testConfig } from '../support/service.ts'

const folder = t.testdir()
const config = (changes: Partial<Config> = {}): Config => testConfig(folder, { environment: 'production', ...changes })
const strong = 'vendor:R8w2mX0qLz5vT1nB7cJ4'

await t.test('a database that was filled for development is refused, until nobody can use the accounts that everybody knows', async (t) => {
  const { app } = await startService(t, { config: { environment: 'production' }, replacements: { renderer: quickRenderer } })
  const disable = (email: string) =>
    app.get('database').owner.updateTable('users').set({ disabled_at: new Date() }).where('email', '=', email).execute()
  for (const { email } of [demo.admin, demo.operator]) {
    await t.rejects(prepareDatabase(app), {
      name: 'ConfigError',
      message:
        `The database was filled for development: everybody knows its account ${email}; use another database, or disable the account first.`
    })
    await disable(email)
  }
  await prepareDatabase(app)
})

await t.test('a database of its own is taken, and nothing is put into it', async (t) => {
  const { url: databaseUrl } = await testDatabase(t)
  const { app } = await startService(t, { databaseUrl, config: { environment: 'production' }, replacements: { renderer: quickRenderer } })
  await prepareDatabase(app)
  for (const table of ['companies', 'users', 'configurations'] as const) {
    t.same(await app.get('database').owner.selectFrom(table).selectAll().execute(), [], table)
  }
})

const nobody = { byEmail: () => Promise.resolve([]) }

await t.test('a key that lies beside the data is refused', async (t) => {
  for (const changes of [{ masterKeyFile: join(folder, 'keys/master') }, { previousMasterKeyFile: join(folder, 'old.key') }]) {
    await t.rejects(refuseDevelopmentDefaults(config(changes), nobody), {
      name: 'ConfigError',
      message: /lies in the data directory: whoever copies the data would have its key; keep it elsewhere\.$/
    })
  }
  await refuseDevelopmentDefaults(config({ masterKeyFile: `${folder}.key` }), nobody)
  const used = t.testdir({ 'master.key': 'a development key' })
  await t.rejects(refuseDevelopmentDefaults(config({ dataDirectory: used }), nobody), {
    message: /master\.key is the master key of a development installation/
  })
})

await t.test('passwords for vendors\' events that could be guessed are refused, and not told', async (t) => {
  for (const password of ['password', 'long-random-password', 'changeme', 'aaaaaaaaaaaaaaaaaaaaaaaa', 'abababababababababab', 'vendor']) {
    const refused = refuseDevelopmentDefaults(config({ webhookAuth: { GOOD: strong, MAILEVA: `vendor:${password}` } }), nobody)
    await t.rejects(refused, { message: /^The password of DISPATCH_WEBHOOKS_ENDPOINT_AUTH_MAILEVA could be guessed/ }, password)
    const reported: unknown = await refused.catch(String)
    lacks(t, reported, `:${password}`)
  }
  await refuseDevelopmentDefaults(config({ webhookAuth: { GOOD: strong } }), nobody)
})

await t.test('a master key that somebody made up is refused; development takes it', async (t) => {
  const made = ['0123456789abcdef0123456789abcdef', 'a'.repeat(32), '\0'.repeat(32)].map((text) => Buffer.from(text).toString('base64'))
  for (const masterKey of made) {
    await t.rejects(openKeyring(config({ masterKey })), {
      name: 'ConfigError',
      message: 'DISPATCH_MASTER_KEY is not random: take one from `openssl rand -base64 32`.'
    })
    await openKeyring(config({ environment: 'development', masterKey }))
  }
  for (let turn = 0; turn < 1000; turn++) await openKeyring(config({ masterKey: randomBytes(32).toString('base64') }))
})

await t.test('the master key comes from its variable or its file, and the one before cannot be the same', async (t) => {
  const [key, before] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const masterKeyFile = join(t.testdir(), 'key')
  writeFileSync(masterKeyFile, key, { mode: 0o600 })
  const without = config()
  delete without.masterKey
  const fromFile = await openKeyring({ ...without, masterKeyFile })
  t.equal(fromFile.kid, (await openKeyring(config({ masterKey: key }))).kid)
  t.equal((await openKeyring({ ...without, masterKeyFile, previousMasterKey: before })).kids.length, 2)
  await t.rejects(openKeyring({ ...without, masterKeyFile, previousMasterKey: key }), {
    name: 'ConfigError',
    message: /^DISPATCH_MASTER_KEY_PREVIOUS is the key of DISPATCH_MASTER_KEY/
  })
  await t.rejects(openKeyring(without), { name: 'MasterKeyError', message: /^DISPATCH_MASTER_KEY is not set/ })
  await t.rejects(openKeyring({ ...without, masterKeyFile, previousMasterKey: 'c2hvcnQ=' }), {
    name: 'MasterKeyError',
    message: /^DISPATCH_MASTER_KEY_PREVIOUS does not hold 32 bytes/
  })
})

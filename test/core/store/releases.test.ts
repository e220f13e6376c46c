import { type Kysely, sql } from 'kysely'
import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { type Database, openDatabase } from '../../../core/packages/database/database.ts'
import { createFreshness } from '../../../core/packages/database/freshness.ts'
import { templateLanguage } from '../../../core/packages/documents/index.ts'
import { followCommonLanguage } from '../../../core/packages/features/templates/store/common-language.ts'
import type { SharedTemplate } from '../../../core/packages/features/templates/store/shared-templates.ts'
import { tablesIn } from '../../../core/packages/features/templates/store/tables.ts'
import { createTemplateStore } from '../../../core/packages/features/templates/store/templates.ts'
import { migrate, schemaState } from '../../../core/store/migrate.ts'
import { forgetProcess, recordProcess } from '../../../core/store/vendor/provider-processes.ts'
import { has } from '../../support/matching.ts'
import { testDatabase } from '../../support/postgres.ts'

async function begin (t: Test): Promise<Database> {
  const { url } = await testDatabase(t)
  const database = openDatabase({ connectionString: url }, { connections: 2, onError: (error) => t.fail(error.message) })
  t.teardown(() => database.close())
  return database
}

/** What a newer release has left: a migration that this one does not know, its version, and what it needs others to know. */
async function leaveNewer ({ owner }: Database, needs: string): Promise<void> {
  await sql`insert into kysely_migration (name, timestamp) values ('999-next', now()::text)`.execute(owner)
  await sql`alter table documents add column next integer`.execute(owner)
  await sql`update releases set newest = '1.99.0', needs = ${needs}`.execute(owner)
}

const releaseOf = ({ owner }: Database) => owner.selectFrom('releases').select(['newest', 'needs']).executeTakeFirstOrThrow()

await t.test('an empty database has all migrations to run, and afterwards none', async (t) => {
  const database = await begin(t)
  const { pending, unknown } = await schemaState(database)
  t.equal(pending.at(0), '001-foundation')
  t.equal(pending.length, readdirSync(new URL('../../../core/store/migrations/', import.meta.url)).length)
  t.same(unknown, [])
  t.same((await migrate(database)).pending, pending)
  t.same((await schemaState(database)).pending, [])
})

await t.test('an older release works beside a newer one that needs nothing of it, and takes nothing back', async (t) => {
  const database = await begin(t)
  await migrate(database)
  const { needs } = await releaseOf(database)
  await leaveNewer(database, needs)
  const state = await migrate(database)
  has(t, state, { unknown: ['999-next'], newest: '1.99.0' })
  t.same(await releaseOf(database), { newest: '1.99.0', needs })
})

await t.test('an older release does not start on a schema that it does not know', async (t) => {
  const database = await begin(t)
  await migrate(database)
  await leaveNewer(database, '999-next')
  await t.rejects(migrate(database), {
    message: /^This is version \S+, which is too old for the database: version 1\.99\.0 has changed it \(999-next\)\./
  })
})

const creating = (name: string, uses = '') => () =>
  Promise.resolve({
    up: (db: Kysely<unknown>) => sql.raw(`create table ${name} (id integer primary key ${uses})`).execute(db).then(() => undefined)
  })

await t.test('the migrations of features are run in their order, after those of the release, also on a database in use', async (t) => {
  const database = await begin(t)
  // By name, `ash/001` would come before the `oak/001` that it builds on.
  const ofFeatures = { 'oak/001': creating('oaks'), 'ash/001': creating('ashes', 'references oaks') }
  const { pending } = await migrate(database, { ofFeatures })
  t.same(pending.slice(-2), ['oak/001', 'ash/001'])
  t.same((await schemaState(database, ofFeatures)).pending, [])
  const more = { ...ofFeatures, 'ash/002': creating('older_ashes', 'references ashes') }
  t.same((await migrate(database, { ofFeatures: more })).pending, ['ash/002'])
  await sql`delete from kysely_migration where name = '077-delivery-reasons'`.execute(database.owner)
  await sql`alter table steps drop column delivery_reason`.execute(database.owner)
  t.same((await migrate(database, { ofFeatures: more })).pending, ['077-delivery-reasons'], 'nor does a later one of the release mind them')
})

await t.test('a migration that reads whole tables is told of when it begins, and as long as it runs', async (t) => {
  const database = await begin(t)
  await migrate(database)
  const lines: object[] = []
  const heard = Promise.withResolvers<undefined>()
  const log = {
    info (facts: object, message: string) {
      if (lines.push({ ...facts, message }) === 3) heard.resolve(undefined)
    }
  }
  const before = 'select pg_advisory_lock(77)'
  const ofFeatures = { 'oak/001': () => creating('oaks')().then((migration) => ({ ...migration, before })) }
  await database.session(async (client) => {
    await client.query(before)
    const migrated = migrate(database, { ofFeatures, log, reportEvery: 10 })
    await heard.promise
    await client.query('select pg_advisory_unlock_all()')
    await migrated
  })
  const migrations = ['oak/001']
  has(t, lines.slice(0, 3), [
    { migrations, message: 'a migration reads whole tables, without a limit of time' },
    { migrations, seconds: Number, message: 'a migration still runs' },
    { migrations, seconds: Number, message: 'a migration still runs' }
  ])
})

await t.test('a feature that was removed leaves its tables, and comes back to them', async (t) => {
  const database = await begin(t)
  const ofFeatures = { 'oak/001': creating('oaks') }
  await migrate(database, { ofFeatures })
  const without = await migrate(database)
  has(t, without, { pending: [], unknown: [] })
  t.same((await migrate(database, { ofFeatures: { 'ash/001': creating('ashes') } })).pending, ['ash/001'])
  t.same((await migrate(database, { ofFeatures })).pending, [])
})

await t.test('nothing is changed where the proof fails', async (t) => {
  const database = await begin(t)
  await t.rejects(migrate(database, { prove: () => Promise.reject(new Error('another key')) }), { message: 'another key' })
  const { rows } = await sql`select from information_schema.tables where table_schema = 'public'`.execute(database.owner)
  t.same(rows, [])
})

const template = (digest: string): SharedTemplate => ({
  id: 1,
  name: 'letter',
  digest,
  source: { name: 'letter' } as SharedTemplate['source'],
  schema: {},
  sample: {},
  yaml: digest
})

await t.test('the files of shared templates are told as they were published, but not of templates with pictures', async (t) => {
  const database = await begin(t)
  await migrate(database)
  const templates = createTemplateStore(database, createFreshness(database))
  const pictured: SharedTemplate = {
    ...template('two'),
    id: 2,
    name: 'pictured letter',
    source: { name: 'letter', assets: { logo: 'data:image/png;base64,' } } as unknown as SharedTemplate['source']
  }
  await templates.publishShared([{ ...template('one'), schema: { b: [], a: 1 }, sample: { c: null } }, pictured], new Date())
  t.same(await templates.listSharedFiles(), [{ yaml: 'one', schema: { a: 1, b: [] }, sample: { c: null } }])
  await templates.publishShared([template('three')], new Date())
  t.same(await templates.listSharedFiles(), [{ yaml: 'three', schema: {}, sample: {} }])
})

await t.test('an older release publishes no shared template again, and reads the newest one that it can', async (t) => {
  const database = await begin(t)
  await migrate(database)
  const templates = createTemplateStore(database, createFreshness(database))
  t.equal(await templates.publishShared([template('one')], new Date()), 1)
  t.equal(await templates.publishShared([template('two')], new Date()), 1)
  const { needs } = await releaseOf(database)
  await leaveNewer(database, needs)
  t.equal(await templates.publishShared([template('one')], new Date()), 0)
  await database.owner.insertInto('companies').values({ name: 'Acme', created_at: new Date() }).execute()
  await tablesIn(database.owner).updateTable('template_versions').set({ language: 99 }).where('version', '=', 2).execute()
  has(t, await templates.find(1, 1), { version: 1, digest: 'one' })
  has(t, await templates.findNamed(1, 'letter'), { version: 1 })
  t.same((await templates.listShared()).map(({ version }) => version), [1])
  await t.rejects(templates.findVersion(1, 1, 2), { message: /^Version 2 of the template 1 was written for/ })
})

await t.test('as long as a process lives that reads less, shared templates stay in the version that it can read', async (t) => {
  const database = await begin(t)
  await migrate(database)
  let time = 0
  const templates = createTemplateStore(database, createFreshness(database), followCommonLanguage(database, () => time))
  await templates.publishShared([template('one'), { ...template('new'), id: 2, name: 'new' }], new Date())
  await templates.publishShared([template('two')], new Date())
  const versions = tablesIn(database.owner).updateTable('template_versions')
  await versions.set({ language: 1 }).where('template_id', '=', 1).where('version', '=', 1).execute()
  await database.owner.insertInto('companies').values({ name: 'Acme', created_at: new Date() }).execute()
  // As release 1.1 inserts it.
  await sql`insert into provider_processes (process_id, machine, pid, number, providers, seen_at)
    values ('0198c5a0-0000-7000-8000-000000000001', 'a', 1, 0, '[]', now())`.execute(database.owner)
  const own = { processId: '0198c5a0-0000-7000-8000-000000000002', machine: 'b', pid: 2, number: 0, providers: [], templateLanguage }
  await recordProcess(database, own)
  has(t, await templates.find(1, 1), { version: 1, digest: 'one' })
  has(t, await templates.findNamed(1, 'letter'), { version: 1, digest: 'one' })
  has(t, await templates.find(1, 2), { version: 1, digest: 'new' }, 'which has no version that it could read')
  t.equal(await templates.publishShared([template('two')], new Date()), 0, 'nor is it published again')
  await forgetProcess(database, '0198c5a0-0000-7000-8000-000000000001')
  has(t, await templates.find(1, 1), { version: 1 }, 'as it was two seconds ago')
  time = 2_001
  has(t, await templates.find(1, 1), { version: 2, digest: 'two' })
  has(t, await templates.findNamed(1, 'letter'), { version: 2, digest: 'two' })
})

await t.test('a template of a company that only a newer release can read is told of', async (t) => {
  const database = await begin(t)
  await migrate(database)
  const { company_id: id } = await database.owner.insertInto('companies').values({ name: 'Acme', created_at: new Date() })
    .returning('company_id').executeTakeFirstOrThrow()
  await tablesIn(database.owner).insertInto('templates').values({
    template_id: 1000,
    company_id: id,
    name: 'own',
    version: 1,
    updated_at: new Date()
  })
    .execute()
  await tablesIn(database.owner).insertInto('template_versions').values({
    template_id: 1000,
    version: 1,
    company_id: id,
    digest: 'x',
    source: '{}',
    schema: '{}',
    sample: '{}',
    created_at: new Date(),
    published_at: new Date(),
    language: 99
  }).execute()
  await t.rejects(createTemplateStore(database, createFreshness(database)).find(id, 1000), {
    message: /^Version 1 of the template 1000 was written for a newer version of the service/
  })
})

import { createKeyring, type JsonObject } from '@dispatch/common'
import { sealStored } from '@dispatch/core'
import { createLocalFiles } from '@dispatch/files'
import { type RawBuilder, sql } from 'kysely'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { contains, has, lacks } from '../../../../test/support/matching.ts'
import { seededDatabase } from '../../../../test/support/service.ts'
import { openDatabase } from '../../database/database.ts'
import { createDataKeys, noDataKeys, renewDataKeys } from '../sealing/data-keys.ts'
import { listSealedColumns } from '../sealing/seal-rows.ts'
import { openedTexts, openRow, openText, sealed, SealedColumns, sealedEvent, sealedText } from '../sealing/sealed-columns.ts'

const connectionString = await seededDatabase(t)
const sealedColumns = new SealedColumns()
const onError = (error: Error): void => void t.fail(error.message)
const database = openDatabase({ connectionString }, { plugins: [sealedColumns], onError })
/** Reads what stands in the database, as a backup has it. */
const bare = openDatabase({ connectionString }, { onError })
t.teardown(() => Promise.all([database.close(), bare.close()]))

const folder = t.testdir()
const keysOf = (below = 'keys') => {
  const note = () => undefined
  const log = { debug: note, info: note, warn: note, error: note }
  return createDataKeys({ place: createLocalFiles(join(folder, below)), keyring, database, log })
}
const keyring = createKeyring(randomBytes(32))
const { owner } = database
sealedColumns.use(keysOf())

/** What stands in a table of its own: no rule of the service is in the way. */
await sql`create table kept (company_id integer not null, number integer, made jsonb, body text)`.execute(owner)
const put = (value: RawBuilder<unknown>) => sql`insert into kept ${value}`.execute(owner)
const json = (value: unknown): RawBuilder<unknown> => sql`${JSON.stringify(value)}::jsonb`
type Kept = { made: any, body: string | null, number: number }
const read = async ({ owner: queries }: Pick<typeof database, 'owner'>, number: number): Promise<Kept> => {
  const { rows: [row] } = await sql<Kept>`select number, made, body from kept where number = ${number}`.execute(queries)
  return row ?? { number, made: undefined, body: null }
}

await t.test('what is sealed is read as it was written, and nothing of it stands in the database', async (t) => {
  const value = { to: 'ada@lovelace.example', file: { fileId: 'b26f8f7c-58ae-4a53-a3c9-2f5ef6f7c5b0' }, sum: 1.5, text: 'é'.repeat(2000) }
  const text = `{"to":"ada@lovelace.example", "number": 1.0}`
  await put(sql`values (1, 1, ${json(await sealed(owner, 1, value))}, ${await sealedText(owner, 1, text)})`)
  const row = await read(database, 1)
  t.strictSame(row.made, value)
  t.equal(row.body, text, 'to the letter')
  const stored = JSON.stringify(await read(bare, 1))
  lacks(t, stored, 'lovelace')
  contains(t, stored, `"fileId":"${value.file.fileId}"`, 'the files that it names are found by statements')
  t.notSame(await sealed(owner, 1, value), await sealed(owner, 1, value), 'each value has a nonce of its own')
  await sql`update kept set made = made || '{"given":"theirs"}' where number = 1`.execute(owner)
  t.strictSame((await read(database, 1)).made, { ...value, given: 'theirs' }, 'a statement adds to it without its key')
  t.strictSame(await sealed(owner, 1, {}), {}, 'an empty one says nothing')
})

await t.test('an event has its number, which the database gives, and what lists tell it apart by', async (t) => {
  const data = { dispatchId: 'd1', test: true, to: 'ada@lovelace.example' }
  const text = await sealedEvent(owner, 1, JSON.stringify({ type: 'x', sequence: null, data }))
  await put(sql`values (1, 2, null, ${`${text.slice(0, -1)},"sequence":7}`})`)
  t.equal((await read(database, 2)).body, JSON.stringify({ type: 'x', sequence: 7, data }))
  has(t, JSON.parse((await read(bare, 2)).body ?? ''), { shown: { dispatchId: 'd1', test: true } })
})

await t.test('what a client writes is never taken for sealed', async (t) => {
  const stolen = await sealed(owner, 2, { secret: 'of another company' }) as JsonObject
  for (const keys of [noDataKeys, keysOf()]) {
    sealedColumns.use(keys)
    const own = await sealed(owner, 1, stolen)
    await put(sql`values (1, 3, ${json(own)}, ${await sealedText(owner, 1, JSON.stringify(stolen))})`)
    t.strictSame(await read(database, 3), { number: 3, made: stolen, body: JSON.stringify(stolen) })
    await sql`delete from kept where number = 3`.execute(owner)
  }
})

await t.test('without its key a value throws where somebody looks into it; the rest of its row, and other rows, can be read', async (t) => {
  for (const keys of [keysOf('elsewhere'), noDataKeys]) {
    sealedColumns.use(keys)
    await put(sql`values (1, 4, '{"plain":true}', null)`)
    const { rows: [row, other] } = await sql<Kept>`select number, made from kept where number in (1, 4) order by number`.execute(owner)
    t.equal(row?.number, 1)
    t.strictSame(other?.made, { plain: true })
    const made = row?.made as object
    for (const look of [() => JSON.stringify(made), () => Reflect.ownKeys(made), () => ({ ...made })]) {
      t.throws(look, { name: 'StorageUnavailable' })
    }
    await t.rejects(read(database, 2), { name: 'StorageUnavailable' }, 'a text is nothing else than itself')
    await sql`delete from kept where number = 4`.execute(owner)
  }
  sealedColumns.use(keysOf())
})

await t.test('of a row in JSON only its columns are opened: what stands deeper is text, whatever it looks like', async (t) => {
  const strange = { body: '{"sealed:1":"x"}', data: { 'sealed:1': 'x' }, made: [{ common: '{"sealed:1":""}' }] }
  for (const keys of [noDataKeys, keysOf()]) {
    sealedColumns.use(keys)
    const row = { number: 1, metadata: strange, rows: [strange], made: await sealed(owner, 1, strange), body: null }
    t.strictSame(await openRow(owner, row), { ...row, made: strange })
    const stored = keys === noDataKeys ? [] : [{ column: 'made', text: JSON.stringify(strange) }]
    t.strictSame(await openedTexts(owner, row), stored)
  }
})

await t.test('what was sealed under a key that is lost for good names nobody, and an export says so in its place', async (t) => {
  const row = { made: await sealed(owner, 2, { to: 'ada' }), body: await sealedText(owner, 2, 'ada'), common: 'plain' }
  const place = createLocalFiles(join(folder, 'keys'))
  await place.removeBelow('2')
  sealedColumns.use(keysOf())
  const opens: Promise<unknown>[] = [openRow(owner, row), openedTexts(owner, row), openText(owner, row.body)]
  for (const open of opens) {
    await t.rejects(open, { name: 'StorageUnavailable' }, 'it may come back')
  }
  t.strictSame(await renewDataKeys(database, { place }), [2])
  sealedColumns.use(keysOf())
  const body = await sealedText(owner, 2, 'of the other key')
  const said = 'sealed under a data key that is lost'
  for (const how of ['looked for', 'remembered']) {
    t.strictSame(await openRow(owner, row), { made: said, body: said, common: 'plain' }, how)
    t.strictSame(await openedTexts(owner, { ...row, body }), [{ column: 'body', text: 'of the other key' }])
    t.strictSame([await openText(owner, row.body), await openText(owner, row.common)], [undefined, 'plain'])
  }
})

await t.test('an altered value opens for nobody, and neither does one without the key, wherever a copy of it is', async (t) => {
  const { made } = await read(bare, 1)
  const bytes = Buffer.from(String(made['sealed:1']), 'base64')
  for (const at of [3, 30, bytes.length - 1]) {
    const altered = Buffer.from(bytes)
    altered[at] = (altered[at] ?? 0) ^ 1
    await put(sql`values (1, 5, ${json({ 'sealed:1': altered.toString('base64') })}, null)`)
    const row = await read(database, 5)
    t.throws(() => row.made.to)
    await sql`delete from kept where number = 5`.execute(owner)
  }
  const keys = keysOf()
  await keys.shred(1)
  sealedColumns.use(keys)
  const { rows: [closed] } = await sql<Kept>`select made from kept where number = 1`.execute(owner)
  t.throws(() => closed?.made.to, { name: 'StorageUnavailable' })
  await owner.deleteFrom('data_keys').execute()
  sealedColumns.use(keysOf())
})

await t.test('what was stored before there were keys is sealed later, in however many runs', async (t) => {
  const values = (number: number) => ({ to: `ada${number}@lovelace.example` })
  const event = { type: 'x', sequence: 3, data: { dispatchId: 'd2', to: 'ada@lovelace.example' } }
  await sql`truncate kept`.execute(owner)
  await put(sql`select 1 + number % 2, number, jsonb_build_object('to', 'ada' || number || '@lovelace.example'), ${JSON.stringify(event)}
    from generate_series(1, 500) as number`)
  await put(sql`values (1, 501, '{}', null)`)
  const files = createLocalFiles(join(folder, 'files'))
  await files.put('documents/1/2026-03-14/a', Buffer.from('Ada Lovelace'))
  await files.put('received/1/b', Buffer.from('Ada Lovelace'))
  const ended = new Error('The process has ended.')
  let max = 120
  const keys = keysOf()
  sealedColumns.use({ ...keys, ofCompany: (companyId) => max-- > 0 ? keys.ofCompany(companyId) : Promise.reject(ended) })
  const sealing = createLocalFiles(join(folder, 'files'), keys)
  await t.rejects(sealStored(database, sealing), ended)
  sealedColumns.use(keys)
  // However many are plain, no statement has more than 50 values.
  let [now, atOnce] = [0, 0]
  sealedColumns.use({
    ...keys,
    async ofCompany (companyId) {
      atOnce = Math.max(atOnce, ++now)
      await new Promise(setImmediate)
      return keys.ofCompany(companyId).finally(() => now--)
    }
  })
  const { values: rest, files: count } = await sealStored(database, sealing)
  t.ok(atOnce <= 50, `${atOnce} at once`)
  sealedColumns.use(keys)
  t.ok(rest >= 880 && rest <= 1_000)
  t.equal(count, 2)
  t.strictSame(await sealStored(database, sealing), { values: 0, files: 0, left: 0 })
  await put(sql`values (1, 502, '{"to":"ada@lovelace.example"}', null)`)
  await bare.owner.transaction().execute(async (queries) => {
    await sql`select from kept where number = 502 for update`.execute(queries)
    t.strictSame(await sealStored(database, sealing), { values: 0, files: 0, left: 1 }, 'what somebody changes is told')
  })
  t.strictSame(await sealStored(database, sealing), { values: 1, files: 0, left: 0 })
  const { rows } = await sql<{ text: string }>`select string_agg(made::text || body, '') as text from kept`.execute(bare.owner)
  lacks(t, String(rows[0]?.text), 'lovelace')
  for (const number of [1, 250, 500]) {
    t.strictSame(await read(database, number), { number, made: values(number), body: JSON.stringify(event) })
    has(t, JSON.parse((await read(bare, number)).body ?? ''), { shown: { dispatchId: 'd2' } })
  }
  const stored = await Promise.all((await readdir(join(folder, 'files'), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1')))
  t.equal(stored.length, 2)
  lacks(t, stored.join(), 'Lovelace')
  t.strictSame(await sealing.read('received/1/nothing'), undefined)
  await rm(join(folder, 'files'), { recursive: true })
})

await t.test('these columns are sealed, and no other: whoever adds one of these names seals it', async (t) => {
  await sql`drop table kept`.execute(owner)
  t.strictSame((await listSealedColumns(database)).map(({ table, column }) => `${table}.${column}`), [
    'approvals.request',
    'batch_rows.body',
    'batches.common',
    'callbacks.body',
    'callbacks_to_endpoints.body',
    'dispatches.data',
    'drafts.request',
    'exchange_log.exchanges',
    'feed_events.body',
    'proposals.request',
    'steps.data',
    'steps.fields',
    'steps.made',
    'steps.request_settings'
  ])
})

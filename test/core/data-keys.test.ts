import { createKeyring, type Keyring } from '@dispatch/common'
import { createLocalFiles } from '@dispatch/files'
import { createDataKeys, type DataKeys, type KeyPlace, renewDataKeys, rewrapDataKeys } from '@dispatch/tables'
import { randomBytes } from 'node:crypto'
import { copyFile, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openDatabase } from '../../core/packages/database/database.ts'
import { directory } from '../fixtures/providers/folders.ts'
import { contains, has } from '../support/matching.ts'
import { seededDatabase } from '../support/service.ts'

const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: (error) => t.fail(error.message) })
t.teardown(() => database.close())
const [before, after] = [randomBytes(32), randomBytes(32)]
const old = createKeyring(before)

type Line = [facts: object, message: string]

function open (
  folder: string,
  keyring: Keyring = old,
  place: KeyPlace = createLocalFiles(folder)
): { keys: DataKeys, lines: Line[] } {
  const lines: Line[] = []
  const note = (facts: object, message: string) => void lines.push([facts, message])
  const log = { debug: note, info: note, warn: note, error: note }
  return { lines, keys: createDataKeys({ place, keyring, database, log }) }
}

/** A folder for keys, and a database that knows of none. */
async function begin (t: Test): Promise<string> {
  await database.owner.deleteFrom('data_keys').execute()
  return directory(t)
}

const failed = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, (error: unknown) => error)
const fileOf = (companyId: number): string => `documents/${companyId}/2026-03-14/a`

await t.test('processes that begin together give a company one key, and each company another', async (t) => {
  const folder = await begin(t)
  const processes = [open(folder), open(folder), open(folder)]
  const given = await Promise.all(processes.flatMap(({ keys }) => [1, 2].map((id) => keys.current(fileOf(id)))))
  const [first, second] = given
  t.strictSame(given, [first, second, first, second, first, second])
  t.notSame(first, second)
  t.equal(first?.secret.length, 32)
  for (const id of ['1', '2']) t.equal((await readdir(join(folder, id))).length, 1, 'those that came later have left nothing')
  t.equal(await processes[0]?.keys.current('database/a.json'), undefined, 'what is of no company has none')
  t.notOk((await readFile(join(folder, '1', (await readdir(join(folder, '1')))[0] ?? ''))).includes(first?.secret ?? ''))
  t.strictSame(await open(folder).keys.find(fileOf(1), first?.id ?? Buffer.of()), first?.secret, 'another process finds it by its id')
})

await t.test('a process that ends while it makes a key leaves none that anything is sealed with', async (t) => {
  const folder = await begin(t)
  const place = createLocalFiles(folder)
  const ended = new Error('The process has ended.')
  const before = open(folder, old, { ...place, put: () => Promise.reject(ended) })
  const behind = open(folder, old, { ...place, put: (path, bytes) => place.put(path, bytes).then(() => Promise.reject(ended)) })
  for (const { keys } of [before, behind]) t.equal(await failed(keys.current(fileOf(1))), ended)
  t.equal((await readdir(join(folder, '1'))).length, 1, 'kept before it was named')
  const { keys } = open(folder)
  const given = await keys.current(fileOf(1))
  t.strictSame(await open(folder).keys.current(fileOf(1)), given)
})

await t.test('of a company that is gone no key stays behind', async (t) => {
  const folder = await begin(t)
  const { keys } = open(folder)
  has(t, await failed(keys.current(fileOf(4_000_000))), { code: '23503' })
  t.strictSame(await readdir(join(folder, '4000000')).catch(() => []), [])
})

await t.test('a key of one company opens nothing of another', async (t) => {
  const folder = await begin(t)
  const { keys } = open(folder)
  const [mine, theirs] = [await keys.current(fileOf(1)), await keys.current(fileOf(2))]
  has(t, await failed(open(folder).keys.find(fileOf(1), theirs?.id ?? Buffer.of())), { name: 'StorageUnavailable' })
  const nameIn = async (id: string): Promise<string> => join(folder, id, (await readdir(join(folder, id)))[0] ?? '')
  await copyFile(await nameIn('2'), await nameIn('1'))
  has(t, await failed(open(folder).keys.find(fileOf(1), mine?.id ?? Buffer.of())), { cause: { name: 'SealError' } })
})

await t.test('a key that is away is not replaced: nothing is stored until it is there again, and the log says so', async (t) => {
  const folder = await begin(t)
  await open(folder).keys.current(fileOf(1))
  const elsewhere = await directory(t)
  const { keys, lines } = open(elsewhere)
  has(t, await failed(keys.current(fileOf(1))), { name: 'StorageUnavailable', state: 'away', isGone: false })
  t.strictSame(await readdir(elsewhere), [])
  t.ok(lines.length > 0)
  contains(t, String(await failed(keys.ready())), /^Error: DISPATCH_KEYS has none of the data keys that the database names: /)
  await open(folder).keys.ready()
  const { keys: back } = open(folder)
  t.ok(await back.current(fileOf(1)))
})

await t.test('one that is lost for good is renewed when an operator says so, and no other', async (t) => {
  const folder = await begin(t)
  const place = createLocalFiles(folder)
  const { keys } = open(folder)
  const lost = await keys.current(fileOf(1))
  const kept = await keys.current(fileOf(2))
  await rm(join(folder, '1'), { recursive: true })
  const { keys: remembering } = open(folder)
  has(t, await failed(remembering.current(fileOf(1))), { name: 'StorageUnavailable', isGone: false })
  t.strictSame([await renewDataKeys(database, { place }), await renewDataKeys(database, { place })], [[1], []])
  const { keys: fresh } = open(folder)
  const isGone = { name: 'StorageUnavailable', isGone: true }
  has(t, await failed(fresh.find(fileOf(1), lost?.id ?? Buffer.of())), isGone, 'lost for good before there is another one')
  t.notSame(await fresh.current(fileOf(1)), lost)
  has(t, await failed(fresh.find(fileOf(1), lost?.id ?? Buffer.of())), isGone)
  t.strictSame(await fresh.current(fileOf(2)), kept)
  t.strictSame(await remembering.current(fileOf(1)), await fresh.current(fileOf(1)), 'also in a process that remembers the lost one')
})

await t.test('a shredded key is gone from the place at once, and from this process', async (t) => {
  const folder = await begin(t)
  const { keys } = open(folder)
  const gone = await keys.current(fileOf(1))
  const kept = await keys.current(fileOf(2))
  await keys.shred(1)
  await keys.shred(1)
  t.strictSame(await readdir(folder), ['2'])
  has(t, await failed(keys.find(fileOf(1), gone?.id ?? Buffer.of())), { name: 'StorageUnavailable' })
  has(t, await failed(keys.current(fileOf(1))), { name: 'StorageUnavailable' })
  t.strictSame(await keys.find(fileOf(2), kept?.id ?? Buffer.of()), kept?.secret)
})

await t.test('the key of a company that is being deleted is missed by no start, and by no new master key', async (t) => {
  const folder = await begin(t)
  const { keys } = open(folder)
  for (const id of [1, 2]) await keys.current(fileOf(id))
  await keys.shred(2)
  const place = createLocalFiles(folder)
  await t.rejects(rewrapDataKeys(database, { place, keyring: old }), { message: /those of the companies 2 are missing/ })
  await database.owner.updateTable('companies').set({ disabled_at: new Date() }).where('company_id', '=', 2).execute()
  t.equal(await rewrapDataKeys(database, { place, keyring: old }), 1)
  await database.owner.deleteFrom('data_keys').where('company_id', '=', 1).execute()
  await open(folder).keys.ready()
})

await t.test('a new master key wraps the keys anew: they stay what they are, and the old one opens them no more', async (t) => {
  const folder = await begin(t)
  const place = createLocalFiles(folder)
  const given = await open(folder).keys.current(fileOf(1))
  const both = createKeyring(after, before)
  t.equal(await rewrapDataKeys(database, { place, keyring: both }), 1)
  t.equal(await rewrapDataKeys(database, { place, keyring: both }), 1)
  t.strictSame(await open(folder, createKeyring(after)).keys.current(fileOf(1)), given)
  has(t, await failed(open(folder).keys.current(fileOf(1))), { name: 'StorageUnavailable', cause: { name: 'SealError' } })
})

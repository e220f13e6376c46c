import { sql } from 'kysely'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { seededDatabase } from '../../../../test/support/service.ts'
import { openDatabase } from '../database.ts'
import { DatabaseUnavailable } from '../unavailable.ts'

// One of its connections is ended.
const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: () => undefined })
t.teardown(() => database.close())
await sql`create table told (number integer, company text)`.execute(database.owner)
await sql`create table locked (number integer primary key)`.execute(database.owner)
await sql`insert into locked values (1)`.execute(database.owner)
// Answers its transaction; "wrong" fails after it has written, "locked" waits for a row, "last" ends its connection.
await sql`create function tell(given jsonb, moment timestamptz) returns text language plpgsql as $$
begin
  insert into told values ((given->>'number')::integer, given->>'company');
  if given->>'wrong' is not null then
    raise exception using errcode = given->>'wrong';
  end if;
  if given->>'locked' is not null then
    perform from locked for update;
  end if;
  if given->>'last' is not null then
    perform pg_terminate_backend(pg_backend_pid());
  end if;
  return pg_current_xact_id();
end $$`.execute(database.owner)
const tell = async (company: number, number: number, more: object = {}): Promise<unknown> =>
  (await database.callFunction(company, 'tell', JSON.stringify({ number, company, ...more })))?.answer
const reported = async (): Promise<number[]> =>
  (await sql<{ number: number }>`with gone as (delete from told returning number) select number from gone order by number`.execute(
    database.owner
  )).rows.map(({ number }) => number)

await t.test('calls of one company share a transaction, those of another one do not', async (t) => {
  const answers = await Promise.all([tell(1, 0), tell(1, 1), tell(2, 2), tell(1, 3), tell(2, 4)])
  const [first, second, other] = answers
  t.strictSame(answers, [first, second, other, second, answers[4]])
  t.equal(new Set(answers).size, 4)
  t.strictSame(await reported(), [0, 1, 2, 3, 4])
})

await t.test('long calls share none', async (t) => {
  const long = { text: 'x'.repeat(200_000) }
  t.equal(new Set(await Promise.all([tell(1, 0, long), tell(1, 1, long), tell(1, 2, long)])).size, 3)
  t.strictSame(await reported(), [0, 1, 2])
})

await t.test('a call that the database refuses fails alone, and the others are made once', async (t) => {
  const [, refused, ...others] = await Promise.allSettled([tell(1, 0), tell(1, 1, { wrong: 'DC402' }), tell(1, 2), tell(1, 3)])
  has(t, refused, { status: 'rejected', reason: { code: 'DC402' } })
  t.ok(others.every(({ status }) => status === 'fulfilled'))
  t.strictSame(await reported(), [0, 2, 3])
})

await t.test('where the database is away, all of them fail, and none is made again', async (t) => {
  const [first, ...others] = await Promise.allSettled([tell(1, 0), tell(1, 1), tell(1, 2, { last: true })])
  t.equal(first.status, 'fulfilled')
  for (const other of others) t.ok(other.status === 'rejected' && other.reason instanceof DatabaseUnavailable)
  t.strictSame(await reported(), [0])
})

await t.test('a row that somebody has locked holds up its own call alone', async (t) => {
  let free: Promise<unknown> = Promise.resolve()
  await database.owner.transaction().execute(async (queries) => {
    await sql`select from locked for update`.execute(queries)
    const [, stuck, ...others] = [tell(1, 0), tell(1, 1, { locked: true }), tell(1, 2), tell(1, 3)]
    await Promise.all(others)
    free = Promise.resolve(stuck)
    t.equal(await Promise.race([stuck, pause(10, 'waits')]), 'waits')
  })
  await free
  t.strictSame(await reported(), [0, 1, 2, 3])
})

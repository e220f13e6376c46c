import { createOperator } from '@dispatch/accounts'
import { migrate, seedDemo } from '@dispatch/core'
import { createAdvisoryLock, type Database, type LockWait, openDatabase } from '@dispatch/database'
import { sql } from 'kysely'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { holderName } from '../../../core/packages/database/advisory-lock.ts'
import { prepareDatabase } from '../../../plugins/config/prepare-database.ts'
import { createApp } from '../../../plugins/container.ts'
import { createLogger } from '../../../plugins/hooks/logging.ts'
import { has } from '../../support/matching.ts'
import { testDatabase } from '../../support/postgres.ts'
import { quickRenderer } from '../../support/quick-renderer.ts'
import { testConfig } from '../../support/service.ts'

const open = (url: string): Database =>
  openDatabase({ connectionString: url }, { connections: 2, onError: (error) => t.fail(error.message) })

/** What `npm start` does before it listens. */
async function firstStart (url: string, folder: string): Promise<void> {
  const app = await createApp(testConfig(folder), { databaseUrl: url, log: createLogger('silent'), renderer: quickRenderer })
  try {
    await prepareDatabase(app)
  } finally {
    await app.close()
  }
}

/** What `operator create` does. */
async function createsOperator (url: string, email: string): Promise<void> {
  const database = open(url)
  try {
    await migrate(database)
    await seedDemo(database, new Date())
    await createOperator(database, { email, password: 'a good password' }, new Date())
  } finally {
    await database.close()
  }
}

/** As many tables as a database has. */
async function tables (database: Database): Promise<number> {
  const { rows } = await sql`select from pg_tables where schemaname in ('public', 'queue')`.execute(database.owner)
  return rows.length
}

await t.test('whoever prepares a database waits while another process does', async (t) => {
  const { url } = await testDatabase(t)
  const other = open(url)
  const [begun, gate] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const working = other.withAdvisoryLock(() => {
    begun.resolve(undefined)
    return gate.promise
  })
  await begun.promise
  const waiting = [firstStart(url, t.testdir()), createsOperator(url, 'ada@example.org')]
  await pause(1_000)
  t.equal(await tables(other), 0)
  gate.resolve(undefined)
  await working
  await Promise.all(waiting)
  t.ok(await tables(other) > 30)
  await other.close()
})

await t.test('who waits hears for whom, and gives up with that in the end', async (t) => {
  const { url } = await testDatabase(t)
  const other = open(url)
  const [begun, gate, heard] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const working = other.withAdvisoryLock(() => {
    begun.resolve(undefined)
    return gate.promise
  })
  await begun.promise
  const to = { setting: 'DATABASE_URL', config: { connectionString: url } }
  const waits: LockWait[] = []
  const onWait = (wait: LockWait): void => {
    if (waits.push(wait) === 2) heard.resolve(undefined)
  }
  const waiting = createAdvisoryLock(to, { onWait, reportEvery: 20 })(() => Promise.resolve('done'))
  await heard.promise
  const holder = `document-dispatch ${holderName()}`
  has(t, waits, [{ holder, backend: Number, since: Date, waited: 0 }, { holder }])
  await t.rejects(createAdvisoryLock(to, { limit: 30, reportEvery: 20 })(() => Promise.resolve()), {
    name: 'DatabaseUnavailable',
    reason: 'busy',
    why: new RegExp(`^another process prepares it \\(${holder}; .*since .*\\), for which this one has waited 0 seconds`)
  })
  gate.resolve(undefined)
  t.equal(await waiting, 'done')
  await working
  await other.close()
})

await t.test('whoever has the lock is told by the end of a long name of its machine, by which pods differ', (t) => {
  t.equal(holderName(7, 'mail'), 'alone, process 7 on mail')
  t.equal(holderName(1, 'document-dispatch-worker-7d9c5b6f8-abcde'), 'alone, process 1 on ch-worker-7d9c5b6f8-abcde')
  t.equal(`document-dispatch ${holderName(4194304, 'x'.repeat(64))}`.length, 63)
  t.end()
})

await t.test('works that are done alone do not overlap; one that fails is over', async (t) => {
  const { url } = await testDatabase(t)
  const [first, second] = [open(url), open(url)]
  let [atOnce, max] = [0, 0]
  const work = async (): Promise<void> => {
    max = Math.max(max, ++atOnce)
    await pause(20)
    atOnce--
    throw new Error('failed')
  }
  const ends = await Promise.allSettled([first, second, first, second].map(({ withAdvisoryLock: alone }) => alone(work)))
  t.strictSame(ends.map((end) => end.status === 'rejected' && (end.reason as Error).message), ['failed', 'failed', 'failed', 'failed'])
  t.equal(max, 1)
  await Promise.all([first.close(), second.close()])
})

for (const round of [0, 1, 2]) {
  await t.test(`two first starts beside two makings of an operator: all end well (${round})`, async (t) => {
    const { url } = await testDatabase(t)
    const begins = [
      () => firstStart(url, t.testdir()),
      () => createsOperator(url, 'ada@example.org'),
      () => firstStart(url, t.testdir()),
      () => createsOperator(url, 'grace@example.org')
    ]
    // Each begins at another point of the others.
    const ends = await Promise.allSettled(begins.map(async (begin, index) => {
      await pause(index * round * 50)
      await begin()
    }))
    t.strictSame(ends.map((end) => end.status === 'rejected' ? String(end.reason) : 'well'), ['well', 'well', 'well', 'well'])
    const database = open(url)
    const [companies, users] = [
      await database.owner.selectFrom('companies').select('name').orderBy('company_id').execute(),
      await database.owner.selectFrom('users').select('email').orderBy('email').execute()
    ]
    await database.close()
    t.strictSame(companies.map(({ name }) => name), ['Platform', 'Demo'])
    t.strictSame(users.map(({ email }) => email), ['ada@example.org', 'demo@example.com', 'grace@example.org', 'operator@example.com'])
  })
}

import { sql } from 'kysely'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createApp } from '../../../../../plugins/container.ts'
import { until } from '../../../../../test/core/work/support.ts'
import { memoryLog } from '../../../../../test/fixtures/providers/call.ts'
import { directory } from '../../../../../test/fixtures/providers/folders.ts'
import { seededDatabase, startService, testConfig } from '../../../../../test/support/service.ts'
import { openDatabase } from '../../../database/database.ts'
import { DatabaseUnavailable } from '../../../database/unavailable.ts'
import { openQueue, type Queue } from '../../../queue/queue.ts'
import { eventSpool, openLately } from '../service/event-spool.ts'
import { createInboundHandler } from '../service/inbound.ts'
import { createInbox, enqueueInbound } from '../service/inbox.ts'
import { queueStranded } from '../service/work.ts'
import { closeInbound, type InboundEvent, recordInbound } from '../store/inbound.ts'

const hour = 3_600_000

const databaseUrl = await seededDatabase(t)
const database = openDatabase({ connectionString: databaseUrl }, { onError: (error) => t.fail(error.message) })
const queue = await openQueue({ databaseUrl, database, log: memoryLog() })
t.teardown(async () => {
  await queue.close()
  await database.close()
})
const time = (await database.time()).getTime()

/** An event of so many hours ago. */
const came = (hours: number): InboundEvent => ({
  inboundId: crypto.randomUUID(),
  service: 'postal',
  providerCode: 'acme',
  account: null,
  scope: null,
  sandbox: null,
  parked: null,
  body: Buffer.from(crypto.randomUUID()),
  receivedAt: new Date(time - hours * hour)
})
const withoutJobs = (events: readonly InboundEvent[]) => recordInbound(database, events, () => Promise.resolve())

await t.test('an event that is open after two hours and has no job gets one, the oldest first', async (t) => {
  const [lost, older, handled, fresh] = [came(2.5), came(5), came(3), came(1.5)]
  await withoutJobs([lost, older, handled, fresh])
  await closeInbound(database, handled.inboundId, { state: 'kept' })
  const sent: unknown[] = []
  await queueStranded({
    database,
    queue: {
      send: (name, jobs) => {
        sent.push([name, jobs])
        return queue.send(name, jobs)
      }
    }
  })
  t.strictSame(sent, [['webhook', [older, lost].map(({ inboundId }) => ({ data: { inboundId }, key: inboundId }))]])
})

await t.test('an event whose job waits, runs or comes again gets no other one; an ended job is none', async (t) => {
  const events = Object.fromEntries(['created', 'retry', 'active', 'completed', 'failed'].map((state) => [state, came(3)]))
  await recordInbound(database, Object.values(events), enqueueInbound(queue))
  for (const [state, { inboundId }] of Object.entries(events)) {
    await sql`update queue.job set state = ${state}::queue.job_state where singleton_key = ${inboundId}`.execute(database.owner)
  }
  for (let looks = 0; looks < 2; looks++) await queueStranded({ database, queue })
  const { rows } = await sql<{ singleton_key: string, jobs: number }>`select singleton_key, count(*)::int as jobs from queue.job
    where name = 'webhook' group by singleton_key`.execute(database.owner)
  const jobs = Object.fromEntries(rows.map((row) => [row.singleton_key, row.jobs]))
  const found = Object.entries(events).map(([state, { inboundId }]) => `${state} ${String(jobs[inboundId])}`)
  t.strictSame(found, ['created 1', 'retry 1', 'active 1', 'completed 2', 'failed 2'])
})

await t.test('an event that cannot be handled is held, and given up after a day; while the database is away no try counts', async (t) => {
  const thrown = { error: new Error('A fault of the provider.') }
  const log = memoryLog()
  const options: Partial<Parameters<typeof createInboundHandler>[0]> = {
    database,
    queue,
    log,
    now: () => new Date(time),
    host: {
      find: () => {
        throw thrown.error
      }
    } as never
  }
  const handle = createInboundHandler(options as Parameters<typeof createInboundHandler>[0])
  const [fresh, old] = [came(1), came(25)]
  await withoutJobs([fresh, old])
  const states = () =>
    Promise.all([fresh, old].map(async ({ inboundId }) => {
      const row = await database.owner.selectFrom('inbound').select(['state', 'note']).where('inbound_id', '=', inboundId)
        .executeTakeFirst()
      return [row?.state, row?.note]
    }))
  const note = 'It could not be handled: the log of the service says why.'
  for (const { inboundId } of [fresh, old]) await handle({ inboundId })
  t.strictSame(await states(), [['held', note], ['dropped', note]])
  const tried = 'an event could not be handled; it is tried again'
  t.strictSame(log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message), [tried, tried, 'an event was dropped'])
  thrown.error = new DatabaseUnavailable('away')
  await t.rejects(handle({ inboundId: fresh.inboundId }), DatabaseUnavailable)
})

/** A folder that cannot be made: something else has the name of its parent. */
async function unusable (t: Test): Promise<{ inTheWay: string, folder: string }> {
  const inTheWay = join(await directory(t), 'taken')
  writeFileSync(inTheWay, '')
  return { inTheWay, folder: join(inTheWay, 'webhooks') }
}

await t.test('a spool that cannot be opened is opened once it can', async (t) => {
  const { inTheWay, folder } = await unusable(t)
  const spool = openLately({ folder, now: () => new Date(), newId: () => crypto.randomUUID(), log: memoryLog() })
  await t.rejects(spool.count(), { code: 'ENOTDIR' })
  rmSync(inTheWay)
  t.strictSame(Object.values(await spool.count()).filter((files) => files > 0), [])
})

await t.test('without a disk, events go to the database after each drain; it is said once', async (t) => {
  const { folder } = await unusable(t)
  const log = memoryLog()
  const spool = openLately({ folder, now: () => new Date(), newId: () => crypto.randomUUID(), log })
  const send: { now: Queue['send'] } = { now: () => Promise.reject(new DatabaseUnavailable('away')) }
  const inbox = createInbox({ database, spool, log, queue: { ...queue, send: (...jobs) => send.now(...jobs) } })
  await t.rejects(inbox.put(came(0)), { code: 'ENOTDIR' })
  send.now = queue.send
  await t.rejects(inbox.put(came(0)), { code: 'ENOTDIR' }, 'the database is not tried yet')
  const event = came(0)
  // A busy database may take longer than an event waits for it.
  await until('the database takes an event', async () => {
    await t.rejects(inbox.drain(), { code: 'ENOTDIR' })
    return await inbox.put(event).catch(() => false)
  })
  await t.rejects(inbox.drain(), { code: 'ENOTDIR' })
  t.equal(log.lines.filter(({ level }) => level === 'error').length, 1)
  t.equal((await database.owner.selectFrom('inbound').select('state').where('inbound_id', '=', event.inboundId).execute()).length, 1)
})

await t.test('a folder of events that cannot be used ends the start, with and without workers', async (t) => {
  const folder = await directory(t)
  writeFileSync(join(folder, 'webhooks'), '')
  for (const runsWorker of [true, false]) {
    await t.rejects(createApp(testConfig(folder, { runsWorker }), { databaseUrl, log: memoryLog() }), { code: 'EEXIST' })
  }
})

await t.test('a process that runs no jobs moves its events from the disk into the database, too', async (t) => {
  const { app } = await startService(t, { databaseUrl, config: { runsWorker: false } })
  const event = came(0)
  await app.find(eventSpool).put(event)
  await until('it is recorded',
    async () =>
      await database.owner.selectFrom('inbound').select('state').where('inbound_id', '=', event.inboundId).executeTakeFirst() !== undefined)
  await until('the disk is empty', async () => (await app.find(eventSpool).count()).waiting === 0)
})

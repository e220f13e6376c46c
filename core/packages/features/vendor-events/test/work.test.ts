import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { memoryLog } from '../../../../../test/fixtures/providers/call.ts'
import { directory } from '../../../../../test/fixtures/providers/folders.ts'
import { seededDatabase } from '../../../../../test/support/service.ts'
import { openDatabase } from '../../../database/database.ts'
import { openLately } from '../service/event-spool.ts'
import { queueStranded } from '../service/work.ts'
import { closeInbound, type InboundEvent, recordInbound } from '../store/inbound.ts'

const hour = 3_600_000

await t.test('an event that is open after two hours has lost its job, and gets another', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: (error) => t.fail(error.message) })
  t.teardown(database.close)
  const time = (await database.time()).getTime()
  const came = (hours: number): InboundEvent => ({
    inboundId: crypto.randomUUID(),
    service: 'postal',
    providerCode: 'acme',
    account: null,
    scope: null,
    sandbox: null,
    parked: null,
    body: Buffer.from(`${hours}`),
    receivedAt: new Date(time - hours * hour)
  })
  const [lost, handled, fresh] = [came(2.5), came(3), came(1.5)]
  await recordInbound(database, [lost, handled, fresh], () => Promise.resolve())
  await closeInbound(database, handled.inboundId, { state: 'kept' })
  const sent: unknown[] = []
  await queueStranded({
    database,
    queue: {
      send: (name, jobs) => {
        sent.push([name, jobs])
        return Promise.resolve()
      }
    }
  })
  t.strictSame(sent, [['webhook', [{ data: { inboundId: lost.inboundId }, key: lost.inboundId }]]])
})

await t.test('a spool that cannot be opened is opened once it can', async (t) => {
  const inTheWay = join(await directory(t), 'taken')
  writeFileSync(inTheWay, '')
  const folder = join(inTheWay, 'webhooks')
  const spool = openLately({ folder, now: () => new Date(), newId: () => crypto.randomUUID(), log: memoryLog() })
  await t.rejects(spool.count(), { code: 'ENOTDIR' })
  rmSync(inTheWay)
  t.strictSame(Object.values(await spool.count()).filter((files) => files > 0), [])
})

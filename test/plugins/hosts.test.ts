import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import type { Embedded } from '../../core/packages/embedded-postgres/embedded.ts'
import { prepareDatabase } from '../../plugins/config/prepare-database.ts'
import { createApp } from '../../plugins/container.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { withDatabase } from '../../scripts/commands/database.ts'
import { until } from '../core/work/support.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { startReplicated } from '../support/replica.ts'
import { startService, testConfig } from '../support/service.ts'

const { primary, replica } = await startReplicated(t, async (databaseUrl) => {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-prepared-'))
  const app = await createApp(testConfig(folder), { databaseUrl, log: createLogger('silent'), renderer: quickRenderer })
  await prepareDatabase(app)
  await app.close()
  rmSync(folder, { recursive: true })
})

/** The usual address of a pair, with the one that is the standby at first before the other. */
const { user, password, database } = new pg.Client({ connectionString: primary.url })
const hostOf = ({ socketDir, port }: Embedded): string => `${encodeURIComponent(socketDir)}:${port}`
const databaseUrl = `postgres://${user}:${password}@${hostOf(replica)},${hostOf(primary)}/${database}?target_session_attrs=read-write`

/** The connections of the service to one server, by what the service calls them. */
async function connected (server: Embedded): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string, count: number }>(
      'select application_name as name, count(*)::int from pg_stat_activity where application_name like \'document-dispatch%\' group by 1'
    )
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
  } finally {
    await client.end()
  }
}

/** Whether the queue waits for news there, on a connection of its own. */
async function listens (server: Embedded): Promise<boolean> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where application_name = 'document-dispatch queue'
        and query ~* '^\\s*(listen|select exists .*listening)'`
    )
    return rowCount !== 0
  } finally {
    await client.end()
  }
}

await t.test('every connection leads to the host that takes writes, also after a failover', async (t) => {
  const { send } = await startService(t, { databaseUrl, replacements: { renderer: quickRenderer } })
  const sms = (query = '') => send('POST', `/api/sms${query}`, { body: { sms: { phoneNumber: '+33612345678', message: 'Hello.' } } })
  const queued = async (): Promise<string> => (await sms('?async=true')).body.dispatchId
  const ends = (id: string): Promise<void> =>
    until('it is sent', async () => (await send('GET', `/api/v1/dispatches/${id}`)).body.status === 'succeeded')

  t.equal((await sms()).status, 200)
  await ends(await queued())
  await until('the queue listens', () => listens(primary))
  await until('nobody is left who only asked', async () => Object.keys(await connected(replica)).length === 0)

  await primary.stop()
  t.not((await sms()).status, 200, 'nobody takes writes')
  const client = new pg.Client({ connectionString: replica.url })
  await client.connect()
  await client.query('select pg_promote()')
  await client.end()
  await until('the new primary is found', async () => (await sms()).status === 200)
  await ends(await queued())
  await until('the queue listens there', () => listens(replica))
})

await t.test('a command of an operator finds it too', async (t) => {
  const config = testConfig(t.testdir(), { databaseUrl })
  t.equal((await withDatabase(config, ({ time }) => time())).constructor, Date)
})

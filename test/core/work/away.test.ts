import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { type Embedded, startEmbedded } from '../../../core/packages/embedded-postgres/embedded.ts'
import { eventSpool } from '../../../core/packages/features/vendor-events/service/event-spool.ts'
import { inbox } from '../../../core/packages/features/vendor-events/service/inbox.ts'
import { prepareDatabase } from '../../../plugins/config/prepare-database.ts'
import { createApp } from '../../../plugins/container.ts'
import { createLogger } from '../../../plugins/hooks/logging.ts'
import { testConfig } from '../../support/service.ts'
import { basic, hmac, hookService, paths, serverAuth, until, vendorKey } from './support.ts'

const dir = mkdtempSync(join(tmpdir(), 'dispatch-away-'))
const start = (): Promise<Embedded> => startEmbedded({ dir: join(dir, 'postgres'), settings: { full_page_writes: 'off' } })
let server = await start()
t.teardown(async () => {
  await server.stop()
  rmSync(dir, { recursive: true })
})

const seed = await createApp(testConfig(join(dir, 'seed')), { databaseUrl: server.url, log: createLogger('silent') })
await prepareDatabase(seed)
await seed.close()

const key = vendorKey('scd_1')
const service = await hookService(t, { databaseUrl: server.url })
const { post, accepted, delivery, inbound, vendor } = service
vendor.on('GET /jwks.json', { json: { keys: [key.jwk] } })
/**
 * Seconds: a job whose handing-over was cut comes again after its heartbeat (10), when the queue looks after its jobs (every 5) and its
 * retry is due (1), by the next look (2).
 */
const cutJob = 25
const spooled = () => readdirSync(join(service.app.get('config').dataDirectory, 'webhooks')).filter((name) => name.endsWith('.jsonl'))

const sealed = (event: object, { sign }: Pick<typeof key, 'sign'> = key) => {
  const body = JSON.stringify(event)
  return post(paths.seal, body, { 'x-jws-signature': sign(body) })
}

await t.test('events that come while the database is away are kept on the disk and applied when it is back, each ' +
  'once and in their order', async (t) => {
  const signed = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_1' })
  const letter = await accepted({ provider: 'post-one', service: 'postal', remoteId: 'l_1' })
  const private_ = await accepted({ provider: 'mac-one', service: 'postal', remoteId: 'm_1' })
  const search = await service.configure('mac-one', { hookSecret: 'secret' })
  await sealed({ transaction: 'tx_1', type: 'started' })
  await until('the keys are known', async () => (await delivery(signed.dispatchId)).status === 'started')

  await server.stop()
  const macBody = JSON.stringify({ transaction: 'm_1', type: 'posted' })
  const time = String(Math.floor(Date.now() / 1000))
  const answers = [
    await sealed({ transaction: 'tx_1', type: 'viewed' }),
    await sealed({ transaction: 'tx_1', type: 'signed' }),
    await sealed({ transaction: 'tx_1', type: 'signed' }),
    await post(paths.post, { transaction: 'l_1', type: 'printed' }, basic(serverAuth)),
    await post(paths.post, { transaction: 'l_1', type: 'back' }, basic('hook-user:wrong')),
    // Whose secret it is cannot be read now: these two are told apart later.
    await post(paths.mac + search, macBody, { 'x-mac-1': `sha256=${hmac('secret', macBody, time)}`, 'x-mac-time': time }),
    await post(paths.mac + search, macBody.replace('posted', 'back'), {
      'x-mac-1': `sha256=${hmac('wrong', macBody, time)}`,
      'x-mac-time': time
    })
  ]
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.ok(spooled().length > 0)

  server = await start()
  await until('all is applied', async () =>
    (await delivery(signed.dispatchId).catch(() => ({ status: null }))).status === 'signed' &&
    (await delivery(letter.dispatchId)).status === 'printed' && (await delivery(private_.dispatchId)).status === 'mailed', cutJob)
  await until('the disk is empty', () => spooled().length === 0)
  await until('the forged one is gone', async () => (await inbound()).every(({ parked }) => parked === null))
  const events = (await inbound()).map(({ body, state }) => [JSON.parse(body.toString()).type, state])
  t.same(events, [['started', 'applied'], ['viewed', 'applied'], ['signed', 'applied'], ['printed', 'applied'], ['posted', 'applied']])
})

await t.test('an event of the vendor reaches the database again at once when it is back', async (t) => {
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_2' })
  await sealed({ transaction: 'tx_2', type: 'started' })
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'started')
  t.same(spooled(), [])
})

await t.test('connections that are cut in the middle lose nothing', async (t) => {
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_3' })
  const posts = Array.from({ length: 60 }, (_, nth) => sealed({ transaction: 'tx_3', type: 'viewed', nth }))
  const killer = new pg.Client({ connectionString: server.url })
  await killer.connect()
  await killer.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()'
  )
  await killer.end()
  t.same(new Set((await Promise.all(posts)).map(({ status }) => status)), new Set([200]))
  // A connection that was cut may be the next one taken from the pool.
  await until('all are applied', () => delivery(dispatchId).then(({ events }) => events.length === 60, () => false), cutJob)
})

await t.test('a file of the spool that cannot be read is set aside and keeps no other one back', async () => {
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_5' })
  writeFileSync(join(service.app.get('config').dataDirectory, 'webhooks', '00000000000000000-broken.jsonl'), '{"inboundId":')
  await service.app.find(eventSpool).put({
    inboundId: '0199a000-0000-7000-8000-000000000002',
    service: 'esign',
    providerCode: 'seal-one',
    account: null,
    scope: null,
    sandbox: null,
    parked: null,
    body: Buffer.from(JSON.stringify({ transaction: 'tx_5', type: 'viewed' })),
    receivedAt: new Date()
  })
  await until('the other one is applied', async () => (await delivery(dispatchId)).status === 'viewed')
  const left = (): string => readdirSync(join(service.app.get('config').dataDirectory, 'webhooks')).join(' ')
  await until('the spool keeps that file alone', () => Promise.resolve(left() === '00000000000000000-broken.jsonl.unreadable'))
})

await t.test('what a dead process left on the disk is taken up by the next one, once', async (t) => {
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'tx_4' })
  const arrival = {
    inboundId: '0199a000-0000-7000-8000-000000000001',
    service: 'esign' as const,
    providerCode: 'seal-one',
    account: null,
    scope: null,
    sandbox: null,
    parked: null,
    body: Buffer.from(JSON.stringify({ transaction: 'tx_4', type: 'viewed' })),
    receivedAt: new Date()
  }
  const spool = service.app.find(eventSpool)
  await spool.put(arrival)
  await spool.put(arrival)
  await Promise.all([service.app.find(inbox).drain(), service.app.find(inbox).drain()])
  await until('it is applied', async () => (await delivery(dispatchId)).events.length > 0)
  t.equal((await delivery(dispatchId)).events.length, 1)
})

import { createKeyring, type Envelope, type Keyring } from '@dispatch/common'
import { checkMasterKeys, countSecretsByMasterKey, rewrapSecrets } from '@dispatch/tables'
import { sql } from 'kysely'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { signing } from '../../../core/packages/features/callbacks/service/signing.ts'
import { dump } from '../../hostile/support.ts'
import { testProviders } from '../../plugins/support/providers.ts'
import { contains, has } from '../../support/matching.ts'
import { quickRenderer } from '../../support/quick-renderer.ts'
import { invoiceRequest, seededDatabase, startService, type TestService } from '../../support/service.ts'

const [before, after] = [randomBytes(32), randomBytes(32)]
const base64 = (key: Buffer): { masterKey: string } => ({ masterKey: key.toString('base64') })
const [old, next, both] = [createKeyring(before), createKeyring(after), createKeyring(after, before)]

// What the seed has under its own key is made anew under the one before.
const databaseUrl = await seededDatabase(t)
const providers = await testProviders(t)
const tokens: unknown[] = []
await providers.add('vendor', { settings: '{ kid: Secret(), token: Secret() }' }, async (_request, { settings }) => {
  tokens.push(settings['token'])
  return Promise.resolve({ id: String(tokens.length), status: 'created' })
})
const start = (keys: object): Promise<TestService> =>
  startService(t, {
    databaseUrl,
    config: { providerDirectories: providers.directories, ...keys },
    replacements: { renderer: quickRenderer }
  })
const { app } = await startService(t, { databaseUrl })
const { owner } = app.get('database')
await sql`truncate signing_keys`.execute(owner)

const service = await start(base64(before))
const put = (at: TestService, token: string) =>
  at.send('PUT', '/api/v1/company/providers/vendor', { body: { settings: { kid: 'a setting of this name', token } } })
const dispatch = (at: TestService) => at.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'vendor' }) })

await put(service, 'token-1')
await service.send('POST', '/api/v1/users', {
  body: { email: 'member@example.com', password: 'a good password', role: 'member', services: ['*'] }
})
await service.send('PUT', '/api/v1/my/providers/vendor', { body: { settings: { kid: 'k', token: 'own' } } }, {
  email: 'member@example.com',
  password: 'a good password'
})
await service.send('POST', '/api/v1/company/callback-secret')
await service.send('POST', '/api/v1/company/callback-endpoints', { body: { name: 'A', url: 'https://a.acme.test/' } })
await sql`insert into inbound (inbound_id, service, provider_code, parked, body, received_at, state)
  select gen_random_uuid(), 'esign', 'nobody',
    ${JSON.stringify(old.seal('{}', 'webhook headers'))}::jsonb, '', now(), 'held' from generate_series(1, 250)`.execute(owner)

/** Whether a row anywhere in the database names the key. */
const names = async ({ kid }: Keyring): Promise<boolean> => JSON.stringify(await dump(app)).includes(kid)

await t.test('every secret of the service is under the master key', async (t) => {
  const found = await countSecretsByMasterKey(app.get('database'))
  t.same([...found.keys()], [old.kid])
  t.equal(found.get(old.kid), 2 + 2 + 2 + 2 + 250, 'two keys, two settings of two owners, two secrets of callbacks, events that wait')
})

await t.test('a service with another master key does not start, and says in one sentence what is wrong and what to do', async (t) => {
  const sentence =
    `The database holds 258 secrets under the master key ${old.kid}, but DISPATCH_MASTER_KEY is ${next.kid}: start with the key ` +
    `that sealed them or, to replace it, give that one as DISPATCH_MASTER_KEY_PREVIOUS and run \`npm run dispatch -- keys rotate\`.`
  await t.rejects(start(base64(after)), { name: 'SealError', message: sentence })
  await t.rejects(checkMasterKeys(app.get('database'), next), { message: sentence })
})

await t.test('a rotation that is killed leaves everything readable, and the next one ends it', async (t) => {
  let rewrapped = 0
  const dying: Keyring = {
    ...both,
    rewrap: (envelope) => {
      if (++rewrapped > 150) throw new Error('killed')
      return both.rewrap(envelope)
    }
  }
  await t.rejects(rewrapSecrets(app.get('database'), dying), { message: 'killed' })
  t.ok(await names(old), 'some are under the key before')
  t.ok(await names(next), 'some are under the new one')
  await t.rejects(checkMasterKeys(app.get('database'), next))
  await t.rejects(checkMasterKeys(app.get('database'), old))
  const service = await start({ ...base64(after), previousMasterKey: before.toString('base64') })
  has(t, await dispatch(service), { status: 200 })
  t.equal(tokens.at(-1), 'token-1')
})

await t.test('a service with both keys goes on reading and writing while secrets are rewrapped, and nothing is lost', async (t) => {
  const service = await start({ ...base64(after), previousMasterKey: before.toString('base64') })
  const change = async (): Promise<void> => {
    for (let turn = 2; turn < 12; turn++) {
      has(t, await put(service, `token-${turn}`), { status: 200 })
      has(t, await dispatch(service), { status: 200 })
      t.equal(tokens.at(-1), `token-${turn}`)
    }
  }
  const [rows] = await Promise.all([rewrapSecrets(app.get('database'), both), change()])
  t.ok(rows > 100, 'the rest of them')
  await rewrapSecrets(app.get('database'), both)
  t.notOk(await names(old), 'no row of any table is under the key before')
  t.equal(await rewrapSecrets(app.get('database'), both), 0, 'there is nothing left to do')
})

await t.test('afterwards the new key alone opens everything, and the one before nothing', async (t) => {
  const service = await start(base64(after))
  has(t, await dispatch(service), { status: 200 })
  t.equal(tokens.at(-1), 'token-11')
  const { body: { data } } = await service.send('POST', '/auth', { body: { username: 'demo@example.com', password: 'demo-password' } },
    null)
  t.equal((await fetch(`${service.url}/healthz`, { headers: { authorization: `Bearer ${String(data.token)}` } })).status, 200)
  has(t, await service.app.find(signing).sign({ companyId: 2, endpointId: null, secrets: [] }, { id: 'a', body: 'b' }), {
    'webhook-signature': /^v1,/
  })
  const { rows } = await sql<{ parked: Envelope }>`select parked from inbound`.execute(owner)
  t.equal(rows.filter(({ parked }) => next.open(parked, 'webhook headers').toString() === '{}').length, 250)
  await t.rejects(start(base64(before)), { name: 'SealError' })
})

await t.test('what is being changed meanwhile is rewrapped as it becomes', async (t) => {
  const row = owner.selectFrom('configurations').select(['account', 'secrets']).where('provider_code', '=', 'vendor').where('user_id', 'is',
    null)
  const { account } = await row.executeTakeFirstOrThrow()
  const changed = next.seal('given meanwhile', 'a')
  const rewrapping = await owner.transaction().execute(async (queries) => {
    await sql`update configurations set secrets = ${JSON.stringify({ token: { sealed: changed } })}::jsonb where account = ${account}`
      .execute(queries)
    const work = rewrapSecrets(app.get('database'), createKeyring(randomBytes(32), after))
    // Until it stands at the row that is locked here.
    for (let waiting = 0; waiting === 0;) {
      waiting = Number(
        (await sql<
          { waiting: string }
        >`select count(*) as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(owner))
          .rows[0]?.waiting
      )
    }
    return { work }
  })
  await rewrapping.work
  contains(t, JSON.stringify((await row.executeTakeFirstOrThrow()).secrets), changed.sealed)
})

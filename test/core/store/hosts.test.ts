import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import pg from 'pg'
import t from 'tap'
import { failurePasses } from '../../../core/packages/database/connection-failure.ts'
import { LastingClient } from '../../../core/packages/database/connections.ts'
import { openDatabase } from '../../../core/packages/database/database.ts'
import { addressesOf, findWriter, lastWriterOf } from '../../../core/packages/database/hosts.ts'
import { DatabaseUnavailable } from '../../../core/packages/database/unavailable.ts'
import { freePort } from '../../../scripts/free-port.ts'
import { lacks } from '../../support/matching.ts'
import { testDatabase } from '../../support/postgres.ts'

const writes = 'target_session_attrs=read-write'

void t.test('an address of several hosts is one address of each', (t) => {
  for (const [address, ...single] of [
    [`postgres://u:p%40@h1:5432,h2:5433/db?${writes}`, 'postgres://u:p%40@h1:5432/db', 'postgres://u:p%40@h2:5433/db'],
    [`postgresql://h1,h2/db?sslmode=verify-full&target_session_attrs=primary`, 'postgresql://h1/db?sslmode=verify-full',
      'postgresql://h2/db?sslmode=verify-full'],
    [`postgres://u:a,b@[::1]:5432,[::2]/db?${writes}`, 'postgres://u:a,b@[::1]:5432/db', 'postgres://u:a,b@[::2]/db'],
    [`postgres://u@/db?host=h1,h2&port=5432,5433&${writes}`, 'postgres://u@/db?host=h1&port=5432', 'postgres://u@/db?host=h2&port=5433'],
    [`postgres://u@/db?host=/one,/two&port=5432&${writes}`, 'postgres://u@/db?host=%2Fone&port=5432',
      'postgres://u@/db?host=%2Ftwo&port=5432'],
    // One host is left as it is, also where nobody can read it.
    ['postgres://u:a,b@h/db', 'postgres://u:a,b@h/db'],
    [`postgres://h/db?${writes}`, `postgres://h/db?${writes}`],
    ['postgres://u:ge/heim@h/db', 'postgres://u:ge/heim@h/db']
  ]) t.strictSame(addressesOf(String(address)), single)
  t.end()
})

void t.test('a wrong address says what is wrong, without a part of it', (t) => {
  for (const [address, message] of [
    ['postgres://u:geheim@h1,h2/db', /^names several hosts: add target_session_attrs=read-write, /],
    ['postgres://u:geheim@h1,h2/db?target_session_attrs=any', /^names several hosts: add /],
    ['postgres://u:geheim@h1,h2/db?target_session_attrs=standby', /^must have target_session_attrs=read-write, /],
    ['postgres://u:geheim@h1/db?target_session_attrs=prefer-standby', /^must have target_session_attrs=read-write, /],
    [`postgres://u:geheim@h1,/db?${writes}`, /^has a host that cannot be read; /],
    [`postgres://u:geheim@h1:x,h2/db?${writes}`, /^has a host that cannot be read; /],
    [`postgres://u:geheim,x/y@h1/db?${writes}`, /^has a host that cannot be read; /],
    [`postgres://u:geheim@/db?host=h1,h2,h3&port=1,2&${writes}`, /^names 3 hosts and 2 ports$/],
    [`postgres://u:geheim@h1,h2/db?port=1&${writes}`, /^names several hosts: write each port behind its host, /],
    [`postgres://u:geheim@h1/db?host=h2,h3&${writes}`, /^names hosts in two places: /]
  ] as const) {
    t.throws(() => addressesOf(address), { message, code: 'ERR_INVALID_URL' }, address)
    t.throws(() => addressesOf(address), { message: /^(?!.*geheim)/ })
  }
  t.end()
})

/** An address of one host in the form of several, with a host before it. */
const behind = (host: string, url: string): string => {
  const { host: socket, port, user, password, database } = new pg.Client({ connectionString: url })
  return `postgres://${user}:${password}@${host},${encodeURIComponent(socket)}:${port}/${database}?${writes}`
}

await t.test('hosts that are away or silent hold nobody up', async (t) => {
  const { url } = await testDatabase(t)
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  for (const port of [await freePort(), (silent.address() as AddressInfo).port]) {
    const address = behind(`127.0.0.1:${port}`, url)
    const client = new LastingClient({ connectionString: address, connectionTimeoutMillis: 600_000 })
    await client.connect()
    t.equal((await client.query('select 1 as one')).rows[0].one, 1)
    await client.end()
    lacks(t, lastWriterOf(address), String(port), 'what listens by itself goes there too')
  }
  for (const socket of sockets) if (!socket.closed) await once(socket.resume(), 'close')
})

await t.test('a client that is ended while its host is looked for opens nothing', async (t) => {
  const { url } = await testDatabase(t)
  const client = new LastingClient({ connectionString: behind('127.0.0.1:9', url) })
  const opened = client.connect()
  await client.end()
  await t.rejects(opened, { message: 'Connection terminated' })
})

await t.test('where no host takes writes, the reason of each is told', async (t) => {
  const { url } = await testDatabase(t)
  const reported = async (address: string): Promise<[why: string | undefined, waits: boolean]> => {
    const database = openDatabase({ connectionString: address }, { onError: () => undefined })
    const error = await database.reach().then(() => undefined, (thrown: unknown) => thrown)
    await database.close()
    if (!(error instanceof DatabaseUnavailable)) throw new Error(`There was no failure, but ${String(error)}.`)
    return [error.why, failurePasses(error.cause)]
  }
  const [one, two] = [await freePort(), await freePort()]
  t.strictSame(await reported(`postgres://u:geheim@127.0.0.1:${one},127.0.0.1:${two}/db?${writes}`), [
    `nothing listens at 127.0.0.1:${one} and 127.0.0.1:${two}: start the server, or correct host and port in DATABASE_URL.`,
    true
  ])
  const readOnly = behind(`127.0.0.1:${one}`, url).replace(writes, `options=-c%20default_transaction_read_only=on&${writes}`)
  const { host, port } = new pg.Client({ connectionString: url })
  t.strictSame(await reported(readOnly), [
    `no host takes writes (127.0.0.1:${one}: connect ECONNREFUSED 127.0.0.1:${one}, ${host}/.s.PGSQL.${port}: it takes no writes): ` +
    'see the log of each, and DATABASE_URL.',
    true
  ])
  await t.rejects(findWriter(readOnly, {}), { code: 'NO_WRITER' })
})

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createSecureContext, TLSSocket } from 'node:tls'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createAuthority } from '../../../core/packages/conformance/vendor/certificates.ts'
import { explainFailure, failurePasses } from '../../../core/packages/database/connection-failure.ts'
import { openDatabase } from '../../../core/packages/database/database.ts'
import { DatabaseUnavailable } from '../../../core/packages/database/unavailable.ts'
import { freePort } from '../../../scripts/free-port.ts'
import { contains, lacks } from '../../support/matching.ts'
import { testDatabase } from '../../support/postgres.ts'

/** What a start is told of a database, and whether it waits for it. */
async function reported (t: Test, connectionString: string, directUrl?: string): Promise<[why: string | undefined, waits: boolean]> {
  const database = openDatabase({ connectionString }, { directUrl, onError: () => undefined })
  const error = await database.reach().then(() => undefined, (thrown: unknown) => thrown)
  await database.close()
  if (!(error instanceof DatabaseUnavailable)) throw new Error(`There was no failure, but ${String(error)}.`)
  lacks(t, error.why ?? '', 'geheim')
  return [error.why, failurePasses(error.cause)]
}

/** A server that only begins: `answer` gets each connection. */
async function beginning (t: Test, answer: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    answer(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

await t.test('a wrong password, user or database is told with what helps, and not waited for', async (t) => {
  const { url } = await testDatabase(t)
  const { host, port, user, password, database } = new pg.Client({ connectionString: url })
  const server = host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${host}:${port}`
  const other = (login: string, name = database): string => `postgres://${login}@/${name}?host=${encodeURIComponent(host)}&port=${port}`
  t.strictSame(await reported(t, other(`${user}:geheim`)), [
    `${server} refuses the password of the user "${user}": correct it in DATABASE_URL, URL-encoded, or set it on the server with \\password in psql.`,
    false
  ])
  t.strictSame(await reported(t, other(String(user))), [
    `${server} asks for a password of the user "${user}", and there is none: write it into DATABASE_URL, URL-encoded.`,
    false
  ])
  t.strictSame(await reported(t, other(`${user}:${password}`, 'absent')), [
    `${server} has no database "absent": make it with \`createdb --owner ${user} absent\`, or name another one in DATABASE_URL.`,
    false
  ])
  contains(t, (await reported(t, url, other(`${user}:geheim`)))[0], / refuses the password of .*: correct it in DATABASE_DIRECT_URL, /,
    'the server behind the pooler too')
  t.strictSame(await reported(t, `${other(`${user}:${password}`)}&sslmode=verify-full`), [
    `${server} does not speak TLS: set up TLS on the server (ssl = on), or take sslmode out of DATABASE_URL where nobody can listen.`,
    false
  ])
})

await t.test('an address where nobody listens is told, and waited for', async (t) => {
  const port = await freePort()
  t.strictSame(await reported(t, `postgres://user:geheim@127.0.0.1:${port}/dispatch`), [
    `nothing listens at 127.0.0.1:${port}: start the server, or correct host and port in DATABASE_URL.`,
    true
  ])
  t.strictSame(await reported(t, `postgres://user:geheim@/dispatch?host=/nowhere`), [
    'nothing listens at /nowhere/.s.PGSQL.5432: start the server, or correct host and port in DATABASE_URL.',
    true
  ])
  const [why, waits] = await reported(t, 'postgres://user:geheim@nowhere.invalid/dispatch')
  contains(t, why, /"nowhere\.invalid"/)
  t.ok(waits)
})

await t.test('an address that cannot be read is told, and not waited for', async (t) => {
  t.strictSame(await reported(t, 'postgres://user:ge/heim@127.0.0.1/dispatch'), [
    'DATABASE_URL is no address: it is postgres://USER:PASSWORD@HOST:PORT/DATABASE, in which the password is URL-encoded: %2F for /, ' +
    '%40 for @, %23 for #.',
    false
  ])
  const [why, waits] = await reported(t,
    `postgres://user:geheim@127.0.0.1/dispatch?sslmode=verify-full&sslrootcert=${t.testdir()}/none.pem`)
  contains(t, why, /^a file that DATABASE_URL names cannot be read \(ENOENT: .*none\.pem'\): correct its path, /)
  t.notOk(waits)
})

await t.test('a certificate that nobody trusts is told, and not waited for', async (t) => {
  const authority = await createAuthority()
  const secureContext = createSecureContext(await authority.issue('127.0.0.1'))
  const port = await beginning(t, (socket) => {
    // The client asks for TLS; S is yes.
    socket.once('data', () => {
      socket.write('S')
      new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => undefined)
    })
  })
  const [why, waits] = await reported(t, `postgres://user:geheim@127.0.0.1:${port}/dispatch?sslmode=verify-full`)
  contains(t, why,
    /^the certificate of 127\.0\.0\.1 is not trusted \(.+\): name the authority that signed it in DATABASE_URL \(sslrootcert=FILE\), /)
  t.notOk(waits)
  const file = join(t.testdir(), 'ca.pem')
  writeFileSync(file, authority.ca)
  const [named] = await reported(t, `postgres://user:geheim@localhost:${port}/dispatch?sslmode=verify-full&sslrootcert=${file}`)
  contains(t, named, /^the certificate of localhost is not trusted \(.*does not match.*\)/)
})

await t.test('a server that is silent, or ends connections, is told, and waited for', async (t) => {
  const silent = await beginning(t, () => undefined)
  t.strictSame(await reported(t, `postgres://user:geheim@127.0.0.1:${silent}/dispatch`), [
    `127.0.0.1:${silent} does not answer: see whether the server runs, whether a firewall is in the way, and whether DATABASE_URL names ` +
    'the right host.',
    true
  ])
  const ending = await beginning(t, (socket) => socket.destroy())
  const [why, waits] = await reported(t, `postgres://user:geheim@127.0.0.1:${ending}/dispatch`)
  contains(t, why,
    /^127\.0\.0\.1:\d+ ends each connection \(.+\): see its log, and whether DATABASE_URL names the port of a PostgreSQL server\.$/)
  t.ok(waits)
})

const to = { setting: 'DATABASE_URL', config: { connectionString: 'postgres://dispatch@db.example.com/dispatch' } }
const ofServer = (code: string, message: string): Error => Object.assign(new pg.DatabaseError(message, 7, 'error'), { code })

void t.test('what a server says about itself is told in its words', (t) => {
  for (
    const [code, message, sentence, waits] of [
      ['57P03', 'the database system is starting up', /^db\.example\.com:5432 takes no connections at the moment \(the .* up\): /, true],
      ['53300', 'sorry, too many clients already', /^db\.example\.com:5432 has no connection left: raise max_connections /, true],
      ['28000', 'no pg_hba.conf entry for host "10.0.0.9", no encryption',
        /^db.* \(no pg_hba.*\): add sslmode=verify-full to DATABASE_URL, /, false],
      ['28000', 'role "dispatch" does not exist', /^db.* \(role .*\): make the user with createuser, /, false],
      ['42501', 'permission denied for database', /^db.* does not let the user "dispatch" into the database "dispatch": /, false],
      // PgBouncer.
      ['08P01', 'SASL authentication failed', / refuses the password of the user "dispatch": /, false],
      ['08P01', 'no such database: dispatch', / has no database "dispatch": /, false],
      ['08P01', 'server login has been failing, try again later (server_login_retry)', / takes no connections at the moment /, true],
      ['08P01', 'something else', /^db\.example\.com:5432 cannot be used \(something else\): see its log, and DATABASE_URL\.$/, false]
    ] as const
  ) {
    const cause = ofServer(code, message)
    contains(t, explainFailure(cause, to), sentence)
    t.equal(failurePasses(cause), waits, message)
  }
  t.end()
})

import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createAuthority } from '../../core/packages/conformance/vendor/certificates.ts'
import { startEmbedded } from '../../core/packages/embedded-postgres/embedded.ts'
import { has } from '../support/matching.ts'
import { invoiceRequest, shippedProviders } from '../support/service.ts'
import { installed, type Postgresql, startPostgresql } from './support/postgresql.ts'
import { dataDirectory, refusalOf, send, startProcess, startReady } from './support/process.ts'

const masterKey = randomBytes(32).toString('base64')

/** A database whose owner is no superuser; `rights` are what the owner may do on the server. */
async function database (
  server: Postgresql,
  name: string,
  rights = 'createrole'
): Promise<{ DATABASE_URL: string, DISPATCH_MASTER_KEY: string }> {
  await server.run(`create role ${name} login password 'geheim' nosuperuser ${rights}`)
  await server.run(`create database ${name} owner ${name}`)
  return { DATABASE_URL: server.url(name, 'geheim', name), DISPATCH_MASTER_KEY: masterKey }
}

/** A directory with one more provider, which accepts everything. */
function furtherProviders (t: Test): string {
  const folder = dataDirectory(t)
  mkdirSync(join(folder, 'acme'), { recursive: true })
  writeFileSync(join(folder, 'acme/package.json'), JSON.stringify({
    name: 'acme',
    version: '1.0.0',
    type: 'module',
    exports: './index.ts',
    peerDependencies: { '@dispatch/core': '^1.0.0' }
  }))
  writeFileSync(join(folder, 'acme/index.ts'), `
    import { defineProvider, Type } from '@dispatch/core/provider'
    export default defineProvider({
      code: 'acme', name: 'Acme', settings: Type.Object({}),
      services: { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, async dispatch (_request, { reference }) { return { id: reference, status: 'created' } } } }
    })`)
  return [shippedProviders, folder].join(delimiter)
}

void t.test('another PostgreSQL', { skip: installed === undefined ? 'this machine has none in /usr/lib/postgresql' : false }, async (t) => {
  const server = await startPostgresql(t, String(installed))

  await t.test('processes that start at once on an empty database share it, and what one changes holds for the ' +
    'next request of the other', async (t) => {
    const [here, there] = [dataDirectory(t), dataDirectory(t)]
    const env = { ...await database(server, 'shared'), DISPATCH_PROVIDERS_DIR: furtherProviders(t) }
    const [one, two] = [startProcess(t, { dataDirectory: here, env }), startProcess(t, { dataDirectory: there, env })]
    await Promise.all([one.ready(), two.ready()])
    has(t, (await send(two.url(), 'GET', '/api/v1/credits')).body, { balance: 100 }, 'seeded once')
    t.equal((await send(two.url(), 'GET', '/api/v1/templates')).body.data.length,
      readdirSync(fileURLToPath(new URL('../../templates', import.meta.url)), { withFileTypes: true }).filter((entry) =>
        entry.isDirectory()
      ).length)

    const chosen = async (url: string): Promise<string> => (await send(url, 'POST', '/api/invoicing', invoiceRequest())).body.providerName
    t.equal(await chosen(two.url()), 'simulator')
    t.equal((await send(one.url(), 'PUT', '/api/v1/company/providers/acme', { settings: {}, sandbox: false })).status, 200)
    t.equal((await send(one.url(), 'PUT', '/api/v1/company/defaults/invoicing', { providerName: 'acme' })).status, 200)
    t.equal(await chosen(two.url()), 'acme')
    t.equal((await send(two.url(), 'PUT', '/api/v1/company/defaults/invoicing', { providerName: 'simulator' })).status, 200)
    t.equal(await chosen(one.url()), 'simulator')

    const { body } = await send(one.url(), 'POST', '/api/invoicing', invoiceRequest())
    const three = await startReady(t, { dataDirectory: here, env })
    t.equal((await send(three.url(), 'GET', `/api/v1/documents/${body.generatedDocument.id}`)).status, 200,
      'documents are shared with the data directory')

    await server.stop()
    t.equal((await fetch(`${one.url()}/readyz`)).status, 503)
    await server.start()
    t.equal((await fetch(`${one.url()}/readyz`)).status, 204, 'a service outlives its database server')
    t.equal(await chosen(two.url()), 'simulator')
    for (const service of [one, two, three]) {
      process.kill(service.pid, 'SIGTERM')
      t.equal(await service.ended, 0)
      t.equal(service.stderr(), '')
    }
  })

  await t.test('what its user may not do is said, with what would help', async (t) => {
    const folder = dataDirectory(t)
    const env = await database(server, 'modest', 'nocreaterole')
    await server.run('drop owned by shared', 'shared')
    await server.run('drop database shared')
    await server.run('drop role dispatch_company')
    const refused = await refusalOf(t, { dataDirectory: folder, env })
    has(t, refused, {
      code: 1,
      stderr: 'Document Dispatch could not start: The database schema could not be brought up to date: permission denied to create role; ' +
        'the user of DATABASE_URL must own its database, and either create roles (ALTER ROLE … CREATEROLE) or be given the role by ' +
        'an administrator: CREATE ROLE dispatch_company NOLOGIN; GRANT dispatch_company TO that user.\n'
    })
    await server.run('create role dispatch_company nologin; grant dispatch_company to modest')
    const service = await startReady(t, { dataDirectory: folder, env })
    has(t, await send(service.url(), 'POST', '/api/invoicing', invoiceRequest()), { status: 200 })
  })

  await t.test('over TLS, with the authority that its address names', async (t) => {
    const env = await database(server, 'secured')
    const [authority, folder] = [await createAuthority(), t.testdir()]
    const { cert, key } = await authority.issue('localhost')
    await server.run(`alter system set ssl_cert_file = '${server.keep('server.crt', cert)}'`)
    await server.run(`alter system set ssl_key_file = '${server.keep('server.key', key)}'`)
    await server.run('alter system set ssl = on')
    await server.run('select pg_reload_conf()')
    writeFileSync(join(folder, 'ca.pem'), authority.ca)
    const DATABASE_URL = `${env.DATABASE_URL}?sslmode=verify-full&sslrootcert=${join(folder, 'ca.pem')}`
    const service = await startReady(t, { dataDirectory: dataDirectory(t), env: { ...env, DATABASE_URL } })
    has(t, await send(service.url(), 'POST', '/api/invoicing', invoiceRequest()), { status: 200 })
    await server.run(`do $$ begin
      assert (select bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'secured'), 'not encrypted';
    end $$`)
  })

  await t.test('a database that refuses the service is one sentence', async (t) => {
    const refusal = async (url: string): Promise<string> =>
      (await refusalOf(t, { dataDirectory: dataDirectory(t), env: { DATABASE_URL: url } })).stderr
    await database(server, 'refusing')
    const address = new URL(server.url('refusing', 'geheim', 'refusing')).host
    t.equal(await refusal(server.url('refusing', 'wrong', 'refusing')),
      `Document Dispatch could not start: The database cannot be used: ${address} refuses the password of the user "refusing": correct ` +
        'it in DATABASE_URL, URL-encoded, or set it on the server with \\password in psql.\n')
    t.equal(await refusal(server.url('refusing', 'geheim', 'absent')),
      `Document Dispatch could not start: The database cannot be used: ${address} has no database "absent": make it with ` +
        '`createdb --owner refusing absent`, or name another one in DATABASE_URL.\n')
    // No older server is at hand: this one is made to lie about its version.
    await server.run(
      'create function public.current_setting(text) returns text language sql as $$ select case $1 when \'server_version_num\' then ' +
        '\'140011\' else \'14.11\' end $$',
      'refusing'
    )
    await server.run('alter role refusing set search_path = public, pg_catalog')
    t.equal(await refusal(server.url('refusing', 'geheim', 'refusing')),
      'Document Dispatch could not start: PostgreSQL 15 or newer is needed; this server is 14.11.\n')
  })
})

void t.test('PostgreSQL from 16 on, where who makes a role may not act as it', async (t) => {
  const folder = dataDirectory(t)
  const server = await startEmbedded({ dir: join(dirname(folder), 'other') })
  t.teardown(() => server.stop())
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query('create role owner login createrole')
  await client.query('create database owned owner owner')
  await client.end()
  const service = await startReady(t, {
    dataDirectory: folder,
    env: { DATABASE_URL: server.url.replace(/dispatch@\/postgres/, 'owner@/owned') }
  })
  has(t, await send(service.url(), 'POST', '/api/invoicing', invoiceRequest()), { status: 200 })
})

import { createCompanies, hashPassword } from '@dispatch/accounts'
import { migrate } from '@dispatch/core'
import { openDatabase } from '@dispatch/database'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { freePort } from '../../scripts/free-port.ts'
import { has } from '../support/matching.ts'
import { testDatabase } from '../support/postgres.ts'
import { certificateFiles, fetchSecurely } from '../support/secure.ts'
import { dataDirectory, refusalOf, root, startReady } from './support/process.ts'

/** The variables that the operators' page gives for a kind of production. */
function documented (kind: string): Record<string, string> {
  const [, text = ''] =
    new RegExp(`^\`\`\`sh production=${kind}\n([^]*?)^\`\`\`$`, 'm').exec(readFileSync(join(root, 'plugins/guides/operator.md'), 'utf8')) ??
      []
  return Object.fromEntries(text.trimEnd().split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)))
}

/** The same with this machine's files and ports in place of the page's. */
async function environment (t: Test, kind: string): Promise<{ env: Record<string, string>, folder: string }> {
  const folder = dataDirectory(t)
  const { url: DATABASE_URL } = await testDatabase(t)
  const env = documented(kind)
  const DISPATCH_MASTER_KEY_FILE = join(dirname(folder), 'master.key')
  mkdirSync(dirname(DISPATCH_MASTER_KEY_FILE), { recursive: true })
  writeFileSync(DISPATCH_MASTER_KEY_FILE, randomBytes(32).toString('base64'), { mode: 0o600 })
  return { folder, env: { ...env, PORT: '0', DATABASE_URL, DISPATCH_MASTER_KEY_FILE, DISPATCH_DATA_DIR: folder } }
}

const login = { email: 'ada@company.example', password: 'a password of her own' }
const authorization = `Basic ${Buffer.from(`${login.email}:${login.password}`).toString('base64')}`

/** A company of the new installation. */
async function settle (databaseUrl: string): Promise<void> {
  const database = openDatabase({ connectionString: databaseUrl }, { onError: () => undefined })
  await migrate(database)
  await createCompanies(database, [{
    name: 'Company',
    credits: 1,
    users: [{ email: login.email, role: 'admin', services: ['*'], passwordHash: await hashPassword(login.password) }]
  }], new Date())
  await database.close()
}

void t.test('with its own certificate, as the operators\' page says', async (t) => {
  const { env, folder } = await environment(t, 'tls')
  const { authority: { ca, issue }, config: { tls }, write } = await certificateFiles(t)
  const httpPort = String(await freePort())
  await settle(env['DATABASE_URL'] ?? '')
  const service = await startReady(t, {
    dataDirectory: folder,
    env: { ...env, HOST: '127.0.0.1', DISPATCH_HTTP_PORT: httpPort, DISPATCH_TLS_CERT: tls?.cert ?? '', DISPATCH_TLS_KEY: tls?.key ?? '' }
  })
  const health = await fetchSecurely(`${service.url()}/healthz`, ca, { headers: { authorization } })
  has(t, [health.status, health.headers.get('strict-transport-security')], [200, 'max-age=31536000'])
  const plain = await fetch(`http://127.0.0.1:${httpPort}/healthz`, { headers: { authorization }, redirect: 'manual' })
  has(t, [plain.status, await plain.json()], [403, { error: 'https_required' }])
  write(await issue('127.0.0.1'))
  while ((await fetchSecurely(`${service.url()}/livez`, ca)).serial === health.serial) await pause(500)
  while (!service.log().some(({ msg }) => msg === 'the certificate was renewed')) await pause(50)
  for (const port of [httpPort, new URL(service.url()).port]) {
    await once(connect(Number(port), '127.0.0.1').on('error', () => undefined), 'connect')
  }
  process.kill(service.pid, 'SIGTERM')
  t.equal(await service.ended, 0, 'clients that say nothing are not waited for')
})

void t.test('behind a proxy, as the operators\' page says', async (t) => {
  const { env, folder } = await environment(t, 'proxy')
  await settle(env['DATABASE_URL'] ?? '')
  const service = await startReady(t, { dataDirectory: folder, env })
  const through = await proxy(t, service.url())
  t.equal((await fetch(`${through('https')}/healthz`, { headers: { authorization } })).status, 200)
  const plain = await fetch(`${through('http')}/healthz`, { headers: { authorization } })
  has(t, [plain.status, await plain.json()], [403, { error: 'https_required' }])
  t.equal((await fetch(`${service.url()}/readyz`)).status, 204, 'the proxy\'s own look')
  t.equal((await fetch(`${service.url()}/healthz`, { headers: { authorization } })).status, 403)
})

void t.test('production on the embedded database is told what that is good for, in one line', async (t) => {
  const { env, folder } = await environment(t, 'proxy')
  delete env['DATABASE_URL']
  const service = await startReady(t, { dataDirectory: folder, env })
  t.equal((await fetch(`${service.url()}/readyz`)).status, 204)
  t.equal(
    service.log().filter(({ msg }) => /^the embedded database is good for one process on one machine, .*DATABASE_URL/.test(String(msg)))
      .length,
    1
  )
})

void t.test('without HTTPS production is refused, and a key that others can read', async (t) => {
  const { env, folder } = await environment(t, 'proxy')
  const without = { ...env, DISPATCH_TRUSTED_PROXIES: '' }
  has(t, await refusalOf(t, { dataDirectory: folder, env: without }), {
    code: 1,
    stderr: /^Document Dispatch could not start: In production requests come over HTTPS: [^\n]*\.\n$/
  })
  writeFileSync(join(folder, '../open.key'), randomBytes(32).toString('base64'), { mode: 0o644 })
  has(t, await refusalOf(t, { dataDirectory: folder, env: { ...env, DISPATCH_MASTER_KEY_FILE: join(folder, '../open.key') } }), {
    code: 1,
    stderr: /open\.key of DISPATCH_MASTER_KEY_FILE can be read or changed by other users \(mode \d+\)/
  })
})

/** A proxy that has taken requests over the protocol. */
async function proxy (t: Test, to: string): Promise<(protocol: string) => string> {
  const server = createServer((incoming, answer) => {
    const [, protocol = '', path = ''] = /^\/(https?)(\/.*)$/.exec(incoming.url ?? '') ?? []
    incoming.pipe(
      request(to + path, { method: incoming.method ?? 'GET', headers: { ...incoming.headers, 'x-forwarded-proto': protocol } },
        (response) => {
          answer.writeHead(response.statusCode ?? 502, response.headers)
          response.pipe(answer)
        })
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return (protocol) => `http://127.0.0.1:${port}/${protocol}`
}

import { createAuthority } from '@dispatch/conformance'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../scripts/free-port.ts'
import { type StallingProxy, stallingProxy } from '../support/silent-proxy.ts'
import { send } from './client.ts'
import { type CrashDatabase, startDatabase } from './database.ts'
import { keep, type Kept, startVendor, type Vendor } from './processes.ts'
import { type Receiver, startReceiver } from './receiver.ts'

/** The service as it is run for real: a database, a vendor, and processes that come again when they are killed. */
export type Installation = {
  database: CrashDatabase
  vendor: Vendor
  /** To the vendor. */
  way: StallingProxy
  /** Of callbacks. */
  receiver: Receiver
  /** Those that serve, then those that work alone. */
  processes: readonly Kept[]
  /** Of those that serve. */
  urls: readonly string[]
  /** Of the admin of "Demo". */
  token: string
  close: () => Promise<void>
}

const demo = { username: 'demo@example.com', password: 'demo-password' }
const vendorLogin = 'vendor:vendor-password'
const credits = 1_000_000

/** Seconds that the clock of each process is ahead, where clocks can be set. */
const skews = [-30, 30, 0]

/** Which provider does what. */
const providers = { invoicing: 'keyed', upload: 'keyed', email: 'searched', sms: 'blind', esign: 'drafted', postal: 'posted' }

/** Opens an installation with so many processes of each kind. They write their log lines to `log`. Closing it removes everything. */
export async function openInstallation ({ serving, working, log = devNull }: {
  serving: number
  working: number
  log?: string | undefined
}): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-crash-'))
  const authority = await createAuthority()
  writeFileSync(join(folder, 'authority.pem'), authority.ca)
  const processes: Kept[] = []
  const database = await startDatabase(folder)
  const certificate = await authority.issue('127.0.0.1')
  const receiver = await startReceiver(certificate)
  const vendor = await startVendor(certificate, () => {
    for (const process of processes) process.kill()
  })
  const way = await stallingProxy({ host: '127.0.0.1', port: Number(new URL(vendor.url).port) })
  const ports = await Promise.all(Array.from({ length: serving }, () => freePort()))
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const env = environment(folder, database)
  for (const [index, port] of ports.entries()) {
    const url = urls[index] ?? ''
    processes.push(
      keep('scripts/serve.ts', {
        env: { ...env, PORT: String(port) },
        log,
        skew: skews[index] ?? 0,
        answers: () => fetch(`${url}/readyz`).then(({ ok }) => ok, () => false)
      })
    )
    // The first one makes the tables and the accounts.
    await processes.at(-1)?.ready()
  }
  for (let index = 0; index < working; index++) {
    processes.push(keep('scripts/worker.ts', { env, log, skew: skews[serving + index] ?? 0, answers: () => Promise.resolve(true) }))
  }
  const token = await furnish(urls[0] ?? '', { database, receiver, vendor: `https://127.0.0.1:${way.port}` })
  vendor.tell({
    kind: 'endpoints',
    urls: urls.map((url) => `${url}/api/webhooks/esign/providers/drafted/endpoint.json`),
    authorization: `Basic ${btoa(vendorLogin)}`
  })
  return {
    database,
    vendor,
    way,
    receiver,
    processes,
    urls,
    token,
    async close () {
      await Promise.all(processes.map((process) => process.stop()))
      way.close()
      vendor.stop()
      receiver.stop()
      await database.stop()
      rmSync(folder, { recursive: true })
    }
  }
}

/** Nothing of this process's environment but where programs are. */
function environment (folder: string, { url }: CrashDatabase): NodeJS.ProcessEnv {
  mkdirSync(join(folder, 'data'))
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(folder, 'compiled'),
    NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
    DATABASE_URL: url,
    DISPATCH_DATA_DIR: join(folder, 'data'),
    DISPATCH_KEYS: join(folder, 'keys'),
    DISPATCH_PROVIDERS_DIR: fileURLToPath(new URL('providers', import.meta.url)),
    DISPATCH_PRICES: 'invoicing=1,esign=2,email=3,sms=4,upload=5,postal=6',
    DISPATCH_WEBHOOKS_ENDPOINT_AUTH_DRAFTED: vendorLogin,
    DISPATCH_DISPATCH_LIMIT: '0',
    DISPATCH_AUTH_LIMIT: '0',
    DISPATCH_LOG_LEVEL: 'warn',
    DISPATCH_DEMO_CATALOG: 'off'
  }
}

/** Gives "Demo" its providers, credits and secret; answers a token of its admin. */
async function furnish (
  url: string,
  { database, receiver, vendor }: Pick<Installation, 'database' | 'receiver'> & { vendor: string }
): Promise<string> {
  const token: string = (await send(url, '/auth', { body: demo }))?.body.data.token
  const put = async (path: string, body: unknown): Promise<void> => {
    const answer = await send(url, path, { method: 'PUT', token, body })
    if (answer?.status !== 200) throw new Error(`PUT ${path} answered ${JSON.stringify(answer)}`)
  }
  for (const code of new Set(Object.values(providers))) {
    const settings = { vendor, ...(code === 'searched' ? { allowedSenders: [demo.username] } : {}) }
    await put(`/api/v1/company/providers/${code}`, { settings, sandbox: false })
  }
  for (const [service, providerName] of Object.entries(providers)) await put(`/api/v1/company/defaults/${service}`, { providerName })
  receiver.expect((await send(url, '/api/v1/company/callback-secret', { token }))?.body.secret)
  await database.rows(`
    with rich as (update credits set balance = balance + ${credits} where balance > 0 returning company_id, balance)
    insert into ledger (company_id, kind, amount, balance, reason, at) select company_id, 'grant', ${credits}, balance, 'Crash test', now() from rich`)
  return token
}

import { createCompanies, hashPassword } from '@dispatch/accounts'
import type { Role } from '@dispatch/contract'
import { demo } from '@dispatch/core'
import { openDatabase } from '@dispatch/database'
import { createRenderer, createTemplateWorkers, type Renderer } from '@dispatch/documents'
import { loadProvider, type PassedTrials } from '@dispatch/host'
import { makeIndexes } from '@dispatch/tables'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { createServer } from '../../plugins/app.ts'
import type { Config } from '../../plugins/config/config.ts'
import { prepareDatabase } from '../../plugins/config/prepare-database.ts'
import { type App, createApp, type Replacements } from '../../plugins/container.ts'
import type { Feature } from '../../plugins/features/feature.ts'
import { type AdmissionLimits, admissionLimits } from '../../plugins/hooks/admission-control.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { createErrors } from './documented.ts'
import { templateDatabase, testDatabase } from './postgres.ts'

/** An answer of the service; `body` is the parsed JSON, or the text of anything else. */
export type Answer = { status: number, headers: Headers, body: any }
export type Sending = { body?: unknown, headers?: Record<string, string> }
export type Login = { email: string, password: string }

/** A real service on a real port with a database of its own, seeded as in development. */
export type TestService = {
  url: string
  app: App
  /** The lines that it has logged. */
  log: string[]
  /** Sends as the admin of "Demo", or as `login`, or (null) without credentials. A body is sent as JSON, a text or bytes as they are. */
  send: (method: string, path: string, sending?: Sending, login?: Login | null) => Promise<Answer>
  /** Creates a company with one user for each role; its e-mails are `<role>@<name>.example.com`, all passwords "password". */
  company: (name: string, options?: { credits?: number, services?: string[] }) => Promise<{ companyId: number } & Record<Role, Login>>
}

export const admin: Login = demo.admin
export const operator: Login = demo.operator

/** Any 32 bytes serve; databases that are copied need the same. */
const masterKey = hash('sha256', 'any bytes', 'base64')
export const shippedProviders = fileURLToPath(new URL('../../providers', import.meta.url))

export function testConfig (dataDirectory: string, changes: Partial<Config> = {}): Config {
  return {
    environment: 'development',
    host: '127.0.0.1',
    port: 0,
    publicUrl: 'https://dispatch.example.com',
    dataDirectory,
    providerDirectories: [shippedProviders],
    sandbox: process.env['DISPATCH_SANDBOX'] === 'all' ? 'all' : 'none',
    sandboxWalls: 'required',
    masterKey,
    prices: {},
    allowedNetworks: [],
    trustedProxies: changes.environment === 'production' ? ['127.0.0.1/32'] : [],
    limits: { auth: 0, dispatch: 0, validation: 0, requests: 0 },
    webhookAuth: {},
    runsWorker: true,
    concurrency: 16,
    drainDelay: 0,
    showsConsole: true,
    keepsRequestLog: false,
    logBudget: 32,
    retentionDays: 90,
    filesQuota: 1024 * 1024 * 1024,
    logLevel: 'debug',
    ...changes
  }
}

/** The address of a database that is seeded as in development. */
export async function seededDatabase (t: Test): Promise<string> {
  const template = await templateDatabase('seeded', async (databaseUrl) => {
    const folder = mkdtempSync(join(tmpdir(), 'dispatch-seed-'))
    const app = await createApp(testConfig(folder), { databaseUrl, log: createLogger('silent'), renderer: noRenderer })
    await prepareDatabase(app)
    await app.close()
    // They would be made in each test, beside its work.
    const database = openDatabase({ connectionString: databaseUrl }, { onError: () => undefined })
    await makeIndexes(database, { log: createLogger('silent') })
    await database.close()
    rmSync(folder, { recursive: true })
  })
  return (await testDatabase(t, { template })).url
}

/**
 * The same for a service that is a process of its own, as the variables of its environment. On an empty database a start makes all tables
 * and accounts first, and takes twice as long.
 */
export async function seededEnvironment (t: Test): Promise<{ DATABASE_URL: string, DISPATCH_MASTER_KEY: string }> {
  return { DATABASE_URL: await seededDatabase(t), DISPATCH_MASTER_KEY: masterKey }
}

const noRenderer: Renderer = {
  render: () => Promise.reject(new Error('Nothing is rendered here.')),
  close: () => Promise.resolve()
}

/** Tests read every line. */
const everyWarning = { max: Infinity, within: 60_000 }

/** Tests come in a hurry, all from one address, one large body after the other. */
const hurried: AdmissionLimits = {
  ...admissionLimits,
  largeBodyDrainRate: Infinity,
  tarpit: { ...admissionLimits.tarpit, burst: 1_000_000 }
}

/** Folders that tests write do no harm; a trial takes a process, and so most of a second. */
const withoutTrials: PassedTrials = { among: (keys) => Promise.resolve(new Set(keys)), add: () => Promise.resolve() }

const loaded = new Map<string, ReturnType<typeof loadProvider>>()

/** The services of a process share the shipped providers: to load them is a third of a start, and they keep nothing of a service. */
const loadOnce: typeof loadProvider = (folder, digest, limit) => {
  if (!folder.startsWith(shippedProviders)) return loadProvider(folder, digest, limit)
  const key = `${folder} ${digest}`
  const known = loaded.get(key) ?? loadProvider(folder, digest, limit)
  loaded.set(key, known)
  // One that could not be loaded, on a busy machine, is tried again.
  known.catch(() => loaded.delete(key))
  return known
}

/**
 * The threads that make documents and check templates, for all services of a process: a thread starts in longer than a service. They end
 * with the process, which does not wait for them.
 */
const threads = { renderer: createRenderer(), templateWorkers: createTemplateWorkers() }
const close = (): Promise<void> => Promise.resolve()
const lastingThreads: Pick<Replacements, 'renderer' | 'templateWorkers'> = {
  renderer: { ...threads.renderer, close },
  templateWorkers: { ...threads.templateWorkers, close }
}

type Starting = {
  databaseUrl?: string
  config?: Partial<Config>
  replacements?: Replacements
  features?: readonly Feature[]
  time?: (() => Date) | undefined
}

/**
 * Starts a service; it is closed when the test ends. `config` and `parts` stand in for the usual ones; a clock among them is the database's
 * too, unless `time` is another. `features`: in the place of those of the installation.
 */
export async function startService (
  t: Test,
  { databaseUrl, config = {}, replacements = {}, features, time = replacements.now }: Starting = {}
): Promise<TestService> {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-service-'))
  const log: string[] = []
  const logger = createLogger(config.logLevel ?? 'debug', { write: (line) => log.push(line) }, everyWarning)
  // Services that share a database would have to share the keys, too: a test says so.
  const keys = databaseUrl === undefined ? { dataKeys: { folder: join(folder, 'keys') } } : {}
  const app = await createApp(testConfig(folder, { ...keys, ...config }), {
    databaseUrl: databaseUrl ?? await seededDatabase(t),
    log: logger,
    admissionLimits: hurried,
    passedTrials: withoutTrials,
    load: loadOnce,
    ...lastingThreads,
    time,
    ...features === undefined ? {} : { features },
    ...replacements
  })
  const server = await createServer(app, logger)
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const errors = createErrors()
  t.teardown(async () => {
    let undocumented: readonly string[]
    try {
      undocumented = await errors.undocumented(async () =>
        JSON.parse((await server.inject({ url: '/openapi.json', headers: { 'x-forwarded-proto': 'https' } })).payload)
      )
    } finally {
      await server.close()
      await app.close()
      rmSync(folder, { recursive: true })
    }
    if (undocumented.length > 0) throw new Error(`The OpenAPI document does not name these errors: ${undocumented.join('; ')}`)
  })
  return {
    url,
    app,
    log,
    async send (method, path, sending, login = admin) {
      const answer = await send(url, method, path, sending, login)
      errors.note(method, path, answer)
      return answer
    },
    company: (name, options) => newCompany(app, name, options)
  }
}

async function send (
  url: string,
  method: string,
  path: string,
  { body, headers = {} }: Sending = {},
  login: Login | null
): Promise<Answer> {
  const isJson = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(login === null ? {} : { authorization: `Basic ${Buffer.from(`${login.email}:${login.password}`).toString('base64')}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      // As a proxy does it, where a test has one trusted.
      'x-forwarded-proto': 'https',
      ...headers
    },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body as string | Uint8Array<ArrayBuffer> })
  })
  const text = await response.text()
  const json = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: json === true && text !== '' ? JSON.parse(text) : text }
}

async function newCompany (app: App, name: string, { credits = 100, services = ['*'] }: { credits?: number, services?: string[] } = {}) {
  const passwordHash = await hashPassword('password')
  const login = (role: Role): Login => ({ email: `${role}@${name}.example.com`, password: 'password' })
  const roles = ['operator', 'admin', 'member'] as const
  const [companyId = 0] = await createCompanies(app.get('database'), [{
    name,
    credits,
    users: roles.map((role) => ({ email: login(role).email, role, services, passwordHash })),
    defaultProvider: { code: demo.provider, services: ['invoicing'] }
  }], new Date())
  return { companyId, operator: login('operator'), admin: login('admin'), member: login('member') }
}

let numbers = 0

/** A request that dispatches an invoice with a number of its own; `changes` go over the data, `more` over the body. */
export function invoiceRequest (changes: Record<string, unknown> = {}, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    documentType: 'INVOICE',
    template: {
      id: 1,
      data: {
        number: `F-${String(process.pid)}-${String(++numbers)}`,
        date: '2026-03-14',
        currency: 'EUR',
        customer: { name: 'Ada Lovelace', email: 'ada@example.com', city: 'London', country: 'GB' },
        lines: [{ description: 'Consulting', quantity: 2, unitPrice: 450, total: 900 }],
        subtotal: 900,
        taxRate: 20,
        taxAmount: 180,
        total: 1080,
        ...changes
      }
    },
    ...more
  }
}

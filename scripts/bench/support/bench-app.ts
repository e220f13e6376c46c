import { createCompanies, hashPassword } from '@dispatch/accounts'
import type { Rendered, Renderer } from '@dispatch/documents'
import { randomUUID } from 'node:crypto'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { type Config, readConfig } from '../../../plugins/config/config.ts'
import { prepareDatabase } from '../../../plugins/config/prepare-database.ts'
import { type App, createApp } from '../../../plugins/container.ts'

export type Bench = { app: App, config: Config, users: readonly [User, ...User[]] }
type User = { email: string, password: string }
type NewCompany = Parameters<typeof createCompanies>[1][number]

/**
 * `vendor`: the vendor of the companies' SMS, or `instant` for the provider that asks none; without one, SMS and
 * invoices go to the simulator. `companies`, `users`: the number of companies, and of users of each; by default one. `role`: of the users,
 * who are members unless told.
 */
export type BenchAppOptions = {
  databaseUrl: string
  folder: string
  documents: 'rendered' | 'unrendered'
  vendor?: string | undefined
  companies?: number
  users?: number
  role?: NewCompany['users'][number]['role']
  log: Logger
}

/** A PDF without rendering, and without pages: as little as a file that is really written can have. */
const empty: Rendered<'pdf'> = { bytes: Buffer.from('%PDF-1.7\n'), contentType: 'application/pdf', pages: 1, signatures: [] }

const unrendered: Renderer = {
  // An invoice asks for no other format.
  render: (() => Promise.resolve(empty)) as Renderer['render'],
  close: () => Promise.resolve()
}

/** The service's own providers, and that of the benchmarks. */
export const providerDirectories = ['../../../providers', 'providers'].map((folder) => fileURLToPath(new URL(folder, import.meta.url)))
  .join(delimiter)

/** The service as `npm start` creates it, with users of companies that have enough credits. */
export async function openBenchApp ({ databaseUrl, folder, documents, vendor, companies = 1, users: amount = 1, role = 'member', log }:
  BenchAppOptions): Promise<Bench>
{
  const config = readConfig({
    DISPATCH_AUTH_LIMIT: '0',
    DISPATCH_DISPATCH_LIMIT: '0',
    // A dispatch that costs nothing moves no credits.
    DISPATCH_PRICES: 'sms=1',
    ...process.env,
    PORT: '0',
    DISPATCH_DATA_DIR: folder,
    DATABASE_URL: databaseUrl,
    DISPATCH_PROVIDERS_DIR: providerDirectories
  })
  const traces = config.traces === undefined
    ? {}
    : { traces: (await import('../../../plugins/traces/traces.ts')).openTraces(config.traces, { log }) }
  const app = await createApp(config, { databaseUrl, log, ...traces, ...(documents === 'unrendered' ? { renderer: unrendered } : {}) })
  await prepareDatabase(app)
  const password = 'bench-password'
  const passwordHash = await hashPassword(password)
  const newUser = (): User => ({ email: `${randomUUID()}@bench.example.com`, password })
  const users = [newUser(), ...Array.from({ length: companies * amount - 1 }, newUser)] as const
  await createCompanies(app.get('database'), Array.from({ length: companies }, (_, nth) => ({
    name: `Bench ${nth}`,
    credits: 1_000_000_000,
    users: users.slice(nth * amount, (nth + 1) * amount).map(({ email }) => ({ email, role, services: ['*'], passwordHash })),
    defaultProvider: defaultProviderOf(vendor)
  })), new Date())
  return { app, config, users }
}

function defaultProviderOf (vendor: string | undefined): NonNullable<NewCompany['defaultProvider']> {
  if (vendor === undefined) return { code: 'simulator', services: ['invoicing', 'sms'] }
  return vendor === 'instant' ? { code: 'instant', services: ['sms'] } : { code: 'bench', services: ['sms'], settings: { vendor } }
}

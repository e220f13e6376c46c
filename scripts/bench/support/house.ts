import { randomUUID } from 'node:crypto'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createCompanies, hashPassword, type Rendered } from '@dispatch/core'
import type { Logger } from 'pino'
import { readConfig, type Config } from '../../../plugins/config.ts'
import { compose, type House, type Parts } from '../../../plugins/container.ts'
import { prepare } from '../../../plugins/prepare.ts'

export type Bench = { house: House, config: Config, user: { email: string, password: string } }

/** `vendor`: where the company's SMS go; to the simulator, as its invoices do, without one. */
export type HouseOptions = { databaseUrl: string, folder: string, documents: 'rendered' | 'unrendered', vendor?: string | undefined, log: Logger }

/** A PDF at once, of no bytes. */
const empty: Rendered<'pdf'> = { bytes: new Uint8Array(), contentType: 'application/pdf', pages: 1, title: '', signatures: [] }

const unrendered: Parts['renderer'] = {
  // An invoice asks for no other format.
  render: (() => Promise.resolve(empty)) as Parts['renderer']['render'],
  close: () => Promise.resolve()
}

/** The service's own providers, and the one of the benchmarks. */
export const providerDirectories = ['../../../providers', 'providers'].map((folder) => fileURLToPath(new URL(folder, import.meta.url))).join(delimiter)

/** The service composed as `npm start` does it, with a user of a company that has credits enough. */
export async function openHouse ({ databaseUrl, folder, documents, vendor, log }: HouseOptions): Promise<Bench> {
  const config = readConfig({ ...process.env, PORT: '0', DISPATCH_DATA_DIR: folder, DATABASE_URL: databaseUrl, DISPATCH_PROVIDERS_DIR: providerDirectories, DISPATCH_AUTH_LIMIT: '0', DISPATCH_DISPATCH_LIMIT: '0' })
  const house = await compose(config, { databaseUrl, log, ...(documents === 'unrendered' ? { renderer: unrendered } : {}) })
  await prepare(house)
  const user = { email: `${randomUUID()}@bench.example.com`, password: 'bench-password' }
  await createCompanies(house.get('database'), [{
    name: 'Bench',
    credits: 1_000_000_000,
    users: [{ email: user.email, role: 'member', services: ['*'], passwordHash: await hashPassword(user.password) }],
    defaultProvider: vendor === undefined ? { code: 'simulator', services: ['invoicing', 'sms'] } : { code: 'bench', services: ['sms'], settings: { vendor } }
  }], new Date())
  return { house, config, user }
}

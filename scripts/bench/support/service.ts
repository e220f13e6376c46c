/**
 * The service as `npm start` runs it, on the database and in the folder given as arguments, with a company that has credits
 * enough; "unrendered" as a third argument leaves out the making of documents.
 */
import { createCompanies, hashPassword } from '@dispatch/core'
import { createServer } from '../../../plugins/app.ts'
import { readConfig } from '../../../plugins/config.ts'
import { compose, type Parts } from '../../../plugins/container.ts'
import { createLogger, standardOutput } from '../../../plugins/logging.ts'
import { prepare } from '../../../plugins/prepare.ts'

/** The address, and the Authorization headers of a user. */
export type Service = { url: string, basic: string, bearer: string }

/** A document at once, of no bytes. */
const unrendered: Parts['renderer'] = {
  render: () => Promise.resolve({ bytes: new Uint8Array(), contentType: 'application/pdf', pages: 1, title: '' }),
  close: () => Promise.resolve()
}

const [databaseUrl = '', folder = '', rendering] = process.argv.slice(2)
const config = readConfig({ ...process.env, PORT: '0', DISPATCH_DATA_DIR: folder, DATABASE_URL: databaseUrl })
const log = createLogger(config.logLevel, standardOutput())
const house = await compose(config, { databaseUrl, log, ...(rendering === 'unrendered' ? { renderer: unrendered } : {}) })
await prepare(house)

const user = { email: `${rendering ?? 'rendered'}@bench.example.com`, password: 'bench-password' }
await createCompanies(house.get('database'), [{
  name: 'Bench',
  credits: 1_000_000_000,
  users: [{ email: user.email, role: 'member', services: ['*'], passwordHash: await hashPassword(user.password) }],
  defaultProvider: { code: 'simulator', services: ['invoicing'] }
}], new Date())

const server = await createServer(house, log)
const url = await server.listen({ host: config.host, port: config.port })
process.once('SIGTERM', () => { void server.close().then(house.close).then(() => process.disconnect?.()) })
const { token } = await house.get('authentication').login(user.email, user.password)
process.send?.({ url, basic: `Basic ${btoa(`${user.email}:${user.password}`)}`, bearer: `Bearer ${token}` } satisfies Service)

/**
 * The service on the database and in the folder given as arguments, "rendered" or "unrendered"; a vendor may follow (`openBenchApp`).
 * BENCH_COMPANIES, BENCH_USERS: the number of companies, and of users of each.
 */
import { createServer } from '../../../plugins/app.ts'
import { createLogger } from '../../../plugins/hooks/logging.ts'
import { openBenchApp } from './bench-app.ts'
import { whenStopped } from './stop.ts'

/** The address, and the Authorization headers of one user; `basics`, `bearers`: those of all. */
export type RunningService = { url: string, basic: string, bearer: string, bearers: readonly string[], basics: readonly string[] }

const [databaseUrl = '', folder = '', documents, vendor] = process.argv.slice(2)
const log = createLogger('info')
const { app, config, users } = await openBenchApp({
  databaseUrl,
  folder,
  documents: documents === 'unrendered' ? documents : 'rendered',
  vendor,
  companies: Number(process.env['BENCH_COMPANIES'] ?? 1),
  users: Number(process.env['BENCH_USERS'] ?? 1),
  log
})
const server = await createServer(app, log)
const url = await server.listen({ host: config.host, port: config.port })
whenStopped(() => server.close().then(app.close))
const bearers: string[] = []
// One after the other: more passwords at once are refused.
for (const user of users) bearers.push(`Bearer ${(await app.get('authentication').login(user.email, user.password, config.host)).token}`)
const basics = users.map(({ email, password }) => `Basic ${btoa(`${email}:${password}`)}`)
process.send?.({ url, basic: basics[0] ?? '', bearer: bearers[0] ?? '', bearers, basics } satisfies RunningService)

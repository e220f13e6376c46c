/** The service on the database and in the folder given as arguments, "rendered" or "unrendered"; a vendor's address may follow. */
import { createServer } from '../../../plugins/app.ts'
import { createLogger } from '../../../plugins/logging.ts'
import { openHouse } from './house.ts'

/** The address, and the Authorization headers of a user. */
export type Service = { url: string, basic: string, bearer: string }

const [databaseUrl = '', folder = '', documents, vendor] = process.argv.slice(2)
const log = createLogger('info')
const { house, config, user: { email, password } } = await openHouse({ databaseUrl, folder, documents: documents === 'unrendered' ? documents : 'rendered', vendor, log })
const server = await createServer(house, log)
const url = await server.listen({ host: config.host, port: config.port })
process.once('SIGTERM', () => { void server.close().then(house.close).then(() => process.disconnect?.()) })
const { token } = await house.get('authentication').login(email, password, config.host)
process.send?.({ url, basic: `Basic ${btoa(`${email}:${password}`)}`, bearer: `Bearer ${token}` } satisfies Service)

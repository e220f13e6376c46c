/** A process that runs jobs of the database's queue, in the folder given as arguments. */
import { readConfig } from '../../../plugins/config/config.ts'
import { createApp } from '../../../plugins/container.ts'
import { createLogger } from '../../../plugins/hooks/logging.ts'
import { providerDirectories } from './bench-app.ts'
import { whenStopped } from './stop.ts'

const [databaseUrl = '', folder = ''] = process.argv.slice(2)
const config = readConfig({
  ...process.env,
  DISPATCH_DATA_DIR: folder,
  DATABASE_URL: databaseUrl,
  DISPATCH_PROVIDERS_DIR: providerDirectories
})
const app = await createApp(config, { databaseUrl, log: createLogger('info') })
whenStopped(app.close)
process.send?.({})

import { migrate } from '@dispatch/core'
import { type Database, type DatabaseOptions, openDatabase } from '@dispatch/database'
import { findEmbedded, startEmbedded } from '@dispatch/embedded-postgres'
import { join } from 'node:path'
import type { Config } from '../../plugins/config/config.ts'
import { findFeatures, migrationsOf } from '../../plugins/features/find-features.ts'

/**
 * Whether a new database first gets what the first start in development would give it, because it is not new afterwards. A server of
 * DATABASE_URL never does: whoever runs a command without the service's NODE_ENV must not fill it with accounts that everybody knows.
 */
export function isDemo ({ environment, databaseUrl }: Config): boolean {
  return environment === 'development' && databaseUrl === undefined
}

/**
 * Runs work with the service's database after its migrations, whether the service runs or not: the server of DATABASE_URL, or the embedded
 * one, which is started for that time if no service runs it. The data directory must be open.
 */
export async function withDatabase<Result> (
  config: Config,
  work: (database: Database) => Promise<Result>,
  plugins: NonNullable<DatabaseOptions['plugins']> = []
): Promise<Result> {
  return withConnection(config, async (database) => {
    await migrate(database, { ofFeatures: migrationsOf(await findFeatures()) })
    return work(database)
  }, plugins)
}

/** The same with the schema as it is. */
export async function withConnection<Result> (
  config: Config,
  work: (database: Database) => Promise<Result>,
  plugins: NonNullable<DatabaseOptions['plugins']> = []
): Promise<Result> {
  await using opened = new AsyncDisposableStack()
  const connectionString = config.databaseUrl ?? await embeddedUrl(config.dataDirectory, opened)
  const database = openDatabase({ connectionString }, {
    connections: 2,
    plugins,
    directUrl: config.databaseDirectUrl,
    onError: (error) => {
      console.error(`A database connection was lost: ${error.message}`)
    },
    onWait: ({ holder, waited }) => {
      console.error(`Waiting for another process, which prepares the database (${waited} s): ${holder}.`)
    }
  })
  opened.defer(database.close)
  await database.reach()
  return await work(database)
}

async function embeddedUrl (dataDirectory: string, opened: AsyncDisposableStack): Promise<string> {
  const dir = join(dataDirectory, 'postgres')
  const running = await findEmbedded(dir)
  if (running !== undefined) return running
  const embedded = await startEmbedded({ dir })
  opened.defer(() => embedded.stop())
  return embedded.url
}

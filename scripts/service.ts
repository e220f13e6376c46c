import { containStrayErrors, isPassingOutage } from '@dispatch/core'
import { type Embedded, startEmbedded, StartError } from '@dispatch/embedded-postgres'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { DestinationStream, Logger } from 'pino'
import { createServer } from '../plugins/app.ts'
import { requireHttps } from '../plugins/config/config-transport.ts'
import { type Config, readConfig } from '../plugins/config/config.ts'
import { prepareDatabase } from '../plugins/config/prepare-database.ts'
import { type App, createApp } from '../plugins/container.ts'
import { createLogger, logOutput, standardOutput } from '../plugins/hooks/logging.ts'
import { createHttpRefusalServer } from '../plugins/server/http-refusal-server.ts'
import { openDataDirectory } from './data-directory.ts'
import { sentenceOf } from './failure.ts'
import { withFreePort } from './free-port.ts'
import { endOnSignal } from './signals.ts'
import { welcome } from './welcome.ts'

/** What a process does: it serves, and works on the queue beside that unless it is told not to; or it works alone. */
export type Task = 'serve' | 'work'

/**
 * Starts the service, runs until it is told to stop, and closes all that was opened. A failure is one sentence on standard error and exit
 * code 1.
 */
export async function runService (env: NodeJS.ProcessEnv, task: Task): Promise<void> {
  /** Aborted with the name of a signal, or with an error when the service cannot go on. */
  const end = new AbortController()
  const ended = once(end.signal, 'abort')
  const opened = new AsyncDisposableStack()
  endOnSignal(end)
  try {
    await open(readConfig(await withFreePort(env)), task, opened, end)
    await ended
    if (end.signal.reason instanceof Error) {
      fail('go on', end.signal.reason)
      // Without its database nothing can be brought to an end: what is under way is found at the next start.
      process.exit()
    }
  } catch (error) {
    // A signal to the whole process group ends a running initdb too: such a start was stopped, it has not failed.
    if (!end.signal.aborted || end.signal.reason instanceof Error) fail('start', error)
  }
  await opened.disposeAsync().catch((error: unknown) => {
    fail('stop', error)
  })
}

function fail (task: string, error: unknown): void {
  console.error(`Document Dispatch could not ${task}: ${sentenceOf(error)}`)
  process.exitCode = 1
}

type Starting = { opened: AsyncDisposableStack, end: AbortController, log: Logger, output: DestinationStream }

/** What is opened goes on the stack, to be closed in the opposite order. */
async function open (config: Config, task: Task, opened: AsyncDisposableStack, end: AbortController): Promise<void> {
  const output = standardOutput()
  const starting = { opened, end, output, log: createLogger(config.logLevel, logOutput(output, { terminal: process.stdout.isTTY })) }
  opened.use(containStrayErrors({
    log: starting.log,
    end: (error) => {
      end.abort(error instanceof Error ? error : new Error(String(error)))
    }
  }))
  openDataDirectory(config.dataDirectory)
  if (task === 'work') return work(config, starting)
  if (config.databaseUrl !== undefined) return serve(config, config.databaseUrl, starting)
  if (config.environment === 'production') starting.log.info({}, embeddedIsGoodFor)
  const dir = join(config.dataDirectory, 'postgres')
  const embedded = await openDatabase(dir, starting)
  try {
    await serve(config, embedded.url, starting)
  } catch (error) {
    // What misses its database fails in as many ways as it uses it.
    throw await embedded.alive() ? error : hasEnded(dir)
  }
}

async function serve (config: Config, databaseUrl: string, { opened, end, log, output }: Starting): Promise<void> {
  requireHttps(config)
  const app = await startApp(config, databaseUrl, { opened, end, log })
  const server = await createServer(app, log)
  opened.defer(() => server.close())
  end.signal.throwIfAborted()
  const address = await server.listen({ host: config.host, port: config.port })
  if (config.httpPort !== undefined) opened.adopt(await refusePlain(app, config.host, config.httpPort), endPlain)
  if (config.environment === 'development') output.write(welcome(address, new Date()))
}

/** Milliseconds before a start that missed its database begins anew. */
const startAgainAfter = 500

/** Puts the service together and prepares its database. Where the database goes away meanwhile, it says so and begins anew. */
async function startApp (config: Config, databaseUrl: string, { opened, end, log }: Omit<Starting, 'output'>): Promise<App> {
  for (;;) {
    try {
      const app = await createApp(config, { databaseUrl, log, signal: end.signal })
      await prepareDatabase(app).catch(async (error: unknown) => {
        await app.close()
        throw error
      })
      opened.defer(app.close)
      return app
    } catch (error) {
      if (end.signal.aborted || !isPassingOutage(error)) throw error
      log.warn({ reason: sentenceOf(error) }, 'the database went away while the service started: it starts again')
    }
    await pause(startAgainAfter, undefined, { signal: end.signal })
  }
}

async function refusePlain ({ get }: App, host: string, port: number): Promise<Server> {
  const plain = createHttpRefusalServer(get('transportLimits'))
  plain.listen(port, host)
  await once(plain, 'listening')
  return plain
}

/** Nothing is done for its clients that could be waited for; a closed server would let them stay without end. */
function endPlain (plain: Server): void {
  plain.close()
  plain.closeAllConnections()
}

/** Works on the queue of the service whose database it is. */
async function work (config: Config, { opened, end, log }: Starting): Promise<void> {
  if (config.databaseUrl === undefined) {
    throw new StartError(
      'A worker needs DATABASE_URL: the embedded database belongs to the process that serves, which works on its queue itself'
    )
  }
  await startApp({ ...config, runsWorker: true }, config.databaseUrl, { opened, end, log })
  end.signal.throwIfAborted()
  log.info({ concurrency: config.concurrency }, 'working')
}

/** What a production installation hears that names no server of its own. */
const embeddedIsGoodFor =
  'the embedded database is good for one process on one machine, with backups while it is stopped: DATABASE_URL names a server for more'

async function openDatabase (dir: string, { opened, end, log }: Starting): Promise<Embedded> {
  const embedded = await startEmbedded({
    dir,
    log: (line) => {
      log.info(line)
    }
  })
  opened.defer(() => embedded.stop())
  // Also where the process does not wait: at a second signal, or by an error that nobody caught.
  process.once('exit', () => {
    void embedded.stop()
  })
  void embedded.lost.then(() => {
    end.abort(hasEnded(dir))
  })
  return embedded
}

function hasEnded (dir: string): StartError {
  return new StartError(`The embedded database server has ended; its log is ${dir}/postgres.log`)
}

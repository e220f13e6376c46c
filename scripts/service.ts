import { errorMessageOf } from '@dispatch/common'
import { DatabaseUnavailable, isPassingOutage } from '@dispatch/database'
import { type Embedded, startEmbedded, StartError } from '@dispatch/embedded-postgres'
import { containStrayErrors } from '@dispatch/host'
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
import type { Get } from '../plugins/container/dependencies.ts'
import { createLogger, logOutput, standardOutput } from '../plugins/hooks/logging.ts'
import { createHttpRefusalServer } from '../plugins/server/http-refusal-server.ts'
import { answerWhileStarting } from '../plugins/server/starting.ts'
import type { Traces } from '../plugins/traces/traces.ts'
import { openDataDirectory } from './data-directory.ts'
import { buildDemoCatalog, prepareDemoCatalog } from './demo-catalog/demo-catalog.ts'
import { sentenceOf } from './failure.ts'
import { withFreePort } from './free-port.ts'
import { giveMemoryBack } from './idle-memory.ts'
import { endOnSignal, exitAtOnce } from './signals.ts'
import { openSupervisor } from './supervisor.ts'
import { welcome } from './welcome.ts'

/** `serve`: the process answers requests and, unless DISPATCH_WORKER is `off`, runs jobs of the queue. `work`: it only runs jobs. */
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
  // What is closed may wait for what keeps no process alive, such as the end of the embedded database.
  const alive = setInterval(() => undefined, 60_000)
  try {
    const supervisor = openSupervisor(env)
    await open(readConfig(await withFreePort(env)), task, opened, end)
    supervisor.ready()
    // Opened last: it is told before anything is closed.
    opened.use(supervisor)
    await ended
    if (end.signal.reason instanceof Error) {
      fail('go on', end.signal.reason)
      // Without the database nothing can be completed. The next start finds the unfinished work.
      exitAtOnce(1)
    }
  } catch (error) {
    // A signal to the process group also ends a running initdb. Such a start was stopped; it has not failed.
    if (!end.signal.aborted || end.signal.reason instanceof Error) fail('start', error)
  }
  await opened.disposeAsync().catch((error: unknown) => {
    fail('stop', error)
  })
  clearInterval(alive)
}

function fail (task: string, error: unknown): void {
  console.error(`Document Dispatch could not ${task}: ${sentenceOf(error)}`)
  process.exitCode = 1
}

type Starting = { opened: AsyncDisposableStack, end: AbortController, log: Logger, output: DestinationStream }

/** Everything that is opened goes on the stack, which closes it in reverse order. */
async function open (config: Config, task: Task, opened: AsyncDisposableStack, end: AbortController): Promise<void> {
  const output = standardOutput()
  const starting = { opened, end, output, log: createLogger(config.logLevel, await logOutput(output, { terminal: process.stdout.isTTY })) }
  opened.use(containStrayErrors({
    log: starting.log,
    end: (error) => {
      end.abort(error instanceof Error ? error : new Error(errorMessageOf(error)))
    }
  }))
  opened.use(giveMemoryBack())
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
  const starting = await answerWhileStarting(config)
  const whileStarting = opened.use(new AsyncDisposableStack())
  whileStarting.defer(starting.close)
  if (config.demoCatalog !== undefined) await prepareDemoCatalog(config.demoCatalog, new Date())
  const app = await startApp(config, databaseUrl, { opened, end, log })
  const server = await createServer(app, log)
  opened.defer(() => server.close())
  end.signal.throwIfAborted()
  await whileStarting.disposeAsync()
  const address = await server.listen({ host: config.host, port: starting.port })
  if (config.httpPort !== undefined) opened.adopt(await refusePlain(app.get, config.host, config.httpPort), endPlain)
  if (config.environment === 'development') {
    output.write(welcome(address, new Date(), config.showsConsole ? `${address}/console` : undefined))
  }
  if (config.demoCatalog !== undefined) opened.use(await buildDemoCatalog(config.demoCatalog, app))
  // Opened last, so that it comes before everything is closed.
  opened.defer(() => leave(app.get, config, { end, log }))
}

/** Answers on for a while, so that load balancers notice first that the process stops. A second signal ends the wait, and the process. */
async function leave (get: Get<'leaving'>, { drainDelay: seconds }: Config, { end, log }: Pick<Starting, 'end' | 'log'>): Promise<void> {
  if (end.signal.reason !== 'SIGTERM' || seconds === 0) return
  get('leaving').abort()
  log.info({ seconds }, 'not ready any more; requests are still answered')
  await pause(seconds * 1000)
}

/** Milliseconds between a start that lost its database and the next attempt. */
const startAgainAfter = 500

/** Creates the app and prepares its database. If the database is lost meanwhile, it logs this and starts again. */
async function startApp (config: Config, databaseUrl: string, { opened, end, log }: Omit<Starting, 'output'>): Promise<App> {
  const traces = await beginTraces(config, opened, log)
  const metrics = await openMetrics(config, opened, log)
  for (;;) {
    try {
      const app = await createApp(config, { databaseUrl, log, signal: end.signal, ...traces === undefined ? {} : { traces } })
      await prepareDatabase(app).catch(async (error: unknown) => {
        await app.close()
        throw error
      })
      opened.defer(app.close)
      metrics?.show(app.get)
      return app
    } catch (error) {
      if (end.signal.aborted || !isPassingOutage(error)) throw error
      log.warn({ reason: sentenceOf(error) }, error instanceof DatabaseUnavailable && error.reason === 'busy'
        ? 'the database let this start wait for too long: it starts again'
        : 'the database went away while the service started: it starts again')
    }
    await pause(startAgainAfter, undefined, { signal: end.signal })
  }
}

/** OpenTelemetry is loaded only where traces are sent. Closed after the app, so that the end of its work is traced too. */
async function beginTraces (config: Config, opened: AsyncDisposableStack, log: Logger): Promise<Traces | undefined> {
  if (config.traces === undefined) return undefined
  const { openTraces } = await import('../plugins/traces/traces.ts')
  log.info({ sampler: config.traces.sampler.name }, 'traces')
  return opened.adopt(openTraces(config.traces, { log }), ({ close }) => close())
}

/** What counts for Prometheus is loaded only where it is shown. */
async function openMetrics ({ metrics }: Config, opened: AsyncDisposableStack, log: Logger): Promise<Metrics | undefined> {
  if (metrics === undefined) return undefined
  const { openMetrics: open } = await import('../plugins/metrics/server.ts')
  const shown = opened.adopt(await open(metrics, log), ({ close }) => close())
  log.info({ url: shown.url }, 'metrics')
  return shown
}

type Metrics = Awaited<ReturnType<typeof import('../plugins/metrics/server.ts').openMetrics>>

async function refusePlain (get: Get<'transportLimits'>, host: string, port: number): Promise<Server> {
  const plain = createHttpRefusalServer(get('transportLimits'))
  plain.listen(port, host)
  await once(plain, 'listening')
  return plain
}

/** Closes all connections at once: there is no work to wait for, and `close` alone would keep idle clients connected for ever. */
function endPlain (plain: Server): void {
  plain.close()
  plain.closeAllConnections()
}

/** Runs jobs of the queue in the service's database. */
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

/** The log line for a production installation with the embedded database. */
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
  // Stops the database also when the process does not wait: after a second signal, or after an uncaught error.
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

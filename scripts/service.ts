import { once } from 'node:events'
import { join } from 'node:path'
import { StartError, startEmbedded } from '@dispatch/core'
import type { Logger } from 'pino'
import { createServer } from '../plugins/app.ts'
import { readConfig, type Config } from '../plugins/config.ts'
import { compose } from '../plugins/container.ts'
import { createLogger, standardOutput } from '../plugins/logging.ts'
import { prepare } from '../plugins/prepare.ts'
import { openDataDirectory } from './data-directory.ts'
import { sentenceOf } from './failure.ts'
import { withFreePort } from './free-port.ts'
import { endOnSignal } from './signals.ts'
import { welcome } from './welcome.ts'

/** Starts the service, serves until it is told to stop, and closes all that was opened. A failure is one sentence on standard error and exit code 1. */
export async function runService (env: NodeJS.ProcessEnv): Promise<void> {
  /** Aborted with the name of a signal, or with an error when the service cannot go on. */
  const end = new AbortController()
  const ended = once(end.signal, 'abort')
  const opened = new AsyncDisposableStack()
  endOnSignal(end)
  try {
    await open(readConfig(await withFreePort(env)), opened, end)
    await ended
  } catch (error) {
    // A signal to the whole process group ends a running initdb too: such a start was stopped, it has not failed.
    if (!end.signal.aborted) fail('start', error)
  }
  if (end.signal.reason instanceof Error) fail('go on', end.signal.reason)
  await opened.disposeAsync().catch((error: unknown) => { fail('stop', error) })
}

function fail (task: string, error: unknown): void {
  console.error(`Document Dispatch could not ${task}: ${sentenceOf(error)}`)
  process.exitCode = 1
}

/** What is opened goes on the stack, to be closed in the opposite order. */
async function open (config: Config, opened: AsyncDisposableStack, end: AbortController): Promise<void> {
  const output = standardOutput()
  const log = createLogger(config.logLevel, output)
  openDataDirectory(config.dataDirectory)
  const databaseUrl = config.databaseUrl ?? await openDatabase(config, opened, end, log)
  const house = await compose(config, { databaseUrl, log })
  opened.defer(house.close)
  await prepare(house)
  const server = await createServer(house, log)
  opened.defer(() => server.close())
  end.signal.throwIfAborted()
  const address = await server.listen({ host: config.host, port: config.port })
  if (config.environment === 'development') output.write(welcome(address, new Date()))
}

async function openDatabase ({ dataDirectory }: Config, opened: AsyncDisposableStack, end: AbortController, log: Logger): Promise<string> {
  const dir = join(dataDirectory, 'postgres')
  const embedded = await startEmbedded({ dir, log: (line) => { log.info(line) } })
  opened.defer(() => embedded.stop())
  // Also where the process does not wait: at a second signal, or by an error that nobody caught.
  process.once('exit', () => { void embedded.stop() })
  void embedded.lost.then(() => { end.abort(new StartError(`The embedded database server has ended; its log is ${dir}/postgres.log`)) })
  return embedded.url
}

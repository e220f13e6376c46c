/** Runs the service until it is told to stop: `npm start`. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startEmbedded, type Embedded } from '@dispatch/core'
import type { Logger } from 'pino'
import { createServer } from '../plugins/app.ts'
import { readConfig, type Config } from '../plugins/config.ts'
import { compose } from '../plugins/container.ts'
import { createLogger } from '../plugins/logging.ts'
import { prepare } from '../plugins/prepare.ts'
import { firstDispatch } from './first-dispatch.ts'
import { assertNode } from './node-version.mjs'

/** What was opened, in the order in which it is closed. */
const closers: (() => Promise<unknown>)[] = []
let stopping: Promise<void> | undefined

async function start (config: Config, log: Logger): Promise<void> {
  mkdirSync(config.dataDirectory, { recursive: true })
  const house = await compose(config, { databaseUrl: config.databaseUrl ?? await startDatabase(config, log), log })
  closers.unshift(house.close)
  await prepare(house)
  const server = await createServer(house, log)
  closers.unshift(() => server.close())
  const address = await server.listen({ host: config.host, port: config.port })
  console.log(`Document Dispatch is ready at ${address} (documentation: ${address}/docs)`)
  if (config.environment === 'development') console.log(`\nDispatch a first invoice:\n\n${firstDispatch(address, new Date())}\n`)
}

async function startDatabase (config: Config, log: Logger): Promise<string> {
  const embedded: Embedded = await startEmbedded({ dir: join(config.dataDirectory, 'postgres'), log: (line) => log.info(line) })
  closers.unshift(() => embedded.stop())
  void embedded.lost.then(() => stop(1, 'The database server is gone.'))
  return embedded.url
}

/** Finishes the requests under way and closes everything; a second signal does not wait. */
function stop (exitCode: number, reason?: string): Promise<void> {
  stopping ??= (async () => {
    if (reason !== undefined) console.error(reason)
    process.exitCode = exitCode
    for (const close of closers) await close()
  })().catch(fail)
  return stopping
}

function fail (error: unknown): void {
  console.error(`Document Dispatch could not start: ${sentenceOf(error)}`)
  process.exitCode = 1
}

/** The failures of the system that an operator meets, each in a sentence; the service's own errors are sentences already. */
function sentenceOf (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, path, address, port } = error as NodeJS.ErrnoException & { address?: string, port?: number }
  switch (code) {
    case 'EADDRINUSE': return `the port ${port ?? ''} of ${address ?? ''} is taken; stop the program that has it, or choose another one with PORT.`
    case 'EACCES': case 'EPERM': case 'EROFS': return `${path ?? address ?? 'a file'} is not accessible (${code}); give the service another data directory with DISPATCH_DATA_DIR, or another PORT.`
    case 'ECONNREFUSED': case 'ENOTFOUND': case 'ENOENT': return `the database of DATABASE_URL does not answer (${code}).`
    default: return error.message
  }
}

assertNode()
process.on('SIGINT', onSignal).on('SIGTERM', onSignal)

function onSignal (): void {
  if (stopping !== undefined) process.exit(1)
  void stop(0)
}

try {
  const config = readConfig(process.env)
  await start(config, createLogger(config.logLevel))
} catch (error) {
  fail(error)
  await stop(1)
}

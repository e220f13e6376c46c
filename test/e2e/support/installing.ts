/**
 * A process that reads a catalog and installs "killed" from it, and counts each step that changes the disk, the database or the processes.
 * Before the step of the number `killAt` it kills itself as "kill -9" does. Where it comes to its end, it tells what its steps were.
 */
import { smoke } from '@dispatch/conformance/smoke'
import childProcess from 'node:child_process'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import pg from 'pg'

const [, , databaseUrl = '', dataDirectory = '', catalog = '', keyFile = '', killAt = '0'] = process.argv
const steps: string[] = []
let isCounting = false

function step (name: string): void {
  if (!isCounting) return
  steps.push(name)
  if (steps.length === Number(killAt)) process.kill(process.pid, 'SIGKILL')
}

type Functions = Record<string, (...args: unknown[]) => unknown>

/** Counts the calls of a function; `nameOf` names them by their first argument, or leaves them out. */
function count (of: object, name: string, nameOf: (first: unknown) => string | undefined = () => name): void {
  const functions = of as Functions
  const own = functions[name]
  if (own === undefined) throw new TypeError(`There is no ${name}.`)
  functions[name] = function (...args) {
    const named = nameOf(args[0])
    if (named !== undefined) step(named)
    return own.apply(this, args)
  }
}

for (const name of ['mkdir', 'open', 'rename', 'rm']) count(fs, name)
count(childProcess, 'spawn')
count(pg.Client.prototype, 'query', (first) => {
  const { text } = typeof first === 'string' ? { text: first } : first as { text?: string }
  const words = /^\s*(begin|commit|insert into "?\w+|update "?\w+|delete from "?\w+|select pg_advisory\w+)/i.exec(text ?? '')
  return words?.[1]?.toLowerCase().replaceAll('"', '')
})
syncBuiltinESMExports()

const { createKeyring } = await import('@dispatch/common')
const { openDatabase } = await import('@dispatch/database')
const { createNetwork } = await import('@dispatch/vendor-io')
const { createAdapters } = await import('../../../core/packages/features/marketplace/service/adapters.ts')
const { createCatalogs } = await import('../../../core/packages/features/marketplace/service/catalogs.ts')
const { createMarketplace } = await import('../../../core/packages/features/marketplace/service/marketplace.ts')
const { createLazySandbox } = await import('@dispatch/sandbox')
const { createLogger } = await import('../../../plugins/hooks/logging.ts')
const log = createLogger('error', process.stderr)
const database = openDatabase({ connectionString: databaseUrl }, { connections: 2, onError: (error) => log.error(error) })
const sandbox = createLazySandbox({ cache: join(dataDirectory, 'sandbox'), log })
// What all adapters share is made before.
await sandbox.open()
const network = createNetwork()
const adapters = createAdapters({ folder: join(dataDirectory, 'adapters'), database, sandbox: sandbox.open, log })
await adapters.sweep()
const keys = [JSON.parse(await fs.readFile(keyFile, 'utf8'))]
const catalogs = createCatalogs({ database, locations: [{ address: catalog, keys }], transport: network.transport, now: () => new Date() })
const keyring = createKeyring(Buffer.alloc(32, 1))
const marketplace = createMarketplace({ database, keyring, log, ...adapters, follow: adapters.load, catalogs, smoke })
const stamp = { author: null, at: new Date() }

isCounting = true
await marketplace.refresh(stamp)
await marketplace.install('killed', { consent: { hosts: ['api.acme.test'], services: ['invoicing'] } }, stamp)
isCounting = false
console.log(JSON.stringify(steps))
await Promise.all([sandbox.close(), network.close()])
await database.close()

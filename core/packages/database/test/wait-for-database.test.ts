import pg from 'pg'
import t from 'tap'
import type { Log } from '../../common/log.ts'
import { connectionError as failedConnection, DatabaseUnavailable, statementError } from '../unavailable.ts'
import { isPassingOutage, waitForDatabase } from '../wait-for-database.ts'

const connectionError = (cause: unknown): DatabaseUnavailable =>
  failedConnection(cause, { setting: 'DATABASE_URL', config: { host: 'db.example.com' } })
const ofTheServer = (code: string): pg.DatabaseError => Object.assign(new pg.DatabaseError('refused', 7, 'error'), { code })
const ofTheSystem = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect' })

/** Waits for a database that fails with each of the errors once, and tells how it ended and what the log said. */
async function waited (...errors: Error[]): Promise<{ end: unknown, reported: unknown[] }> {
  const reported: unknown[] = []
  const log: Log = { debug: () => undefined, info: () => undefined, error: () => undefined, warn: (facts) => reported.push(facts) }
  const left = [...errors]
  const reach = (): Promise<void> => {
    const error = left.shift()
    return error === undefined ? Promise.resolve() : Promise.reject(error)
  }
  const end = await waitForDatabase({ reach }, { log }).then(() => 'works', (error: unknown) => error)
  return { end, reported }
}

const busy = new DatabaseUnavailable('busy', { cause: ofTheServer('55P03') })

await t.test('what passes by waiting is waited for, and told once in ten seconds', async (t) => {
  for (const error of [
    connectionError(ofTheSystem('ECONNREFUSED')),
    connectionError(ofTheServer('57P03')),
    connectionError(new Error('timeout expired')),
    new DatabaseUnavailable('read-only', { cause: ofTheServer('25006') }),
    busy
  ]) {
    const { end, reported } = await waited(error)
    t.strictSame({ end, told: reported }, { end: 'works', told: [{ reason: error.why ?? (error.cause as Error).message }] }, error.code)
  }
  t.equal((await waited(busy, busy)).reported.length, 1)
})

await t.test('what does not pass ends the wait', async (t) => {
  for (const cause of [ofTheServer('28P01'), ofTheServer('3D000'), ofTheSystem('EACCES')]) {
    const error = connectionError(cause)
    const { end, reported } = await waited(error)
    t.equal(end, error)
    t.strictSame(reported, [])
  }
  const fault = new TypeError('a fault of our own')
  t.equal((await waited(fault)).end, fault)
})

void t.test('an outage that passes is known behind other errors, and by the codes of other libraries', (t) => {
  const wrapped = (cause: unknown): Error => new Error('the queue failed', { cause })
  t.ok(isPassingOutage(wrapped(wrapped(busy))))
  t.ok(isPassingOutage(wrapped(ofTheServer('57P01'))))
  t.ok(isPassingOutage(wrapped(ofTheServer('25006'))), 'a server that has become a standby, as the queue tells it')
  t.ok(isPassingOutage(ofTheSystem('ECONNREFUSED')))
  t.notOk(isPassingOutage(wrapped(ofTheServer('28P01'))))
  t.ok(isPassingOutage(Object.assign(ofTheSystem('ECONNRESET'), { syscall: 'read' })), 'a connection that was open')
  t.ok(isPassingOutage(new AggregateError([ofTheSystem('ECONNREFUSED'), ofTheSystem('ECONNREFUSED')])), 'a host with two addresses')
  for (const words of ['Connection terminated unexpectedly', 'Connection terminated due to connection timeout', 'Query read timeout',
    'timeout exceeded when trying to connect']) t.ok(isPassingOutage(wrapped(new Error(words))), words)
  t.notOk(isPassingOutage(new Error('The template took too long: timeout.')), 'not a connection')
  t.notOk(isPassingOutage(Object.assign(ofTheSystem('ENOENT'), { syscall: 'open' })), 'not a connection')
  t.notOk(isPassingOutage(statementError(ofTheServer('23505'))))
  t.notOk(isPassingOutage('away'))
  t.end()
})

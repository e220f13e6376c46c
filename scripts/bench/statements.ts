/**
 * What one dispatch costs the database: the processor time of the server's process for the statements of a real one, replayed on one
 * connection, and the least that a dispatch can cost, by hand. The kernel counts that time, so that other work on the machine changes it
 * little: a difference of 3 % can be seen. It needs Linux.
 */
import { randomUUIDv7 } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { openTransactions, transactionsOn } from './support/by-hand.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { invoiceRequest } from './support/invoice.ts'
import { median } from './support/measure.ts'
import { recordDispatch, type RecordOptions } from './support/replayed.ts'
import { smsRequest } from './support/sms.ts'
import { replayOn } from './support/statements.ts'
import { printTable } from './support/table.ts'

const { turns, each } = effort({ turns: 60, each: 40 }, { turns: 2, each: 2 })

// What is queued stays queued.
process.env['DISPATCH_WORKER'] = 'off'

type Contestant = (client: pg.Client) => Promise<unknown>

const kinds: Record<string, Pick<RecordOptions, 'services' | 'bodyOf' | 'mode' | 'vendor'>> = {
  'an SMS, waited for': { services: ['sms'], bodyOf: smsRequest, vendor: 'instant' },
  'an SMS, queued': { services: ['sms'], bodyOf: smsRequest, vendor: 'instant', mode: 'asynchronous' },
  'an invoice without its document, waited for': { services: ['invoicing'], bodyOf: invoiceRequest },
  'an invoice, queued': { services: ['invoicing'], bodyOf: invoiceRequest, mode: 'asynchronous' }
}

const times = await withBenchDatabase(async ({ url: databaseUrl }, folder) => {
  const contestants: Record<string, Contestant> = {
    ...await byHand(databaseUrl),
    ...Object.fromEntries(
      await Array.fromAsync(Object.entries(kinds), async ([name, kind]): Promise<[string, Contestant]> => {
        const script = await recordDispatch({ databaseUrl, folder, ...kind })
        return [name, (client) => replayOn(client, script)]
      })
    )
  }
  return await measured(databaseUrl, contestants)
}, { fsync: 'off' })

const least = (name: string): number => Math.min(...times[name] ?? [])
const byHandOf = (name: string): string => /queued|one/.test(name) ? 'one transaction by hand' : 'two transactions by hand'
printTable(Object.fromEntries(Object.entries(times).map(([name, found]) => [name, {
  'µs of the server': Math.round(least(name)),
  'median, µs': Math.round(median(found)),
  'of that by hand': `${(least(name) / least(byHandOf(name))).toFixed(1)}×`
}])))

/** The transactions by hand, with their tables. */
async function byHand (databaseUrl: string): Promise<Record<string, Contestant>> {
  await (await openTransactions(databaseUrl, 1)).close()
  return {
    'two transactions by hand': async (client) => {
      const [{ begin, settle }, id] = [transactionsOn(client), randomUUIDv7()]
      await begin(id, 1)
      await settle(id, 1, { status: 'accepted' })
    },
    'one transaction by hand': (client) => transactionsOn(client).queue(randomUUIDv7(), 1)
  }
}

/** Microseconds of each turn for one dispatch, the contestants in turns, each on a connection of its own. */
async function measured (connectionString: string, contestants: Record<string, Contestant>): Promise<Record<string, number[]>> {
  const entered = await Promise.all(Object.entries(contestants).map(async ([name, dispatch]) => {
    const client = new pg.Client({ connectionString })
    await client.connect()
    const { rows: [{ pid } = { pid: NaN }] } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    // Until plans are kept.
    for (let nth = 0; nth < each; nth++) await dispatch(client)
    return { name, client, pid, dispatch, found: [] as number[] }
  }))
  for (let turn = 0; turn < turns; turn++) {
    for (const { client, pid, dispatch, found } of entered) {
      const before = nanoseconds(pid)
      for (let nth = 0; nth < each; nth++) await dispatch(client)
      found.push((nanoseconds(pid) - before) / each / 1000)
    }
  }
  await Promise.all(entered.map(({ client }) => client.end()))
  return Object.fromEntries(entered.map(({ name, found }) => [name, found]))
}

/** How long a process was on a processor (proc(5), `/proc/pid/schedstat`). */
function nanoseconds (pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0])
}

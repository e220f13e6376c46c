/**
 * What each page of the console takes beside the API calls that it makes, where one company has a million dispatches, and how large it is.
 * `BENCH_STORED`: another number of them. The pages are those to which links lead, from the first page of an admin and of an operator.
 */
import { demo } from '@dispatch/core'
import type { InjectOptions } from 'fastify'
import { createServer } from '../../plugins/app.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { type Bench, openBenchApp } from './support/bench-app.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { grow, stored } from './support/grown.ts'
import { median } from './support/measure.ts'
import { printTable } from './support/table.ts'

const { rounds, repeats, times } = effort({ rounds: 9, repeats: 5, times: 300 }, { rounds: 1, repeats: 1, times: 3 })
const [maxTimes, maxMilliseconds, maxKilobytes] = [1.5, 150, 100]

type Login = { email: string, password: string }
/** Answers with the body. Throws for a status from 500 on. */
type Ask = (path: string) => Promise<string>
/** A page, and the calls of the API that it makes. */
type Page = { name: string, open: () => Promise<string>, call: () => Promise<void>, bytes: number, calls: number }

/** Where things of a kind have pages. */
const things = /\/(providers|services|marketplace|assets|endpoints|templates|dispatches|companies|users)\/(?!new$|retry$)[^/]+/g

/** What is looked at as one page: ids, and the names of providers, services and the like, are all alike. */
function kindOf (path: string): string {
  const [place = '', query = ''] = path.split('?')
  const named = place.replaceAll(things, '/$1/…')
  const fields = [...new URLSearchParams(query).keys()].sort()
  return fields.length === 0 ? named : `${named}?${fields.join('&')}`
}

/** The addresses of pages on a page. Files and streams are none. */
function linksIn (body: string): string[] {
  return [...body.matchAll(/<a [^>]*href="(\/console[^"#]*)/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'))
    .filter((link) => !/\.csv|\/(?:documents|messages|preview)\b/.test(link))
}

async function openConsole ({ app }: Bench) {
  const server = await createServer(app, createLogger('error'))
  await server.ready()
  const inject = server.inject.bind(server) as (request: InjectOptions) => ReturnType<typeof server.inject>
  let made: string[] | undefined
  // The console asks the API by this very function.
  Object.assign(server, {
    inject (request: InjectOptions) {
      if (typeof request.url === 'string') made?.push(request.url)
      return inject(request)
    }
  })

  async function ask (path: string, headers: Record<string, string>): Promise<string> {
    const { statusCode, body } = await inject({ url: path, headers, remoteAddress: '127.0.0.1' })
    if (statusCode >= 500) throw new Error(`${path} answered ${String(statusCode)}: ${body}`)
    return body
  }

  /** The pages that somebody reaches by links. */
  async function pagesOf (who: string, { email, password }: Login): Promise<Page[]> {
    const opened = await app.get('sessions').open(email, password, { address: '127.0.0.1', browser: 'bench' })
    if (!('session' in opened)) throw new Error(`${email} needs a second factor.`)
    const { token } = await app.get('authentication').login(email, password, '127.0.0.1')
    const [read, call]: [Ask, Ask] = [(path) => ask(path, { cookie: `__Host-console=${opened.session}`, accept: 'text/html' }),
      (path) => ask(path, { authorization: `Bearer ${token}` })]
    const pages = new Map<string, Page>()
    const left = ['/console']
    for (let path = left.shift(); path !== undefined; path = left.shift()) {
      const name = kindOf(path)
      if (pages.has(name)) continue
      const at = path
      const calls: string[] = made = []
      const body = await read(at)
      made = undefined
      pages.set(name, {
        name: `${name} (${who})`,
        bytes: Buffer.byteLength(body),
        calls: calls.length,
        open: () => read(at),
        async call () {
          for (const url of calls) await call(url)
        }
      })
      left.push(...linksIn(body))
    }
    return [...pages.values()]
  }
  return { pagesOf, close: () => server.close() }
}

/** Milliseconds by the clock, and of processors in this process, whose database is another one. */
type Taken = { clock: number, processor: number }

async function take (work: () => Promise<unknown>, repeats = 1): Promise<Taken> {
  const [start, before] = [performance.now(), process.cpuUsage()]
  for (let repeat = 0; repeat < repeats; repeat++) await work()
  const { user, system } = process.cpuUsage(before)
  return { clock: (performance.now() - start) / repeats, processor: (user + system) / 1000 / repeats }
}

/** Each page and its calls in turns, so that a slow moment of the machine affects both. */
async function rowsOf (pages: readonly Page[]): Promise<Record<string, object>> {
  const taken = pages.map(() => ({ opened: [] as Taken[], called: [] as Taken[] }))
  // The first round is only a warm-up.
  for (let round = -1; round < rounds; round++) {
    for (const [index, { open, call }] of pages.entries()) {
      const [opened, called] = [await take(open, repeats), await take(call, repeats)]
      if (round < 0) continue
      taken[index]?.opened.push(opened)
      taken[index]?.called.push(called)
    }
  }
  return Object.fromEntries(pages.map(({ name, bytes, calls }, index) => {
    const { opened = [], called = [] } = taken[index] ?? {}
    // A page that asks the API nothing has nothing to be compared with.
    const ratio = calls === 0 ? 0 : median(opened.map(({ processor }, round) => processor / (called[round]?.processor ?? NaN)))
    const kilobytes = bytes / 1000
    const missed = [ratio > maxTimes ? `≤ ${String(maxTimes)} ×` : '', kilobytes > maxKilobytes ? `≤ ${String(maxKilobytes)} kB` : '']
    return [name, {
      'page, ms': milliseconds(opened.map(({ clock }) => clock)),
      'processor, ms': milliseconds(opened.map(({ processor }) => processor)),
      'its calls': milliseconds(called.map(({ processor }) => processor)),
      times: ratio === 0 ? '' : Number(ratio.toFixed(2)),
      kB: Number(kilobytes.toFixed(1)),
      missed: missed.join('')
    }]
  }))
}

function milliseconds (values: readonly number[]): number {
  return Number(median(values).toFixed(1))
}

await withBenchDatabase(async ({ url: databaseUrl }, folder) => {
  const bench = await openBenchApp({ databaseUrl, folder, documents: 'unrendered', role: 'admin', log: createLogger('error') })
  const { app, users: [admin] } = bench
  await grow(databaseUrl, stored)
  const { pagesOf, close } = await openConsole(bench)
  const pages = [...await pagesOf('admin', admin), ...await pagesOf('operator', demo.operator)]
  printTable(await rowsOf(pages))
  const list = pages.find(({ name }) => name === '/console/dispatches (admin)')
  if (list === undefined) throw new Error('No link leads to the list of dispatches.')
  const lists: Taken[] = []
  for (let time = 0; time < times; time++) lists.push(await take(list.open))
  const sorted = lists.slice(1).map(({ clock }) => clock).sort((a, b) => a - b)
  printTable({
    [`the list of dispatches, of ${String(stored)}`]: {
      'median, ms': milliseconds(sorted),
      'p99, ms': Number((sorted[Math.floor(sorted.length * 0.99)] ?? NaN).toFixed(1)),
      'processor, ms': milliseconds(lists.map(({ processor }) => processor)),
      wanted: `≤ ${String(maxMilliseconds)}`
    }
  })
  await close()
  await app.close()
})

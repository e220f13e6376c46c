import { sql } from 'kysely'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import t, { type Test } from 'tap'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, type Login, seededDatabase, startService } from '../support/service.ts'

const databaseUrl = await seededDatabase(t)
const service = await startService(t, { databaseUrl, replacements: { renderer: quickRenderer } })
const [held, other] = [await service.company('held', { credits: 1_000_000 }), await service.company('other', { credits: 1_000_000 })]

t.setTimeout(240_000)

type Sent = { status: number, milliseconds: number }

async function dispatch (url: string, { email, password }: Login): Promise<Sent> {
  const begun = performance.now()
  const response = await fetch(`${url}/api/invoicing`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`, 'content-type': 'application/json' },
    body: JSON.stringify(invoiceRequest())
  })
  await response.arrayBuffer()
  return { status: response.status, milliseconds: performance.now() - begun }
}

/** Does one piece of work after the other until it is told to stop; answers what came of each. */
function keepGoing (work: () => Promise<Sent>): () => Promise<Sent[]> {
  const done: Sent[] = []
  let going = true
  const go = async (): Promise<void> => {
    do done.push(await work())
    while (going)
  }
  const ended = go()
  return async () => {
    going = false
    await ended
    return done
  }
}

/** Dispatches, `atOnce` at a time, until it is told to stop. */
function keepSending (url: string, login: Login, atOnce: number): () => Promise<Sent[]> {
  const clients = Array.from({ length: atOnce }, () => keepGoing(() => dispatch(url, login)))
  return async () => (await Promise.all(clients.map((stop) => stop()))).flat()
}

const statusesOf = (sent: readonly Sent[]): number[] => [...new Set(sent.map(({ status }) => status))].sort((a, b) => a - b)

/** Asks every 200 ms whether the service is ready. */
function keepAsking (): () => Promise<Sent[]> {
  return keepGoing(async () => {
    const begun = performance.now()
    const { status } = await fetch(`${service.url}/readyz`)
    const milliseconds = performance.now() - begun
    await pause(200)
    return { status, milliseconds }
  })
}

/**
 * Transactions that have locked rows of credits and wait for their clients since 200 ms: the server reads locks and states one after the
 * other, and between them one transaction may end and the next one begin.
 */
async function creditsKept (): Promise<number> {
  const { rows } = await sql`select from pg_locks join pg_stat_activity using (pid)
    where relation = 'credits'::regclass and mode in ('RowShareLock', 'RowExclusiveLock') and state like 'idle in transaction%'
      and state_change < clock_timestamp() - interval '200 ms'`.execute(
    service.app.get('database').owner
  )
  return rows.length
}

async function server (t: Test): Promise<{ child: ChildProcess, url: string }> {
  // As it runs for real, with nothing of the test runner's.
  const child = fork(fileURLToPath(new URL('./fixtures/server.ts', import.meta.url)), [databaseUrl, t.testdir()], {
    execArgv: [],
    env: { ...process.env, NODE_OPTIONS: '' }
  })
  t.teardown(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  for (;;) {
    const [said] = await once(child, 'message') as [unknown]
    if (typeof said === 'string') return { child, url: said }
  }
}

/** So that the first of anything counts for nothing. */
await keepFor(1_000, keepSending(service.url, other.member, 2))
await keepFor(1_000, keepSending(service.url, held.member, 2))

async function keepFor<T> (milliseconds: number, stop: () => Promise<T>): Promise<T> {
  await pause(milliseconds)
  return stop()
}

await t.test('a process that stands still in the middle of its work keeps nobody\'s credits, its own company\'s neither', async (t) => {
  const { child, url } = await server(t)
  // Many at once for one company: at any moment some of them are in the middle of a transaction.
  const load = keepSending(url, held.member, 12)
  await pause(2_000)
  for (const stop of [1, 2, 3]) {
    await pause(300 + 70 * stop)
    child.kill('SIGSTOP')
    const ready = keepAsking()
    const [same, others, kept] = await Promise.all([
      keepFor(2_500, keepSending(service.url, held.member, 2)),
      keepFor(2_500, keepSending(service.url, other.member, 2)),
      pause(500).then(() => creditsKept())
    ])
    const readiness = await ready()
    child.kill('SIGCONT')
    const longest = Math.max(...[...same, ...others].map(({ milliseconds }) => milliseconds))
    t.comment(`longest dispatch of ${same.length + others.length} while it stood still for 2500 ms: ${Math.round(longest)} ms`)
    t.equal(kept, 0, 'no transaction that waits for its client keeps credits')
    t.strictSame([statusesOf(same), statusesOf(others)], [[200], [200]])
    t.strictSame(statusesOf(readiness), [204])
  }
  t.strictSame(statusesOf(await load()), [200], 'and what it was about goes on')
})

await t.test('a row that somebody locks holds up its own company alone', async (t) => {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('begin')
  await client.query('select from credits where company_id = $1 for update', [held.companyId])
  // Each of those who need the row is refused meanwhile, and the others are served.
  const answers = { held: [] as number[], other: [] as number[] }
  const noting = (who: keyof typeof answers, login: Login, atOnce: number) => {
    const stops = Array.from({ length: atOnce }, () =>
      keepGoing(async () => {
        const sent = await dispatch(service.url, login)
        answers[who].push(sent.status)
        return sent
      }))
    return () => Promise.all(stops.map((stop) => stop()))
  }
  const stops = [noting('held', held.member, 12), noting('other', other.member, 2)]
  const ready = keepAsking()
  while (answers.held.length < 24 || answers.other.length < 24) await pause(50)
  t.strictSame([...new Set(answers.held)], [503], 'who needs the row is told to try again, as long as somebody locks it')
  t.strictSame([...new Set(answers.other)], [200], 'and nobody else waits for it')
  t.strictSame(statusesOf(await ready()), [204])
  await client.query('rollback')
  while (!answers.held.includes(200)) await pause(50)
  await Promise.all(stops.map((stop) => stop()))
  t.strictSame([...new Set(answers.other)], [200])
  t.equal((await dispatch(service.url, held.member)).status, 200, 'and served again afterwards')
})

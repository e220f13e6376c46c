import { fork } from 'node:child_process'
import { constants, generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { openDispatch } from '../../core/store/dispatch/dispatches.ts'
import { beginAttempt, settleStep } from '../../core/store/dispatch/steps.ts'
import { createServer } from '../../plugins/app.ts'
import { readConfig } from '../../plugins/config/config.ts'
import { prepareDatabase } from '../../plugins/config/prepare-database.ts'
import { type App, createApp } from '../../plugins/container.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { printTable } from './support/table.ts'

/**
 * How fast events of vendors are received: JWS verification, commit and answer over HTTP, while the database, the processing of the events
 * and dispatches run on the same machine.
 */

const path = '/api/webhooks/esign/providers/bench/endpoint.json'
/** The number of events. The first ones, `warmUp`, are not measured. */
const { events, warmUp, transactions } = effort({ events: 12_000, warmUp: 500, transactions: 200 }, {
  events: 400,
  warmUp: 50,
  transactions: 20
})
const connections = 64
/** Per second. */
const paced = 2_000
const dispatches = 5

type Event = { body: string, signature: string }
/** The instructions for the process that sends them. */
type Load = { url: string, events: Event[] }
type Report = {
  mode: string
  'events/s': number
  'p50 ms': number
  'p99 ms': number
  'max ms': number
  'not 200': number
  dispatched: number
}

if (process.send === undefined) await measure()
else process.once('message', (load: Load) => void generate(load))

async function measure (): Promise<void> {
  await withBenchDatabase(({ url }, folder) => measureOn(url, folder))
}

async function measureOn (databaseUrl: string, folder: string): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeProvider(join(folder, 'providers/bench'), { ...publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'PS256' })
  mkdirSync(join(folder, 'data'))
  const config = readConfig({
    DISPATCH_AUTH_LIMIT: '0',
    DISPATCH_DISPATCH_LIMIT: '0',
    DISPATCH_DATA_DIR: join(folder, 'data'),
    DISPATCH_PROVIDERS_DIR: `${join(folder, 'providers')}:${fileURLToPath(new URL('../../providers', import.meta.url))}`
  })
  const app = await createApp(config, { databaseUrl, log: createLogger('error') })
  await prepareDatabase(app)
  const server = await createServer(app, createLogger('error'))
  const url = await server.listen({ host: '127.0.0.1', port: 0 })

  await recordTransactions(app)
  const signed = Array.from({ length: events }, (_, nth) => signedEvent(nth, privateKey))
  const before = process.cpuUsage()
  const reports = await sentBy({ url, events: signed })
  const { user, system } = process.cpuUsage(before)
  const { count } = await app.get('database').owner.selectFrom('inbound').select((row) => row.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  if (Number(count) !== events || reports.some((report) => report['not 200'] > 0)) {
    throw new Error(`Of ${events} events ${count} were kept: ${JSON.stringify(reports)}`)
  }
  printTable(reports)
  // The processing of the events and the dispatches are part of the measurement.
  printTable({ 'processor time of the service': { 'µs an event': Math.round((user + system) / events) } })
  await server.close()
  await app.close()
}

/** Starts a separate process that sends the events. */
async function sentBy (load: Load): Promise<Report[]> {
  const child = fork(import.meta.filename, process.argv.slice(2), { stdio: 'inherit' })
  child.send(load)
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The process that sends the events ended with ${String(code)}.`)
  })
  const [reports] = await Promise.race([once(child, 'message'), ended]) as [Report[]]
  return reports
}

/** Sends half of the events as fast as possible, and the other half at a steady rate. */
async function generate ({ url, events }: Load): Promise<void> {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const half = events.length / 2
  await run(pool, events.slice(0, warmUp), 'warm-up', Infinity)
  const reports = [
    await run(pool, events.slice(warmUp, half), `${String(connections)} at a time`, Infinity),
    await run(pool, events.slice(half), `${String(paced)} a second`, paced)
  ]
  await pool.close()
  process.send?.(reports, () => process.exit(0))
}

async function run (pool: Pool, events: readonly Event[], mode: string, rate: number): Promise<Report> {
  const ended = new AbortController()
  const dispatching = dispatchUntil(pool, ended.signal)
  const times: number[] = []
  let wrong = 0
  const post = async ({ body, signature }: Event): Promise<void> => {
    const start = performance.now()
    const answer = await pool.request({
      method: 'POST',
      path,
      body,
      headers: { 'content-type': 'application/json', 'x-jws-signature': signature }
    })
    await answer.body.dump()
    times.push(performance.now() - start)
    if (answer.statusCode !== 200) wrong++
  }
  const start = performance.now()
  await (rate === Infinity ? together(events, post) : steadily(events, rate, post))
  const seconds = (performance.now() - start) / 1000
  ended.abort()
  times.sort((a, b) => a - b)
  const at = (share: number): number => Math.round((times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0) * 10) / 10
  return {
    mode,
    'events/s': Math.round(events.length / seconds),
    'p50 ms': at(0.5),
    'p99 ms': at(0.99),
    'max ms': at(1),
    'not 200': wrong,
    dispatched: await dispatching
  }
}

async function together (events: readonly Event[], post: (event: Event) => Promise<void>): Promise<void> {
  const rest = events.values()
  await Promise.all(Array.from({ length: connections }, async () => {
    for (const event of rest) await post(event)
  }))
}

async function steadily (events: readonly Event[], rate: number, post: (event: Event) => Promise<void>): Promise<void> {
  const start = performance.now()
  const posts: Promise<void>[] = []
  while (posts.length < events.length) {
    const due = Math.min(events.length, Math.floor((performance.now() - start) / 1000 * rate))
    posts.push(...events.slice(posts.length, due).map(post))
    await pause(2)
  }
  await Promise.all(posts)
}

/** Dispatches invoices at a steady rate. Resolves to the number of accepted ones. */
async function dispatchUntil (pool: Pool, ended: AbortSignal): Promise<number> {
  const authorization = `Basic ${Buffer.from('demo@example.com:demo-password').toString('base64')}`
  let accepted = 0
  while (!ended.aborted) {
    const answer = await pool.request({
      method: 'POST',
      path: '/api/invoicing',
      body: JSON.stringify(invoice(`B-${randomBytes(6).toString('hex')}`)),
      headers: { 'content-type': 'application/json', authorization }
    })
    await answer.body.dump()
    if (answer.statusCode === 200) accepted++
    await pause(1000 / dispatches)
  }
  return accepted
}

function invoice (number: string): object {
  const data = {
    number,
    date: '2026-03-14',
    currency: 'EUR',
    customer: { name: 'Ada Lovelace', email: 'ada@example.com', city: 'London', country: 'GB' },
    lines: [{ description: 'Consulting', quantity: 2, unitPrice: 450, total: 900 }],
    subtotal: 900,
    taxRate: 20,
    taxAmount: 180,
    total: 1080
  }
  return { documentType: 'INVOICE', template: { id: 1, data } }
}

/** Accepted steps for the events, with the rows that dispatches would leave. */
async function recordTransactions (app: App): Promise<void> {
  const database = app.get('database')
  const { company_id: companyId, user_id: userId } = await database.owner.selectFrom('users').select(['company_id', 'user_id']).where(
    'email',
    '=',
    'demo@example.com'
  ).executeTakeFirstOrThrow()
  for (let nth = 0; nth < transactions; nth++) {
    const [dispatchId, stepId, runId] = [randomUUID(), randomUUID(), randomUUID()]
    const by = { code: 'bench', version: '1.0.0', chosenBy: 'request', configuredBy: 'company', sandbox: false } as const
    const record = {
      dispatchId,
      companyId,
      actor: { kind: 'user', userId },
      requestId: 'bench',
      services: ['esign'],
      metadata: {},
      steps: [{ stepId, service: 'esign', by, fields: {}, requestSettings: {}, price: 0 }]
    } as const
    await openDispatch(database, record, { lease: { runId, seconds: 15 } })
    await beginAttempt(database, { companyId, dispatchId, stepId, runId, provider: { code: 'bench', version: '1.0.0' } })
    await settleStep(database, { companyId, dispatchId, stepId, runId, actor: { kind: 'system' } }, {
      outcome: 'accepted',
      response: { id: `tx_${String(nth)}`, status: 'sent' }
    }, { status: 'succeeded' })
  }
}

function signedEvent (nth: number, key: KeyObject): Event {
  const body = JSON.stringify({
    object: 'event',
    id: `evt_${String(nth)}`,
    type: 'transaction.lifecycle.started',
    transaction: `tx_${String(nth % transactions)}`,
    padding: 'x'.repeat(1_500)
  })
  const head = Buffer.from(JSON.stringify({ alg: 'PS256', kid: 'bench' })).toString('base64url')
  const input = Buffer.from(`${head}.${Buffer.from(body).toString('base64url')}`)
  const signature = sign('sha256', input, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 })
  return { body, signature: `${head}..${signature.toString('base64url')}` }
}

function writeProvider (folder: string, jwk: object): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({
    name: 'bench',
    version: '1.0.0',
    type: 'module',
    exports: './index.js',
    peerDependencies: { '@dispatch/core': '^1.0.0' }
  }))
  writeFileSync(join(folder, 'index.js'), `import { defineProvider, Type } from '@dispatch/core/provider'
export default defineProvider({
  code: 'bench', name: 'Bench', settings: Type.Object({}),
  services: { esign: { signatureTypes: ['SIMPLE'], idempotency: { kind: 'none' }, dispatch: async () => ({ id: '1', status: 'sent' }) } },
  webhooks: { esign: {
    verify: { kind: 'jws', header: 'x-jws-signature', algorithm: 'PS256', jwks: { keys: [${JSON.stringify(jwk)}] } },
    body: Type.Object({ id: Type.String(), transaction: Type.String(), type: Type.String() }),
    read: ({ id, transaction, type }) => ({ eventId: id, remoteId: transaction, type }),
    events: { 'transaction.lifecycle.started': 'started' }
  } }
})
`)
}

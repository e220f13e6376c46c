import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createVendor } from '../../../core/packages/conformance/vendor/vendor.ts'
import { sweepDispatches } from '../../../core/work/dispatch-worker.ts'
import { directory } from '../../fixtures/providers/folders.ts'
import { contains, has } from '../../support/matching.ts'
import { quickRenderer } from '../../support/quick-renderer.ts'
import { readingOf } from '../../support/reading.ts'
import { invoiceRequest, seededDatabase, startService } from '../../support/service.ts'
import { mailServer } from '../../support/smtp.ts'
import type { Order, Setting } from './fixtures/worker.ts'
import { until } from './support.ts'

/** Short enough for a test; what is stopped is stopped for longer. */
const leaseTimes = { duration: 4, renewInterval: 1, margin: 1 }
const databaseUrl = await seededDatabase(t)
const service = await startService(t, { databaseUrl, config: { runsWorker: false }, replacements: { renderer: quickRenderer, leaseTimes } })
const { app, send } = service
const { dispatch: read, events } = readingOf(service)
const { company_id: companyId } = await app.get('database').owner.selectFrom('users').select('company_id').where('email', '=',
  'demo@example.com').executeTakeFirstOrThrow()
const vendor = await createVendor()
t.teardown(() => vendor.close())
const mail = await mailServer(t)

/** A way to a server on which nothing passes until it is let through. */
type Way = { port: number, reached: Promise<undefined>, letThrough: () => void }

async function wayTo (t: Test, port: number): Promise<Way> {
  const [reached, through] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    reached.resolve(undefined)
    void through.promise.then(() => {
      const behind = connect(port, '127.0.0.1')
      client.pipe(behind).pipe(client)
      for (const socket of [client, behind]) sockets.add(socket.on('error', () => undefined))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, reached: reached.promise, letThrough: () => through.resolve(undefined) }
}

/** A process of its own. `tell` resolves with what it says about the order. */
async function worker (
  t: Test,
  setting: Pick<Setting, 'ports' | 'ahead'>
): Promise<{ child: ChildProcess, tell: (order: Order) => Promise<string> }> {
  const given: Setting = { databaseUrl, folder: await directory(t), ca: [vendor.ca, mail.ca], leaseTimes, ...setting }
  // As it runs for real, with nothing of the test runner's.
  const child = fork(fileURLToPath(new URL('./fixtures/worker.ts', import.meta.url)), [JSON.stringify(given)], {
    execArgv: [],
    env: { ...process.env, NODE_OPTIONS: '' }
  })
  t.teardown(() => {
    child.kill('SIGKILL')
  })
  t.equal(await wordOf(child), 'ready')
  return {
    child,
    tell (order) {
      const answered = wordOf(child)
      child.send(order)
      return answered
    }
  }
}

/** What a process says next; the test runner's own messages are no words. */
function wordOf (child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (typeof message === 'string') resolve(message)
    })
  })
}

const sweep = (): Promise<void> => sweepDispatches(app.get('pipelineParts'), app.get('queue'))

const account = `AC${'0'.repeat(32)}`
await send('PUT', '/api/v1/company/providers/twilio', {
  body: { settings: { accountSid: account, authToken: 'token', from: '+15005550006' } }
})
await send('PUT', '/api/v1/company/providers/smtp', {
  body: { settings: { host: 'mail.acme.test', user: 'user', password: 'password', allowedSenders: ['demo@example.com'] } }
})
vendor.answer({ status: 201, json: { sid: 'SM1', status: 'queued' } })

/** The root test would end while it waits for a process. */
await t.test('with processes of their own', async (t) => {
  const ways = { 'api.twilio.com': await wayTo(t, vendor.port), 'mail.acme.test': await wayTo(t, mail.port) }
  const [{ child, tell }, ahead] = await Promise.all([
    worker(t, { ports: Object.fromEntries(Object.entries(ways).map(([host, { port }]) => [host, port])) }),
    worker(t, { ports: {}, ahead: 30 })
  ])

  const kinds = [
    {
      what: 'a text message',
      path: '/api/sms',
      body: { providerName: 'twilio', sms: { phoneNumber: '+33612345678', message: 'Hello.' } },
      way: ways['api.twilio.com'],
      got: () => vendor.requests.length
    },
    {
      what: 'an e-mail',
      path: '/api/email',
      body: { providerName: 'smtp', from: 'demo@example.com', to: 'ada@example.com', subject: 'Hello', body: 'Hello.' },
      way: ways['mail.acme.test'],
      got: () => mail.mails.length
    }
  ]

  for (const { what, path, body, way, got } of kinds) {
    await t.test(`a process that is stopped before ${what} has left sends it no more when it wakes after ` +
      'its lease, and says so', async (t) => {
      const { body: { dispatchId } } = await send('POST', `${path}?async=true`, { body })
      const ended = tell({ take: { companyId, dispatchId } })
      await way.reached
      child.kill('SIGSTOP')
      await pause(leaseTimes.duration * 1000)
      await until('it is in doubt', async () => {
        await sweep()
        return (await read(dispatchId)).status === 'uncertain'
      })
      way.letThrough()
      child.kill('SIGCONT')
      contains(t, await ended, /^The step was settled by another run/)
      t.equal(got(), 0, 'the vendor has got nothing')
      has(t, await read(dispatchId), { status: 'queued' }, 'as surely nothing was sent, it is tried again by itself')
      has(t, await events(dispatchId, 'corrected'), [{ facts: { outcome: 'unavailable', before: 'uncertain' } }])

      t.equal(await tell({ take: { companyId, dispatchId } }), 'done')
      has(t, await read(dispatchId), { status: 'succeeded' })
      t.equal(got(), 1, 'once')
    })
  }

  /** Queues an invoice for the simulator, which does with it as its reference says. */
  const queued = async (reference: string): Promise<string> =>
    (await send('POST', '/api/invoicing?async=true', { body: invoiceRequest({}, { providerName: 'simulator', invoicing: { reference } }) }))
      .body.dispatchId

  await t.test('a process whose clock is 30 seconds ahead takes no dispatch over that is being worked on', async (t) => {
    const dispatchId = await queued('slow')
    const ended = tell({ take: { companyId, dispatchId } })
    await until('it is being worked on', async () => (await read(dispatchId)).status === 'running')
    t.equal(await ahead.tell({ sweep: true }), 'done')
    t.equal(await ended, 'done')
    has(t, await read(dispatchId), { status: 'succeeded' })
    t.strictSame(await events(dispatchId, 'recovered'), [])
  })

  await t.test('a process whose clock is 30 seconds ahead puts nothing off by so much', async (t) => {
    const dispatchId = await queued('unavailable')
    t.equal(await ahead.tell({ take: { companyId, dispatchId } }), 'done')
    const { next_try_at: next } = await app.get('database').owner.selectFrom('dispatches').select('next_try_at').where('dispatch_id', '=',
      dispatchId).executeTakeFirstOrThrow()
    t.ok(next !== null && next.getTime() < Date.now() + 5_000, 'it is tried again in seconds, by everybody\'s clock')
  })
})

import { randomBytes } from 'node:crypto'
import { delimiter } from 'node:path'
import t, { type Test } from 'tap'
import { directory, provide, source } from '../fixtures/providers/folders.ts'
import { has } from '../support/matching.ts'
import { testDatabase } from '../support/postgres.ts'
import { invoiceRequest, shippedProviders } from '../support/service.ts'
import { dataDirectory, send, type ServiceProcess, startReady } from './support/process.ts'

/** What a careless provider leaves behind during a dispatch, and what the log says of it. */
const careless = {
  floating: {
    body: 'void Promise.reject(new Error(`lost ${context.settings.token}`))',
    says: 'a promise was rejected and nobody awaited it'
  },
  late: {
    body: 'void (async () => { await context.wait(0.2); throw new Error("later") })()',
    says: 'a promise was rejected and nobody awaited it'
  },
  timer: { body: 'setTimeout(() => { throw new Error("in a timer") }, 100)', says: 'an error was thrown and nobody could catch it' },
  tick: { body: 'process.nextTick(() => { throw new Error("in a tick") })', says: 'an error was thrown and nobody could catch it' }
}

const answer = 'return { id: "1", status: "sent" }'

async function startWith (t: Test, sources: Record<string, string>): Promise<ServiceProcess> {
  const folders = await directory(t)
  for (const [code, text] of Object.entries(sources)) await provide(folders, code, { 'index.js': text })
  const { url: DATABASE_URL } = await testDatabase(t)
  return startReady(t, {
    dataDirectory: dataDirectory(t),
    env: { DATABASE_URL, DISPATCH_PROVIDERS_DIR: [shippedProviders, folders].join(delimiter) }
  })
}

void t.test('what a provider leaves behind ends neither the process nor another call', async (t) => {
  const sources = Object.entries(careless).map(([code, { body }]) => [code, source(code, `${body}; ${answer}`)])
  const service = await startWith(t, Object.fromEntries(sources))
  const url = service.url()
  const token = randomBytes(8).toString('hex')
  const slow = send(url, 'POST', '/api/invoicing', invoiceRequest({}, { invoicing: { reference: 'slow' } }))
  for (const [code, { says }] of Object.entries(careless)) {
    await send(url, 'PUT', `/api/v1/company/providers/${code}`, { settings: { token } })
    const { status, body } = await send(url, 'POST', '/api/invoicing', invoiceRequest({ number: `N-${code}` }, { providerName: code }))
    t.same([status, body.status], [200, 'succeeded'], code)
    const told = (): boolean =>
      service.log().some(({ msg, provider }) => provider === code && String(msg) === `${says}: a fault of the provider "${code}"`)
    while (!told()) await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { status, body } = await slow
  t.same([status, body.status], [200, 'succeeded'], 'a call that was under way meanwhile')
  t.notOk(service.stdout().includes(token), 'the log holds none of its secrets')
  t.equal((await send(url, 'GET', '/healthz')).status, 200)
})

void t.test('errors that nobody awaits count against the breaker of the company that called', async (t) => {
  const leaving = 'for (const index of [1, 2, 3, 4, 5]) setTimeout(() => { throw new Error("in a timer") }, 20 * index)'
  const service = await startWith(t, { acme: source('acme', `${leaving}; ${answer}`) })
  const health = async (): Promise<unknown> => {
    const { body } = await send(service.url(), 'GET', '/api/v1/providers')
    return body.data.find((entry: { code: string }) => entry.code === 'acme').health.state
  }
  await send(service.url(), 'PUT', '/api/v1/company/providers/acme', { settings: {} })
  t.equal(await health(), 'ok')
  const sendOne = () => send(service.url(), 'POST', '/api/invoicing', invoiceRequest({}, { providerName: 'acme' }))
  t.equal((await sendOne()).body.status, 'succeeded')
  while (await health() !== 'failing') await new Promise((resolve) => setTimeout(resolve, 50))
  has(t, await sendOne(), { status: 503, body: { error: 'provider_unavailable' } })
})

void t.test('a provider that leaves an error behind while it is loaded keeps nobody from starting', async (t) => {
  const service = await startWith(t, { hasty: source('hasty', answer, 'void Promise.reject(new Error("at the top"))') })
  t.equal((await send(service.url(), 'GET', '/healthz')).status, 200)
  t.same(service.log().filter(({ provider, level }) => provider === 'hasty' && level === 50).length, 1)
})

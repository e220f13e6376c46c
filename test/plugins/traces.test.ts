import { refused } from '@dispatch/core/provider'
import { release } from '@dispatch/tables'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { Type } from 'typebox'
import { vendorNetwork } from '../../core/packages/conformance/vendor/vendor.ts'
import { openTraces } from '../../plugins/traces/traces.ts'
import { until } from '../core/work/support.ts'
import { memoryLog } from '../fixtures/providers/call.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, startService } from '../support/service.ts'
import { vendorOf } from '../support/vendor.ts'
import { type CollectedSpan, startCollector } from './support/collector.ts'
import { testProviders } from './support/providers.ts'

const collector = await startCollector(t)
const providers = await testProviders(t)
await providers.add('acme', { errors: '{ map: { no: \'provider_error\' } }' }, async (_request, { http, reference }) => {
  await http.post('https://api.vendor.example/secret-path', { json: { reference }, bearer: 'secret-token' }, Type.Object({}))
  return { id: reference, status: 'created' }
})
await providers.add('never', { errors: '{ map: { no: \'provider_error\' } }' }, () => Promise.reject(refused('no', 'Ada may not.')))
const { vendor } = await vendorOf(t)
vendor.answer({ json: {} })
const network = vendorNetwork(vendor, {})
t.teardown(() => network.close())

/** In milliseconds: longer than a test takes. */
const hour = 3_600_000
const serviceName = 'dispatch-test'
const config = { url: collector.url, serviceName, sampler: { name: 'parentbased_always_on', ratio: 1 } } as const
const traces = openTraces(config, { log: memoryLog() })
const service = await startService(t, {
  config: { providerDirectories: providers.directories },
  replacements: { renderer: quickRenderer, network, traces }
})
const { send, app } = service
for (const code of ['acme', 'never']) await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })

/** A trace of a client, with the header that a request takes to belong to it. */
const traceOf = (flags = '01'): { id: string, parent: string, headers: Record<string, string> } => {
  const [id, parent] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
  return { id, parent, headers: { traceparent: `00-${id}-${parent}-${flags}` } }
}
const traced = { now: traceOf(), later: traceOf(), failed: traceOf(), stranger: traceOf(), unsampled: traceOf('00'), wrong: traceOf() }
const invoice = (providerName: string, more: object = {}): object => ({ ...invoiceRequest(), providerName, ...more })

const now = await send('POST', '/api/invoicing', { body: invoice('acme'), headers: traced.now.headers })
const callbackUrl = 'https://receiver.example.com/hook/secret-hook'
const later = await send('POST', '/api/invoicing?async=true', { body: invoice('acme', { callbackUrl }), headers: traced.later.headers })
await send('POST', '/api/invoicing', { body: invoice('never'), headers: traced.failed.headers })
await send('GET', '/api/v1/credits', { headers: traced.stranger.headers }, null)
await send('GET', '/api/v1/credits', { headers: traced.unsampled.headers })
for (const header of ['', `ff-${traced.wrong.id}-${traced.wrong.parent}-01`, `00-${'0'.repeat(32)}-${traced.wrong.parent}-01`]) {
  await send('GET', '/api/v1/users', { headers: { traceparent: header } })
}
await send('POST', '/api/webhooks/esign/providers/nobody/endpoint.json', { body: {} }, null)
await until('the callback is sent', () => service.log.some((line) => line.includes('"callback sent"')))
await traces.close()

const { spans } = collector
const ofTrace = ({ id }: { id: string }): CollectedSpan[] => spans.filter(({ traceId }) => traceId === id)
const one = (from: CollectedSpan[], name: string): CollectedSpan => {
  const found = from.filter((span) => span.name === name)
  if (found[0] === undefined || found.length > 1) throw new Error(`${found.length} of ${name} in ${from.map((span) => span.name).join()}`)
  return found[0]
}
const inner = { internal: 1, server: 2, client: 3 }

await t.test('a request is one trace, from its client to the vendor', (t) => {
  const found = ofTrace(traced.now)
  const [request, dispatch, step, rendering, attempt, vendorCall] = ['POST /api/invoicing', 'dispatch invoicing', 'step invoicing',
    'render pdf', 'call acme', 'POST'].map((name) => one(found, name)) as [
      CollectedSpan,
      CollectedSpan,
      CollectedSpan,
      CollectedSpan,
      CollectedSpan,
      CollectedSpan
    ]
  t.same([request.parentSpanId, dispatch.parentSpanId, step.parentSpanId, rendering.parentSpanId, attempt.parentSpanId,
    vendorCall.parentSpanId], [traced.now.parent, request.spanId, dispatch.spanId, step.spanId, step.spanId, attempt.spanId])
  t.same([request, dispatch, step, rendering, attempt, vendorCall].map(({ kind }) => kind), [inner.server, inner.internal, inner.internal,
    inner.internal, inner.client, inner.client])
  t.same(request.attributes, {
    'http.request.method': 'POST',
    'http.route': '/api/invoicing',
    'http.response.status_code': '200'
  })
  t.same(dispatch.attributes, {
    'dispatch.services': 'invoicing',
    'dispatch.id': now.body.dispatchId,
    'dispatch.service': 'invoicing',
    'dispatch.status': 'succeeded'
  })
  const called = { 'dispatch.service': 'invoicing', 'dispatch.provider': 'acme', 'dispatch.outcome': 'accepted' }
  t.same(step.attributes, called)
  t.same(attempt.attributes, called)
  t.same(rendering.attributes, { 'dispatch.format': 'pdf', 'dispatch.outcome': 'made' })
  t.same(vendorCall.attributes, { 'dispatch.provider': 'acme', 'http.request.method': 'POST', 'http.response.status_code': '200' })
  for (const span of found) t.ok(BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano), span.name)
  const requested = found.filter(({ name }) => name.startsWith('postgresql '))
  t.equal(found.length - requested.length, 6)
  t.ok(requested.some(({ parentSpanId }) => parentSpanId === step.spanId), 'what the step asks of the database')
  for (const { name, kind, attributes } of requested) {
    t.equal(kind, inner.client)
    t.same(attributes, { 'db.system.name': 'postgresql', 'db.operation.name': name.replace('postgresql ', '') }, 'no statement')
    contains(t, name, /^postgresql [a-z]+$/)
  }
  t.end()
})

await t.test('what is asked of the database beside any work is no trace', (t) => {
  t.ok(spans.filter(({ name }) => name.startsWith('postgresql ')).every(({ parentSpanId }) => (parentSpanId ?? '') !== ''))
  t.end()
})

await t.test('what a worker does later belongs to the trace of the request that asked for it', (t) => {
  const found = ofTrace(traced.later)
  const [request, dispatch, callback] = ['POST /api/invoicing', 'dispatch invoicing', 'callback'].map((name) => one(found, name)) as [
    CollectedSpan,
    CollectedSpan,
    CollectedSpan
  ]
  t.same([dispatch.parentSpanId, callback.parentSpanId], [request.spanId, request.spanId])
  t.equal(one(found, 'call acme').parentSpanId, one(found, 'step invoicing').spanId)
  t.ok(BigInt(dispatch.endTimeUnixNano) > BigInt(request.startTimeUnixNano))
  t.end()
})

await t.test('a failure is marked by a word', (t) => {
  const found = ofTrace(traced.failed)
  for (const name of ['call never', 'step invoicing']) {
    has(t, one(found, name), { status: { code: 2 }, attributes: { 'error.type': 'rejected', 'dispatch.outcome': 'rejected' } })
  }
  has(t, one(found, 'dispatch invoicing'), { attributes: { 'dispatch.status': 'failed' } })
  t.equal(one(found, 'POST /api/invoicing').status.code ?? 0, 0, 'no fault of the service')
  t.end()
})

await t.test('only who has proved an identity chooses the trace, and whether it is kept', (t) => {
  t.same(ofTrace(traced.stranger), [])
  has(t, one(spans, 'GET /api/v1/credits'), { attributes: { 'http.response.status_code': '401' } })
  t.same(ofTrace(traced.unsampled), [])
  t.same(ofTrace(traced.wrong), [])
  const lists = spans.filter(({ name }) => name === 'GET /api/v1/users')
  t.equal(new Set(lists.map(({ traceId }) => traceId)).size, 3, 'each begins its own trace')
  for (const { parentSpanId } of lists) t.equal(parentSpanId ?? '', '')
  t.end()
})

await t.test('an event of a vendor has a span with its verdict', (t) => {
  const webhook = one(spans, 'webhook')
  t.same(webhook.attributes, {
    'dispatch.service': 'esign',
    'dispatch.provider': 'unknown',
    'dispatch.verdict': 'unknown_address'
  })
  const request = spans.find(({ spanId }) => spanId === webhook.parentSpanId)
  t.equal(request?.name, 'POST /api/webhooks/:service/providers/:provider/endpoint.json')
  t.end()
})

await t.test('lines of the log tell their trace', (t) => {
  const lines = service.log.map((line) => JSON.parse(line) as { msg: string, trace_id?: string, route?: string })
  const answered = lines.filter(({ msg, trace_id: id }) => msg === 'answered' && id === traced.now.id)
  t.same(answered.map(({ route }) => route), ['/api/invoicing'])
  t.ok(lines.some(({ msg, trace_id: id }) => msg === 'vendor called' && id === traced.later.id), 'a worker\'s lines too')
  t.ok(lines.some(({ trace_id: id }) => id === traced.unsampled.id), 'also where it is not sampled')
  t.end()
})

await t.test('the collector learns which dispatch it was and of which version, and nothing of companies, people and addresses', (t) => {
  has(t, collector.resources[0], { 'service.name': serviceName, 'service.version': release })
  const ids = spans.flatMap(({ attributes }) => attributes['dispatch.id'] ?? [])
  for (const { body } of [now, later]) t.ok(ids.includes(body.dispatchId))
  const others = ids.reduce((all, id) => all.replaceAll(id, ''), collector.bodies.join())
  lacks(t, others, /secret|Demo|Ada|example\.com|vendor\.example|@|INVOICE|[0-9a-f]{8}-[0-9a-f]{4}-/)
  t.end()
})

await t.test('after the end nothing is traced', async (t) => {
  const { length } = spans
  t.equal((await send('GET', '/api/v1/users')).status, 200)
  t.equal(spans.length, length)
  t.ok(app.get('traces'))
})

await t.test('a collector that is away or silent disturbs nobody', async (t) => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  t.teardown(() => {
    silent.close()
    silent.closeAllConnections()
  })
  await new Promise((resolve) => silent.once('listening', resolve))
  const { port } = silent.address() as AddressInfo
  const said = memoryLog()
  const limits = { batch: hour, close: 50 }
  const lost = openTraces({ ...config, url: `http://127.0.0.1:${port}/v1/traces` }, { log: said, limits })
  lost.answered(lost.request({ method: 'GET', route: '/', begun: Date.now() }), 200)
  await lost.close()
  t.same(said.lines.map(({ message }) => message), ['the last spans were not taken in time'])
  const log = memoryLog()
  const away = openTraces({ ...config, url: 'http://127.0.0.1:1/v1/traces', sampler: { name: 'always_on', ratio: 1 } }, { log })
  away.answered(away.request({ method: 'GET', route: '/', begun: Date.now() }), 503)
  await away.close()
})

await t.test('a share of the traces may be kept, or none', async (t) => {
  const count = async (sampler: Parameters<typeof openTraces>[0]['sampler'], parent?: string): Promise<number> => {
    const own = await startCollector(t)
    const sampled = openTraces({ ...config, url: own.url, sampler }, { log: memoryLog() })
    for (let n = 0; n < 400; n++) sampled.answered(sampled.request({ method: 'GET', route: '/x', begun: Date.now(), parent }), 200)
    await sampled.close()
    return own.spans.filter(({ name }) => name === 'GET /x').length
  }
  const { traceparent: parent } = traceOf().headers
  t.equal(await count({ name: 'always_off', ratio: 1 }), 0)
  t.equal(await count({ name: 'parentbased_always_off', ratio: 1 }, parent), 400)
  t.equal(await count({ name: 'always_off', ratio: 1 }, parent), 0)
  const some = await count({ name: 'traceidratio', ratio: 0.5 })
  t.ok(some > 120 && some < 280, String(some))
})

await t.test('without traces no module of OpenTelemetry is loaded, but the API that prom-client needs', (t) => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({
      resolve (name, context, next) {
        if (name.startsWith('@opentelemetry') && !context.parentURL.includes('/prom-client/')) console.log(name, context.parentURL)
        return next(name, context)
      }
    })
    await import('./scripts/service.ts')
    console.log('loaded')
    process.exit()`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root, encoding: 'utf8' })
  t.equal(stdout, 'loaded\n', stderr)
  t.end()
})

import { recipientUnavailable } from '@dispatch/core/provider'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Registry } from 'prom-client'
import t from 'tap'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { addGauges } from '../../plugins/metrics/gauges.ts'
import { openMetrics } from '../../plugins/metrics/server.ts'
import { contains, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, startService } from '../support/service.ts'
import { testProviders } from './support/providers.ts'

const path = (name: string): string => fileURLToPath(new URL(`../../plugins/metrics/${name}`, import.meta.url))
const providers = await testProviders(t)
await providers.add('greylist', {}, () => Promise.reject(recipientUnavailable('Come again later.')))
const service = await startService(t, {
  config: { providerDirectories: providers.directories },
  replacements: { renderer: quickRenderer }
})
const { url, show, close } = await openMetrics({ host: '127.0.0.1', port: 0 }, service.app.get('log'))
const scrape = async (): Promise<string> => await (await fetch(url)).text()

/** The value of a sample with exactly these labels. */
function valueOf (text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const line = text.split('\n').find((one) => {
    const [, found, inner = ''] = /^([a-z_]+)(?:\{(.*)\})? \S+$/.exec(one) ?? []
    const given = Object.fromEntries([...inner.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]))
    return found === `dispatch_${name}` && JSON.stringify(Object.entries(given).sort()) === JSON.stringify(Object.entries(labels).sort())
  })
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')))
}

await t.test('before there is a database, that alone is told', async (t) => {
  const text = await scrape()
  t.equal(valueOf(text, 'database_up'), 0)
  lacks(t, text, 'dispatch_jobs')
})
show(service.app.get)

const sms = (phoneNumber: string): object => ({ sms: { phoneNumber, message: 'Hello.' } })
const installed = spawnSync('promtool', ['--version']).status === 0 ? false : 'promtool is not installed'

await t.test('what a process does is counted, by service, provider and outcome', async (t) => {
  for (const number of ['+33612345678', '+33612345679', '+15005550001']) await service.send('POST', '/api/sms', { body: sms(number) })
  const { body } = await service.send('POST', '/api/invoicing', { body: invoiceRequest() })
  await service.send('GET', `/api/v1/dispatches/${body.dispatchId}`)
  await service.send('GET', '/nothing/here')
  await service.send('POST', '/api/webhooks/esign/providers/nobody/endpoint.json', { body: {} }, null)
  const text = await scrape()

  const of = { service: 'sms', provider: 'simulator' }
  t.equal(valueOf(text, 'steps_total', { ...of, outcome: 'accepted' }), 2)
  t.equal(valueOf(text, 'steps_total', { ...of, outcome: 'rejected' }), 1)
  t.equal(valueOf(text, 'dispatches_total', { service: 'sms', status: 'succeeded' }), 2)
  t.equal(valueOf(text, 'dispatches_total', { service: 'sms', status: 'failed' }), 1)
  t.equal(valueOf(text, 'dispatches_total', { service: 'invoicing', status: 'succeeded' }), 1)
  t.equal(valueOf(text, 'attempt_duration_seconds_count', { ...of, outcome: 'accepted' }), 2)
  t.equal(valueOf(text, 'rendering_duration_seconds_count', { format: 'pdf', outcome: 'made' }), 1)
  t.equal(valueOf(text, 'webhooks_total', { service: 'esign', provider: 'unknown', verdict: 'unknown_address' }), 1)
  const answered = (route: string, method: string, status: string): number | undefined =>
    valueOf(text, 'http_request_duration_seconds_count', { route, method, status })
  t.equal(answered('/api/sms', 'POST', '200'), 2)
  t.equal(answered('/api/v1/dispatches/:id', 'GET', '200'), 1)
  t.equal(answered('none', 'GET', '404'), 1)
  lacks(t, text, /[0-9a-f]{8}-[0-9a-f]{4}|example\.com|Demo|\+33|nobody/)
})

await t.test('a recipient who is to be tried later is no failure of the vendor', async (t) => {
  await service.send('PUT', '/api/v1/company/providers/greylist', { body: { settings: {} } })
  await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'greylist' }) })
  const text = await scrape()
  const of = { service: 'invoicing', provider: 'greylist' }
  t.ok((valueOf(text, 'attempt_duration_seconds_count', { ...of, outcome: 'recipient_unavailable' }) ?? 0) > 0)
  t.equal(valueOf(text, 'attempt_duration_seconds_count', { ...of, outcome: 'unavailable' }), undefined)
})

await t.test('times are counted in buckets up to 10 s, and up to 120 s where others take their time', async (t) => {
  const text = await scrape()
  const bounds = (name: string): number[] => {
    const all = [...text.matchAll(new RegExp(`^dispatch_${name}_bucket\\{le="([\\d.]+)"`, 'gm'))].map(([, bound]) => Number(bound))
    return [...new Set(all)]
  }
  for (const name of ['http_request_duration_seconds', 'rendering_duration_seconds']) {
    t.same(bounds(name), [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10], name)
  }
  t.same(bounds('attempt_duration_seconds'), [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120])
})

await t.test('what there is at the moment is read at the scrape', async (t) => {
  const text = await scrape()
  t.equal(valueOf(text, 'database_up'), 1)
  for (const state of ['queued', 'running', 'uncertain', 'tried_again']) t.equal(valueOf(text, 'dispatches_open', { state }), 0, state)
  t.equal(valueOf(text, 'oldest_queued_seconds'), 0)
  t.equal(valueOf(text, 'runs'), 0)
  t.equal(valueOf(text, 'leases_lost_total'), 0)
  t.equal(valueOf(text, 'adapter_processes'), 0, 'providers run inside')
  t.equal(valueOf(text, 'certificate_expires_seconds'), undefined, 'the service has none')
  t.ok((valueOf(text, 'database_connections', { pool: 'companies', state: 'idle' }) ?? 0) > 0)
  for (const pool of ['companies', 'owner', 'vital']) t.equal(valueOf(text, 'database_connections', { pool, state: 'waiting' }), 0, pool)
  const acme = { companyId: 1, userId: null, provider: 'acme' }
  service.app.get('breakers').fault(acme)
  t.equal(valueOf(await scrape(), 'breakers_open', { provider: 'acme' }), undefined)
  for (let failures = 1; failures < 5; failures++) service.app.get('breakers').fault(acme)
  t.equal(valueOf(await scrape(), 'breakers_open', { provider: 'acme' }), 1)
  service.app.get('breakers').close({ companyId: null })
  t.equal(valueOf(await scrape(), 'breakers_open', { provider: 'acme' }), undefined)
})

await t.test('a clock that is behind that of the database is a negative skew', async (t) => {
  const registry = new Registry()
  addGauges(registry, (name) => name === 'clockSkew' ? 3 as never : service.app.get(name))
  t.equal(valueOf(await registry.metrics(), 'clock_skew_seconds'), -3)
})

await t.test('what cannot be read is left out, and is said once', async (t) => {
  const registry = new Registry()
  const said: string[] = []
  const log = createLogger('info', { write: (line) => said.push(line) })
  const unreadable = { count: () => Promise.reject(new Error('The folder cannot be read.')) }
  let spool: unknown = unreadable
  const replaced = (name: string): unknown =>
    ({ log, outcomeSpool: spool, config: { ...service.app.get('config'), tls: { cert: '/nowhere/certificate.pem' } } })[name]
  addGauges(registry, (name) => (replaced(name) ?? service.app.get(name)) as never)
  for (let scrapes = 0; scrapes < 2; scrapes++) {
    const text = await registry.metrics()
    t.equal(valueOf(text, 'runs'), 0)
    lacks(t, text, /^dispatch_(?:spool_files\{spool="outcomes"|certificate_expires_seconds )/m)
    t.equal(valueOf(text, 'spool_files', { spool: 'webhooks', state: 'waiting' }), 0, 'the other spool can be read')
  }
  const gauges = (): unknown[] => said.map((line) => (JSON.parse(line) as { gauge: unknown }).gauge).sort()
  t.strictSame(gauges(), ['dispatch_certificate_expires_seconds', 'dispatch_spool_files'])
  spool = service.app.get('outcomeSpool')
  t.ok(valueOf(await registry.metrics(), 'spool_files', { spool: 'outcomes', state: 'waiting' }) !== undefined)
  spool = unreadable
  await registry.metrics()
  t.equal(said.length, 3, 'it has failed anew')
})

await t.test('every metric of the alerts and of the dashboard is one of the service', async (t) => {
  const names = new Set(
    [...(await scrape()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`] : [name]
    )
  )
  for (const file of ['alerts.yaml', 'dashboard.json']) {
    const used = new Set(readFileSync(path(file), 'utf8').match(/\b(?:dispatch|nodejs|process)_[a-z0-9_]+/g))
    t.ok(used.size > 8, file)
    for (const name of used) t.ok(names.has(name), `${file}: ${name}`)
  }
})

await t.test('promtool finds no fault with the metrics, the alerts and what they say of examples', { skip: installed }, async (t) => {
  const promtool = (args: string[], input = ''): void => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
    t.equal(status, 0, `promtool ${args.join(' ')}: ${stdout}${stderr}`)
  }
  promtool(['check', 'metrics'], await scrape())
  promtool(['check', 'rules', path('alerts.yaml')])
  promtool(['test', 'rules', fileURLToPath(new URL('support/alerts.test.yaml', import.meta.url))])
})

await t.test('there is nothing else at the port', async (t) => {
  t.equal((await fetch(new URL('/', url))).status, 404)
  t.equal((await fetch(url, { method: 'POST' })).status, 404)
  const { headers } = await fetch(url)
  contains(t, headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
})

await t.test('without its database a process still shows the rest', async (t) => {
  await service.app.get('database').close()
  const text = await scrape()
  t.equal(valueOf(text, 'database_up'), 0)
  t.equal(valueOf(text, 'steps_total', { service: 'sms', provider: 'simulator', outcome: 'rejected' }), 1)
  await close()
  await t.rejects(fetch(url))
})

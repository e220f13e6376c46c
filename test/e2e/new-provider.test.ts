import { type ReceivedRequest, runConformance } from '@dispatch/conformance'
import { hash } from 'node:crypto'
import { cpSync, existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { directory } from '../fixtures/providers/folders.ts'
import { has } from '../support/matching.ts'
import { type Answer, invoiceRequest, operator, shippedProviders, startService } from '../support/service.ts'
import { vendorOf } from '../support/vendor.ts'
import { root } from './support/process.ts'

/** A folder of an integrator as it came, and what is dispatched through it. `sent` is what its vendor must have got of a dispatch. */
type Newcomer = {
  code: string
  service: string
  request: () => Record<string, unknown>
  sent: (received: ReceivedRequest, answer: Answer) => [found: unknown, wanted: unknown]
}

const newcomers: Newcomer[] = [
  {
    code: 'ledgerly',
    service: 'invoicing',
    request: () => invoiceRequest(),
    sent: (
      { parts = [] },
      { body }
    ) => [parts.filter(({ name }) => name === 'file').map(({ body }) => hash('sha256', body)), [body.generatedDocument.sha256]]
  },
  {
    code: 'parrot',
    service: 'sms',
    request: () => ({ sms: { phoneNumber: '+33612345678', message: 'Your invoice is ready.' } }),
    sent: ({ form }) => [form?.['text'], 'Your invoice is ready.']
  }
]

/** One hash over the names and contents of all files of the core and of the HTTP service. */
function serviceHash (): string {
  const files = globSync('{core,plugins}/**', { cwd: root, exclude: ['**/node_modules'] }).sort().filter((path) =>
    statSync(join(root, path)).isFile()
  )
  return hash('sha256', files.map((path) => `${path} ${hash('sha256', readFileSync(join(root, path)))}\n`).join(''))
}

for (const { code, service: name, request, sent } of newcomers) {
  await t.test(`a new provider of ${name} is a folder and a reload: it dispatches, is switched to and back, ` +
    'and nothing else changes', async (t) => {
    const before = serviceHash()
    const source = join(root, 'test/fixtures/integrators', code)
    const folders = await directory(t)
    const { vendor, network } = await vendorOf(t)
    const service = await startService(t, { config: { providerDirectories: [shippedProviders, folders] }, replacements: { network } })
    const dispatch = (more: object = {}): Promise<Answer> => service.send('POST', `/api/${name}`, { body: { ...request(), ...more } })
    const choose = (providerName: string): Promise<Answer> =>
      service.send('PUT', `/api/v1/company/defaults/${name}`, { body: { providerName } })
    const { settings, exchange: [{ expect, answer }], result } = JSON.parse(
      readFileSync(join(source, 'fixtures/send.accepted.json'), 'utf8')
    )
    const { pathname, host } = new URL(expect.url)
    vendor.on(`${expect.method} ${pathname}`, answer)

    await t.test('it is written against the public contract alone, and keeps it', async (t) => {
      const code = globSync('**/*.{ts,js}', { cwd: source }).map((path) => readFileSync(join(source, path), 'utf8')).join('\n')
      t.strictSame([...code.matchAll(/\bfrom '([^']+)'|\bimport\b\s*\(?'([^']+)'/g)].map(([, from, other]) => from ?? other), [
        '@dispatch/core/provider'
      ])
      const { cases } = await runConformance(source)
      t.strictSame(cases.filter(({ status }) => status === 'failed'), [])
      t.ok(cases.length > 70)
    })

    has(t, await dispatch({ providerName: code }), {
      status: 422,
      body: { error: 'configuration_missing', message: `/providerName: There is no provider "${code}" installed.` }
    })
    cpSync(source, join(folders, code), { recursive: true })
    const reloaded = await service.send('POST', '/api/v1/providers/reload', {}, operator)
    has(t, reloaded.body.data.find((entry: { code: string }) => entry.code === code), {
      state: 'installed',
      services: { [name]: { verbs: Array } },
      health: { state: 'ok' }
    })

    has(t, await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings } }), {
      status: 200,
      body: { code, valid: true }
    })
    const dispatched = await dispatch({ providerName: code })
    has(t, dispatched, { status: 200, body: { success: true, providerName: code, providerResponse: result.response } })
    const [received, ...more] = vendor.requests
    t.strictSame([received?.host, more.length], [host, 0], 'the vendor was asked once, under its own name')
    const [found, wanted] = sent(received!, dispatched)
    t.strictSame(found, wanted)

    has(t, (await dispatch()).body, { providerName: 'simulator' })
    has(t, (await choose(code)).body.services[name], { providerName: code, chosenBy: 'company' })
    has(t, (await dispatch()).body, { providerName: code, providerResponse: result.response })
    has(t, (await choose('simulator')).body.services[name], { providerName: 'simulator', chosenBy: 'company' })
    has(t, (await dispatch()).body, { providerName: 'simulator' })
    t.equal(vendor.requests.length, 2)

    t.notOk(existsSync(join(shippedProviders, code)))
    t.equal(serviceHash(), before, 'no file of core/ or plugins/ has changed')
  })
}

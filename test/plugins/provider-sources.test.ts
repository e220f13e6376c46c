import t from 'tap'
import type { InstalledAdapter } from '../../core/packages/host/host.ts'
import { loadProvider } from '../../core/packages/host/load/load.ts'
import { defineFeature, type Feature } from '../../plugins/features/feature.ts'
import { findFeatures } from '../../plugins/features/find-features.ts'
import { directory, provide } from '../fixtures/providers/folders.ts'
import { contains, has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, operator, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

// A stranger's source of providers: what lies on a shelf, until somebody takes it away. There is no marketplace beside it.
const root = await directory(t)
const adapter = async (code: string): Promise<InstalledAdapter> => ({
  ...await loadProvider(await provide(root, code), code, 10),
  isAdapter: true
})
const pooled = await adapter('lent')

function shelf (name: string, lying: Map<string, InstalledAdapter>): Feature {
  return defineFeature({
    name,
    needs: {},
    providers: () =>
      Promise.resolve({
        load: () => Promise.resolve([...lying.values()]),
        present: (_queries, codes) => Promise.resolve(codes.filter((code) => lying.has(code)))
      })
  })
}

const first = new Map([['lent', pooled]])
const second = new Map([['lent', { ...pooled }], ['spare', await adapter('spare')]])
const shipped = (await findFeatures()).filter(({ name }) => name !== 'marketplace')
const service = await startService(t, {
  features: [...shipped, shelf('shelf', first), shelf('shelf-too', second)],
  replacements: { renderer: quickRenderer },
  config: { prices: { invoicing: 0 } }
})
const { send } = service
const dispatched = async (providerName: string): Promise<unknown> => {
  const { body } = await send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName }) })
  return body.providerResponse?.status ?? body.error
}

await t.test('without the marketplace the shipped providers dispatch, and nothing is said of adapters', async (t) => {
  t.equal(typeof await dispatched('simulator'), 'string')
  t.equal((await send('GET', '/api/v1/marketplace', {}, operator)).status, 404)
  const { body: { paths } } = await send('GET', '/openapi.json', {}, null)
  t.same(Object.keys(paths).filter((path) => path.includes('marketplace')), [])
  const { open, signIn } = openConsole(service)
  const setup = await open('/companies/1/setup', await signIn(operator))
  t.equal(setup.status, 200)
  contains(t, setup.body, 'Sample lent')
})

await t.test('what a source brings is configured and dispatches, until it is gone', async (t) => {
  t.equal((await send('PUT', '/api/v1/company/providers/lent', { body: { settings: {} } })).status, 200)
  t.equal((await send('PUT', '/api/v1/company/providers/spare', { body: { settings: {} } })).status, 200)
  t.same([await dispatched('lent'), await dispatched('spare')], ['sent', 'sent'])
  const configurations = service.app.get('configurations')
  const choice = { service: 'invoicing', providers: [{ providerName: 'lent' }], adapters: ['lent'] }
  const choose = (): Promise<void> => configurations.choose({ companyId: 2, userId: null }, choice, { author: null, at: new Date() })
  await choose()
  for (const shelf of [first, second]) shelf.delete('lent')
  has(t, await choose().catch((error: unknown) => error), { word: 'conflict', details: [{ code: 'adapter_removed' }] })
})

await t.test('a code belongs to the first source that has it', async (t) => {
  const { body: { data } } = await send('GET', '/api/v1/providers', {}, operator)
  const lents = data.filter(({ code }: { code: string }) => code === 'lent')
  has(t, lents, [{ state: 'installed' }, { health: { reason: 'The code "lent" belongs to another source of providers.' } }])
})

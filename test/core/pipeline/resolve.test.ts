import t from 'tap'
import type { Actor } from '../../../core/packages/accounts/access/account.ts'
import { createRequestReader } from '../../../core/packages/contract/request/request.ts'
import { openDatabase } from '../../../core/packages/database/database.ts'
import { createFreshness } from '../../../core/packages/database/freshness.ts'
import { createBrands } from '../../../core/packages/features/templates/service/brand.ts'
import { createTemplates } from '../../../core/packages/features/templates/service/find.ts'
import { tablesIn } from '../../../core/packages/features/templates/store/tables.ts'
import { createTemplateStore } from '../../../core/packages/features/templates/store/templates.ts'
import { createHost } from '../../../core/packages/host/host.ts'
import type { ServiceName } from '../../../core/packages/services/names.ts'
import { type ResolveDependencies, resolveRequest } from '../../../core/pipeline/plan/resolve.ts'
import { inSellerLanguage } from '../../../core/pipeline/plan/seller-language.ts'
import { createConfigurations } from '../../../core/store/configuration/configurations.ts'
import { memoryLog } from '../../fixtures/providers/call.ts'
import { has } from '../../support/matching.ts'
import { seededDatabase } from '../../support/service.ts'

const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: () => undefined })
t.teardown(() => database.close())
const freshness = createFreshness(database)
await freshness.check()
const templates = createTemplates(
  createTemplateStore(database, freshness),
  createBrands({ database, freshness, details: () => Promise.resolve({ details: {} }), now: () => new Date() })
)
const catalogs: ResolveDependencies = {
  templates,
  configurations: createConfigurations(database, freshness, {
    listConnections: () => Promise.resolve(new Map()),
    sources: []
  }),
  host: await createHost({ directories: [], log: memoryLog() }),
  problemsOf: () => []
}

const [platform, demo] = [1, 2]
const actorOf = (companyId: number): Actor => ({ companyId, userId: companyId, email: 'a@example.com', role: 'admin', services: ['*'] })
const resolved = (name: ServiceName, body: object, companyId = demo) =>
  resolveRequest(catalogs, actorOf(companyId), createRequestReader([name])(body))

/** Gives a company a template of a name. */
async function own (companyId: number, id: number, name: string): Promise<void> {
  const now = new Date()
  const source = { name, service: 'file', locale: 'en-GB', body: [{ paragraph: 'Own' }] }
  await tablesIn(database.owner).insertInto('templates').values({
    template_id: id,
    company_id: companyId,
    name,
    version: 1,
    updated_at: now
  })
    .execute()
  await tablesIn(database.owner).insertInto('template_versions').values({
    template_id: id,
    version: 1,
    company_id: companyId,
    digest: name,
    source: JSON.stringify(source),
    schema: '{}',
    sample: '{}',
    created_at: now
  }).execute()
}

await own(demo, 1001, 'Quote')
await own(platform, 1002, 'Secret')

const templateOf = async (...request: Parameters<typeof resolved>) => (await resolved(...request)).steps[0]?.template?.template
const named = (templateName: string) => ({ fileContent: { templateName, data: {} } })

await t.test('a template is found by its name, the company\'s own before a shared one', async (t) => {
  has(t, await templateOf('file', named('Invoice')), { name: 'Invoice', companyId: null })
  has(t, await templateOf('file', named('Quote')), { id: 1001, companyId: demo })
  has(t, await templateOf('file', named('Quote'), platform), { name: 'Quote', companyId: null })
})

await t.test('a name that nobody has given, or another company, is not found', async (t) => {
  for (const [name, hint] of [['Unheard', ''], ['Secret', ''], ['invoice', ' (did you mean "Invoice"?)']] as const) {
    await t.rejects(resolved('file', named(name)), {
      word: 'template_not_found',
      message: `There is no template "${name}"${hint}: GET /api/v1/templates lists those that you may use.`
    }, name)
  }
  t.equal((await templateOf('file', named('Secret'), platform))?.id, 1002)
})

await t.test('a request without a template needs none, and a file needs no provider', async (t) => {
  const { steps } = await resolved('sms', { sms: { phoneNumber: '+33612345678', message: 'Hello' } })
  has(t, steps, [{ template: undefined, choice: { chosen: false } }])
  has(t, (await resolved('file', named('Invoice'))).steps, [{
    service: 'file',
    fields: {},
    template: { path: '/fileContent/data' },
    choice: undefined
  }])
})

void t.test('from 1.1.0 on, the seller\'s country decides the language that the data leave out; 1.0.1 takes the template\'s', async (t) => {
  const languageIn = async (data: object, version?: '1.1.0'): Promise<unknown> => {
    const request = createRequestReader(['invoicing'])({ documentType: 'INVOICE', template: { id: 1, data } })
    const { steps: [step] } = await resolveRequest({ ...catalogs, ...(version === undefined ? {} : { version }) }, actorOf(demo), request)
    return step?.template?.data['language']
  }
  for (const [country, language] of [['DE', 'de'], ['AT', 'de'], ['FR', 'fr'], ['IT', 'it'], ['ES', 'es'], ['NL', 'nl'], ['BE',
    undefined]])
  {
    t.equal(await languageIn({ seller: { country } }, '1.1.0'), language, String(country))
  }
  t.equal(await languageIn({ seller: { country: 'DE' } }), undefined)
  t.equal(await languageIn({ seller: { country: 'DE' }, language: 'en' }, '1.1.0'), 'en')
  t.equal(await languageIn({}, '1.1.0'), undefined)
  t.strictSame(inSellerLanguage({ source: { name: 'a', service: 'file', locale: 'en', body: [], texts: { de: {} } } }, {
    seller: { country: 'DE' }
  }), { seller: { country: 'DE' } }, 'a template that chooses its language itself')
})

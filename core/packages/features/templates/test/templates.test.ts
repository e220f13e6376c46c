import { readFile } from 'node:fs/promises'
import t from 'tap'
import { contains, has } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, startService } from '../../../../../test/support/service.ts'
import { tablesIn } from '../store/tables.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const get = (path: string): Promise<Answer> => service.send('GET', path)
const shipped = async (path: string): Promise<unknown> =>
  JSON.parse(await readFile(new URL(`../../../../../templates/${path}`, import.meta.url), 'utf8'))
const ids = ({ body }: Answer): number[] => body.data.map(({ id }: { id: number }) => id)

await t.test('the shared templates are listed: invoice, quote and credit note', async (t) => {
  const { status, body } = await get('/api/v1/templates')
  t.equal(status, 200)
  has(t, body.data.slice(0, 3), [
    { id: 1, name: 'Invoice', documentType: 'INVOICE' },
    { id: 2, name: 'Quote', documentType: 'QUOTE' },
    { id: 3, name: 'Credit note', documentType: 'CREDIT' }
  ])
  t.equal(body.data.length, 14)
  t.equal(body.nextCursor, null)
})

await t.test('a template is read with the schema of its data and a sample', async (t) => {
  const { status, body } = await get('/api/v1/templates/1')
  t.equal(status, 200)
  t.strictSame({ ...body, updatedAt: '' }, {
    id: 1,
    name: 'Invoice',
    version: 1,
    status: 'published',
    latestVersion: 1,
    service: 'invoicing',
    documentType: 'INVOICE',
    formats: ['PDF', 'DOCX', 'XLSX', 'HTML'],
    locale: 'en',
    languages: ['de', 'en', 'es', 'fr', 'it', 'nl'],
    schema: await shipped('invoice/schema.json'),
    sample: await shipped('invoice/sample.json'),
    updatedAt: '',
    companyId: null,
    source: await readFile(new URL('../../../../../templates/invoice/template.yaml', import.meta.url), 'utf8')
  })
  contains(t, body.updatedAt, /^\d{4}-\d\d-\d\dT.*Z$/)
  t.strictSame({ ...(await get('/api/v1/templates')).body.data[0], source: body.source }, body, 'a list has all of it but the source')
})

await t.test('what is no template is a 404', async (t) => {
  for (const id of ['999', '0', '-1', '1.5', 'x', '99999999999', '01']) {
    has(t, await get(`/api/v1/templates/${id}`), { status: 404, body: { error: 'template_not_found' } }, id)
  }
})

await t.test('templates are filtered by service and document type', async (t) => {
  t.strictSame(ids(await get('/api/v1/templates?documentType=QUOTE')), [2])
  t.strictSame(ids(await get('/api/v1/templates?service=invoicing&documentType=CREDIT')), [3])
  t.strictSame(ids(await get('/api/v1/templates?service=postal')), [30, 31])
})

await t.test('templates are found by words of their names, whatever their case', async (t) => {
  const named = async (q: string): Promise<unknown[]> =>
    (await get(`/api/v1/templates?${new URLSearchParams({ q }).toString()}`)).body.data.map(({ name }: { name: string }) => name)
  t.strictSame(await named('  NOTE cred '), ['Credit note'])
  t.strictSame(await named('credit nothing'), [])
  t.strictSame(await named('%'), [], 'no pattern')
  t.equal((await named(' ')).length, 14)
})

await t.test('the pages of the list hold every template once', async (t) => {
  const first = await get('/api/v1/templates?limit=2')
  t.strictSame(ids(first), [1, 2])
  const second = await get(`/api/v1/templates?limit=2&cursor=${first.body.nextCursor}`)
  t.strictSame(ids(second), [3, 4])
  const rest = await get(`/api/v1/templates?cursor=${second.body.nextCursor}`)
  t.strictSame(ids(rest), [10, 11, 12, 13, 20, 21, 22, 30, 31, 40])
  t.equal(rest.body.nextCursor, null)
  t.strictSame(ids(await get('/api/v1/templates?cursor=999999999999999999')), [])
})

await t.test('a query that is wrong is a 400', async (t) => {
  for (const query of ['limit=0', 'cursor=x', 'cursor=-1', 'kind=x', 'documentType=a&documentType=b', `service=${'x'.repeat(51)}`]) {
    t.equal((await get(`/api/v1/templates?${query}`)).status, 400, query)
  }
})

await t.test('the template of another company is neither listed, nor read, nor dispatched', async (t) => {
  const { companyId, admin } = await service.company('owner')
  const [theirs] = await Promise.all([1000].map(async (id) => {
    const owner = tablesIn(service.app.get('database').owner)
    const now = new Date()
    await owner.insertInto('templates').values({ template_id: id, company_id: companyId, name: 'Own', version: 1, updated_at: now })
      .execute()
    const { source, schema, sample } = await owner.selectFrom('template_versions').selectAll().where('template_id', '=', 1)
      .executeTakeFirstOrThrow()
    await owner.insertInto('template_versions').values({
      template_id: id,
      company_id: companyId,
      version: 1,
      digest: 'own',
      source: JSON.stringify(source),
      schema: JSON.stringify(schema),
      sample: JSON.stringify(sample),
      created_at: now
    }).execute()
    return id
  }))
  t.strictSame(ids(await service.send('GET', '/api/v1/templates', {}, admin)), [1, 2, 3, 4, 10, 11, 12, 13, 20, 21, 22, 30, 31, 40, theirs])
  const own = await service.send('GET', '/api/v1/templates/1000', {}, admin)
  has(t, own, { status: 200, body: { companyId, name: 'Own' } })
  t.equal(
    (await service.send('POST', '/api/invoicing/validate', {
      body: { documentType: 'INVOICE', template: { id: theirs, data: own.body.sample } }
    }, admin)).status,
    200
  )

  t.strictSame(ids(await get('/api/v1/templates')), [1, 2, 3, 4, 10, 11, 12, 13, 20, 21, 22, 30, 31, 40])
  t.equal((await get('/api/v1/templates/1000')).status, 404)
  has(t, await service.send('POST', '/api/invoicing/validate', { body: { documentType: 'INVOICE', template: { id: theirs, data: {} } } }), {
    status: 404,
    body: { error: 'template_not_found' }
  })
})

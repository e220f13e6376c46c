import { readFile } from 'node:fs/promises'
import t from 'tap'
import { readXml } from '../../core/packages/einvoice/test/xml.ts'
import { chainBody } from '../support/chains.ts'
import { contains, has } from '../support/matching.ts'
import { readingOf } from '../support/reading.ts'
import { type Answer, startService } from '../support/service.ts'
import { accepts, testProviders } from './support/providers.ts'

const given: any[] = []
const providers = await testProviders(t)
const electronic = (formats: string): string => `documentTypes: ['INVOICE', 'E_INVOICE'], ${formats}idempotency: { kind: 'none' }`
await providers.add('platform', { service: electronic('') }, async (request, context) => {
  given.push(request)
  return await accepts(request, context)
})
await providers.add('french', { service: electronic('eInvoiceRules: \'FRANCE\', ') }, accepts)
await providers.add('peppol', { service: electronic('eInvoiceFormats: [\'UBL\'], ') }, accepts)
const service = await startService(t, { config: { providerDirectories: providers.directories } })
for (const code of ['platform', 'peppol', 'french']) {
  await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
}
const { outbox } = readingOf(service)

const sample = JSON.parse(await readFile(new URL('../../templates/e-invoice/sample.json', import.meta.url), 'utf8')) as Record<
  string,
  unknown
>
const body = (more: Record<string, unknown> = {}, data: Record<string, unknown> = sample): Record<string, unknown> => ({
  providerName: 'platform',
  documentType: 'E_INVOICE',
  template: { id: 4, data },
  ...more
})
const send = (request: Record<string, unknown>, path = 'invoicing'): Promise<Answer> =>
  service.send('POST', `/api/${path}`, { body: request })
const download = async (id: string): Promise<string> => String((await service.send('GET', `/api/v1/documents/${id}`)).body)

await t.test('an e-invoice is dispatched as the file of its format, a Factur-X unless told otherwise', async (t) => {
  for (const [fields, format, contentType, extension] of [
    [{}, 'FACTUR_X', 'application/pdf', 'pdf'],
    [{ invoicing: { eInvoiceFormat: 'UBL' } }, 'UBL', 'application/xml', 'xml'],
    [{ invoicing: { eInvoiceFormat: 'CII' } }, 'CII', 'application/xml', 'xml']
  ] as const) {
    const answer = await send(body(fields))
    has(t, answer, {
      status: 200,
      body: { success: true, generatedDocument: { contentType, filename: `E-invoice-2026-0143.${extension}` } }
    }, format)
    const request = given.at(-1)
    has(t, request, {
      invoicing: { documentType: 'E_INVOICE', eInvoiceFormat: format },
      document: { contentType, sha256: answer.body.generatedDocument.sha256 }
    }, format)
    const text = await download(answer.body.generatedDocument.id)
    if (format === 'FACTUR_X') contains(t, text, /^%PDF-1\.7/)
    else t.equal(readXml(text).name, format === 'UBL' ? 'Invoice' : 'CrossIndustryInvoice')
  }
})

await t.test('an e-invoice follows the profile that is asked for, in its XML and in the PDF around it', async (t) => {
  const xml = async (fields: Record<string, unknown>, data: Record<string, unknown> = sample): Promise<string> => {
    const answer = await send(body({ invoicing: fields }, { ...data, number: crypto.randomUUID() }))
    t.equal(answer.status, 200, JSON.stringify(answer.body))
    return await download(answer.body.generatedDocument.id)
  }
  contains(t, await xml({ eInvoiceFormat: 'UBL', eInvoiceProfile: 'EN16931' }),
    '<cbc:CustomizationID>urn:cen.eu:en16931:2017</cbc:CustomizationID>')
  contains(t, await xml({ eInvoiceFormat: 'UBL' }), 'urn:fdc:peppol.eu:2017:poacc:billing:3.0</cbc:CustomizationID>')
  contains(t, await xml({ eInvoiceFormat: 'CII' }, { ...sample, eInvoiceProfile: 'EXTENDED' }), 'urn:factur-x.eu:1p0:extended</ram:ID>')
  contains(t, await xml({ eInvoiceProfile: 'BASIC_WL' }), '<fx:ConformanceLevel>BASIC WL</fx:ConformanceLevel>')

  const refusals = async (request: Record<string, unknown>): Promise<unknown> =>
    (await send(body(request), 'invoicing/validate')).body.details.map(({ path, code }: Record<string, string>) => `${path} ${code}`)
  t.strictSame(await refusals({ invoicing: { eInvoiceFormat: 'CII', eInvoiceProfile: 'PEPPOL' } }), [
    '/invoicing/eInvoiceProfile not_supported'
  ])
  t.strictSame(await refusals({ documentType: 'INVOICE', invoicing: { eInvoiceProfile: 'BASIC' } }), [
    '/invoicing/eInvoiceProfile not_supported'
  ])
  t.strictSame(
    await refusals({ invoicing: { eInvoiceProfile: 'BASIC' }, template: { id: 4, data: { ...sample, eInvoiceProfile: 'EXTENDED' } } }),
    [
      '/invoicing/eInvoiceProfile contradiction',
      '/template/data/eInvoiceProfile contradiction'
    ]
  )
})

await t.test('what a French platform refuses is refused before a credit is spent, and warned about elsewhere', async (t) => {
  const { businessProcess: _, operationNature: __, ...unsaid } = sample
  const party = (of: unknown, id: string): unknown => ({ ...of as object, country: 'FR', registration: { id, scheme: '0002' } })
  const data = { ...unsaid, seller: party(sample['seller'], '732829320'), customer: party(sample['customer'], '404833048') }
  const reported = async (providerName: string): Promise<{ problems: unknown[], warnings: unknown[] }> => {
    const { body: { details = [], warnings = [] } } = await send(body({ providerName }, data), 'invoicing/validate')
    const french = (list: { code: string }[]): unknown[] => list.map(({ code }) => code).filter((code) => code === 'BR-FR-08')
    return { problems: french(details), warnings: french(warnings) }
  }
  t.strictSame(await reported('platform'), { problems: [], warnings: ['BR-FR-08'] })
  t.strictSame(await reported('french'), { problems: ['BR-FR-08'], warnings: [] })
})

await t.test('one that was refused is put right and tried again; what is still wrong is told as of a request', async (t) => {
  const requested = { providerName: 'simulator', invoicing: { eInvoiceFormat: 'UBL', reference: 'reject' } }
  const { status, body: { dispatchId } } = await send(body(requested, { ...sample, number: crypto.randomUUID() }))
  t.equal(status, 422)
  const retry = (invoicing: Record<string, unknown>): Promise<Answer> =>
    service.send('POST', `/api/v1/dispatches/${String(dispatchId)}/retry`, { body: { invoicing } })
  const fields = { documentType: 'E_INVOICE', eInvoiceFormat: 'UBL' }
  has(t, await retry({ ...fields, eInvoiceFormat: 'CII' }), { status: 422, body: { details: [{ path: '/invoicing/eInvoiceFormat' }] } })
  has(t, await retry({ ...fields, reference: 'Order 4711' }), { status: 200, body: { success: true } })
})

await t.test('a chain attaches and archives that very file', async (t) => {
  const chain = chainBody(['invoicing', 'email', 'upload'], { id: 4, data: sample }, body({ invoicing: { eInvoiceFormat: 'UBL' } }))
  const { status, body: { generatedDocument } } = await send(chain, 'invoicing/email/upload')
  t.equal(status, 200)
  const [email, upload] = (await outbox()).slice(-2)
  has(t, email.attachments, [{ contentType: 'application/xml', filename: 'E-invoice-2026-0143.xml', sha256: generatedDocument.sha256 }])
  has(t, upload.document, { contentType: 'application/xml', sha256: generatedDocument.sha256 })
})

await t.test('validation tells what an e-invoice misses, by rule and place, and charges nothing', async (t) => {
  const { seller, ...rest } = sample
  const answer = await send(body({}, { ...rest, seller: { ...seller as object, country: undefined }, total: 1 }), 'invoicing/validate')
  has(t, answer, { status: 422, body: { error: 'validation_failed', result: 'error' } })
  t.strictSame(answer.body.details.map(({ path, code }: any) => `${path} ${code}`), [
    '/template/data/seller/country BR-09',
    '/template/data/total BR-CO-15'
  ])
  has(t, await send(body({}, { ...sample, dueDate: '2099-01-01' }), 'invoicing/validate'), {
    status: 200,
    body: { result: 'success', warnings: [] }
  }, 'what the page does not show is in the XML')
})

await t.test('a field of the vocabulary that the page does not show is unused only where nothing else carries it', async (t) => {
  const warned = async (id: number, documentType: string): Promise<string[]> => {
    const { status, body: { warnings } } = await send(
      body({ documentType, template: { id, data: { ...sample, businessProcess: 'B1' } } }),
      'invoicing/validate'
    )
    t.equal(status, 200)
    return warnings.map(({ path, code }: any) => `${path} ${code}`).filter((text: string) => text.includes('businessProcess'))
  }
  t.strictSame(await warned(4, 'E_INVOICE'), [])
  t.strictSame(await warned(1, 'E_INVOICE'), [], 'the XML carries it')
  t.strictSame(await warned(4, 'INVOICE'), [], 'the template is one of e-invoices')
  t.strictSame(await warned(1, 'INVOICE'), ['/template/data/businessProcess unused_field'])
})

await t.test('a format belongs to an e-invoice, and to what the provider takes', async (t) => {
  const codes = async (request: Record<string, unknown>): Promise<string[]> =>
    (await send(request, 'invoicing/validate')).body.details.map(({ path, code }: any) => `${path} ${code}`)
  t.strictSame(await codes(body({ providerName: 'peppol' })), ['/invoicing/eInvoiceFormat not_supported_by_provider'])
  t.ok(
    (await codes(body({ documentType: 'INVOICE', invoicing: { eInvoiceFormat: 'UBL' } }))).includes(
      '/invoicing/eInvoiceFormat not_supported'
    )
  )
  has(t, await send(body({ invoicing: { eInvoiceFormat: 'ZUGFERD' } })), { status: 400, body: { error: 'validation_error' } })
})

await t.test('XML is not signed or printed', async (t) => {
  const chain = chainBody(['invoicing', 'postal'], { id: 4, data: sample }, body({ invoicing: { eInvoiceFormat: 'CII' } }))
  has(t, await send(chain, 'invoicing/postal'), {
    status: 422,
    body: { details: [{ path: '/invoicing/eInvoiceFormat', code: 'format_not_taken' }] }
  })
})

await t.test('a credit note repeats the references of its invoice: of a dispatch, or of a file', async (t) => {
  const credit = { ...sample, number: 'C-1', type: 381, dueDate: undefined, orderReference: undefined, buyerReference: 'own' }
  const credited = async (from: object, path = 'invoicing'): Promise<Answer> =>
    await send(body({ invoicing: { eInvoiceFormat: 'UBL', from } }, { ...credit, number: crypto.randomUUID() }), path)
  const invoice = await send(body({ invoicing: { eInvoiceFormat: 'CII' } }, { ...sample, number: 'F-77' }))
  const document = Buffer.from(await download(invoice.body.generatedDocument.id)).toString('base64')
  for (const from of [{ dispatchId: invoice.body.dispatchId as string }, { document }]) {
    const answer = await credited(from)
    t.equal(answer.status, 200, JSON.stringify(answer.body))
    const xml = await download(answer.body.generatedDocument.id)
    contains(t, xml, /<cac:BillingReference><cac:InvoiceDocumentReference><cbc:ID>F-77<\/cbc:ID><cbc:IssueDate>2026-03-14</)
    contains(t, xml, '<cbc:ID>PO 77-4415</cbc:ID>')
    contains(t, xml, '<cbc:BuyerReference>own</cbc:BuyerReference>')
    const { data, invoicing } = given.at(-1)
    has(t, data, { precedingInvoices: [{ number: 'F-77', date: '2026-03-14' }], orderReference: 'PO 77-4415', buyerReference: 'own' })
    t.notOk('from' in invoicing, 'the provider gets the data, and not where they are from')
  }
  const unknown = crypto.randomUUID()
  for (const path of ['invoicing', 'invoicing/validate']) {
    has(t, (await credited({ dispatchId: unknown }, path)).body, {
      details: [{ path: '/invoicing/from/dispatchId', code: 'not_found' }]
    })
  }
  has(t, (await credited({ document: Buffer.from('no invoice').toString('base64') })).body, {
    details: [{ path: '/invoicing/from/document', code: 'not_xml' }]
  })
  const { admin } = await service.company('stranger')
  const foreign = await service.send('POST', '/api/invoicing', {
    body: { ...body({ invoicing: { from: { dispatchId: invoice.body.dispatchId } } }, credit), providerName: 'simulator' }
  }, admin)
  has(t, foreign.body, { details: [{ path: '/invoicing/from/dispatchId', code: 'not_found' }] }, 'of another company')
})

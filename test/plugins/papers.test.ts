import { PDFDocument } from '@cantoo/pdf-lib'
import type { Format, Rendered, RenderJob } from '@dispatch/documents'
import type { ServiceName } from '@dispatch/services'
import t from 'tap'
import type { PaperSize } from '../../core/packages/documents/model/paper.ts'
import { publishShared } from '../../core/packages/features/templates/store/shared-templates.ts'
import { chainBody } from '../support/chains.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, startService } from '../support/service.ts'
import { accepts, testProviders } from './support/providers.ts'

const providers = await testProviders(t)
const services = 'mailTypes: [\'SIMPLE\'], idempotency: { kind: \'none\' }'
await providers.add('american', { of: 'postal', service: `${services}, papers: ['Letter']` }, accepts)
await providers.add('european', { of: 'postal', service: `${services}, papers: ['A4']` }, accepts)
await providers.add('both', { of: 'postal', service: `${services}, papers: ['A4', 'Letter']` }, accepts)

/** What was rendered, by the format and the paper. */
const rendered: (PaperSize | undefined)[] = []
const renderer = {
  ...quickRenderer,
  render<F extends Format> (job: RenderJob<F>): Promise<Rendered<F>> {
    rendered.push(job.paper)
    return quickRenderer.render(job)
  }
}
const { send, app } = await startService(t, { config: { providerDirectories: providers.directories }, replacements: { renderer } })
for (const code of ['american', 'european', 'both']) await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
await publishShared(app.get('database'), [
  {
    id: 900,
    name: 'Fixed',
    digest: 'fixed',
    yaml: '',
    source: { name: 'Fixed', service: 'postal', locale: 'en', page: { size: 'A4' }, body: [{ paragraph: 'x' }] },
    schema: { type: 'object' },
    sample: {}
  }
], new Date())

const american = { name: 'Ada', address: '185 Berry St', city: 'San Francisco', postalCode: '94107', country: 'US' }
const french = { name: 'Ada', address: '1 rue', city: 'Paris', postalCode: '75002', country: 'FR' }
const letter = (recipient: object, providerName: string): Record<string, unknown> => ({ postal: { recipient, providerName } })

async function paperOf (path: readonly ServiceName[], more: Record<string, unknown>): Promise<PaperSize | undefined> {
  const { status, body } = await send('POST', `/api/${path.join('/')}`, { body: chainBody(path, invoiceRequest()['template'], more) })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return rendered.at(-1)
}

await t.test('a letter is made for what its provider prints on, else for the paper of the country that it goes to', async (t) => {
  const table: [providerName: string, recipient: object, paper: PaperSize][] = [
    ['american', american, 'Letter'],
    ['american', french, 'Letter'],
    ['european', american, 'A4'],
    ['both', american, 'Letter'],
    ['both', french, 'A4'],
    ['simulator', american, 'Letter'],
    ['simulator', french, 'A4']
  ]
  for (const [providerName, recipient, paper] of table) {
    t.equal(await paperOf(['postal'], { postal: { recipient }, providerName }), paper, providerName)
    t.equal(await paperOf(['invoicing', 'postal'], letter(recipient, providerName)), paper, `an invoice by ${providerName}`)
  }
})

await t.test('a PDF with pages that the provider does not print on is refused before anything is held', async (t) => {
  const upload = async (...sizes: [width: number, height: number][]): Promise<string> => {
    const made = await PDFDocument.create()
    for (const size of sizes) made.addPage(size)
    const headers = { 'content-type': 'application/pdf' }
    return (await send('POST', '/api/v1/files?filename=a.pdf', { body: Buffer.from(await made.save()), headers })).body.id as string
  }
  const [a4, letterSize, mixed] = await Promise.all([upload([595.32, 841.92], [594.96, 842]), upload([612, 792]),
    upload([595.28, 841.89], [841.89, 595.28])])
  const body = (providerName: string, fileId: string, more: object = {}) => ({
    providerName,
    document: { fileId },
    postal: { recipient: french, ...more }
  })
  const headers = { 'x-api-version': '1.1.0' }
  for (const [providerName, fileId] of [['european', a4], ['american', letterSize], ['both', a4], ['simulator', mixed]] as const) {
    has(t, await send('POST', '/api/postal/validate', { body: body(providerName, fileId), headers }), { status: 200 }, providerName)
  }
  const wide = 'is 297 mm wide and 210 mm high: print it into a PDF of that size.'
  const refused: [path: string, body: object, place: string, message: string][] = [
    ['postal', body('american', a4), '/document',
      'The provider "american" prints only on Letter in portrait format, and page 1 of this PDF ' +
      'is 210 mm wide and 297 mm high: print it into a PDF of that size.'],
    ['postal', body('both', mixed), '/document',
      `The provider "both" prints only on A4 or Letter in portrait format, and page 2 of this PDF ${wide}`],
    ['postal', body('european', a4, { documents: [{ fileId: a4 }, { fileId: mixed }] }), '/postal/documents/1',
      `The provider "european" prints only on A4 in portrait format, and page 2 of this PDF ${wide}`],
    ['file/postal', body('european', mixed), '/document',
      `The provider "european" prints only on A4 in portrait format, and page 2 of this PDF ${wide}`],
    ['invoicing/postal', {
      ...invoiceRequest(),
      postal: { recipient: french, providerName: 'european', documents: [{ fileId: mixed }] }
    }, '/postal/documents/0', `The provider "european" prints only on A4 in portrait format, and page 2 of this PDF ${wide}`]
  ]
  const { body: { balance: before } } = await send('GET', '/api/v1/credits', { headers })
  for (const [path, body, place, message] of refused) {
    for (const way of [`/api/${path}/validate`, `/api/${path}`]) {
      has(t, await send('POST', way, { body, headers }), {
        status: 422,
        body: { details: [{ path: place, code: 'not_supported_by_provider', message }] }
      }, way)
    }
  }
  has(t, await send('GET', '/api/v1/credits', { headers }), { body: { balance: before } })

  const signers = [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }]
  const later = { on: 'esign.completed', service: 'postal', providerName: 'european', recipient: french }
  const envelope = {
    document: { fileId: letterSize },
    esign: { signers, places: [{ signer: 1, page: 1, x: 72, y: 600 }] },
    deferred: [later]
  }
  has(t, await send('POST', '/api/esign/validate', { body: envelope, headers }), {
    status: 422,
    body: { details: [{ path: '/document', code: 'not_supported_by_provider' }] }
  })
})

await t.test('a document that is posted later is made for its letter, one that is not for A4', async (t) => {
  t.equal(
    await paperOf(['esign'], { deferred: [{ on: 'esign.completed', service: 'postal', providerName: 'american', recipient: french }] }),
    'Letter'
  )
  t.equal(await paperOf(['invoicing', 'email'], {}), undefined)
})

await t.test('pages of a size that the provider does not print on are refused by validation, where the template is named', async (t) => {
  const refused = async (path: string, body: object): Promise<string[]> => {
    const { status, body: answer } = await send('POST', `/api/${path}/validate`, { body })
    t.equal(status, 422, path)
    return answer.details.map(({ path: at, message }: { path: string, message: string }) => `${at} ${message}`)
  }
  const why =
    'The provider "american" prints only on Letter in portrait format, and the pages of this template are A4: with "page: { size: ' +
    'auto }" they become what is printed.'
  t.strictSame(await refused('postal', { template: { id: 900, data: {} }, providerName: 'american', postal: { recipient: american } }), [
    `/template ${why}`
  ])
  t.strictSame(
    await refused('file/postal', {
      fileContent: { templateName: 'Fixed', data: {} },
      providerName: 'american',
      postal: { recipient: american }
    }),
    [`/fileContent ${why}`]
  )
  for (const providerName of ['european', 'both', 'simulator']) {
    has(t, await send('POST', '/api/postal/validate', {
      body: { template: { id: 900, data: {} }, providerName, postal: { recipient: american } }
    }), { status: 200 }, providerName)
  }
})

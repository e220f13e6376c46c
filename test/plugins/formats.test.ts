import t from 'tap'
import { fileFormats } from '../../core/packages/documents/formats/file-formats.ts'
import { partsOf } from '../../core/packages/documents/test/office-support.ts'
import { contains, has } from '../support/matching.ts'
import { invoiceRequest, startService } from '../support/service.ts'

const service = await startService(t)
const { template } = invoiceRequest({ number: 'F-7' })

async function download (url: string): Promise<{ headers: Headers, bytes: Buffer }> {
  const response = await fetch(service.url + new URL(url).pathname)
  return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

for (const [outputFormat, format, main] of [['DOCX', 'docx', 'word/document.xml'], ['XLSX', 'xlsx', 'xl/worksheets/sheet1.xml']] as const) {
  const { contentType } = fileFormats[format]

  await t.test(`POST /api/file makes a ${outputFormat} under the name that the client wants`, async (t) => {
    const { status, body } = await service.send('POST', '/api/file', {
      body: { template, file: { outputFormat, filename: 'Facture n° 7 – été.pdf' } }
    })
    has(t, { status, body }, {
      status: 200,
      body: { status: 'succeeded', generatedDocument: { filename: `Facture n° 7 – été.${format}`, contentType } }
    })
    t.notOk('pages' in body.generatedDocument, 'it has no pages')
    const { headers, bytes } = await download(body.generatedDocument.url)
    t.equal(headers.get('content-type'), contentType)
    t.equal(headers.get('content-disposition'),
      `attachment; filename="Facture_n__7____t_.${format}"; filename*=UTF-8''Facture%20n%C2%B0%207%20%E2%80%93%20%C3%A9t%C3%A9.${format}`)
    contains(t, partsOf(bytes)[main], 'F-7')
  })

  await t.test(`a ${outputFormat} is attached and archived as it is`, async (t) => {
    const email = { from: 'demo@example.com', to: ['ada@example.com'], subject: 'Hello', body: 'See attached.' }
    const { status, body } = await service.send('POST', '/api/file/email/upload', { body: { template, file: { outputFormat }, email } })
    has(t, { status, body }, {
      status: 200,
      body: {
        status: 'succeeded',
        steps: [{ generatedDocument: { filename: `Invoice-F-7.${format}`, contentType } }, { status: 'accepted' }, { status: 'accepted' }]
      }
    })
    const { body: { data } } = await service.send('GET', '/api/v1/simulator/outbox')
    const sent = data.filter(({ attachments, document }: { attachments?: { contentType: string }[], document?: { contentType: string } }) =>
      (attachments?.[0] ?? document)?.contentType === contentType
    )
    t.equal(sent.length, 2)
  })
}

await t.test('a document that is to be signed is refused before anything happens, when it is no PDF', async (t) => {
  const esign = { signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }] }
  for (const path of ['/api/file/esign', '/api/file/esign/validate']) {
    has(t, await service.send('POST', path, { body: { template, file: { outputFormat: 'DOCX' }, esign } }), {
      status: 422,
      body: { error: 'validation_failed', details: [{ path: '/file/outputFormat', code: 'format_not_taken' }] }
    })
  }
})

import { gzipSync } from 'node:zlib'
import t from 'tap'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { admin as us, type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { eInvoiceOf, writeInvoice } from '../../../einvoice/index.ts'
import { sayable } from '../../../einvoice/model/terms.ts'
import { pdfOf, pdfWith } from '../../../einvoice/test/pdf-support.ts'
import { plain } from '../../../einvoice/test/support.ts'

const service = await startService(t)
const { send } = service
const path = '/api/v1/e-invoices/read'
const data = { ...plain, currency: 'EUR' }
const [ubl, cii] = [Buffer.from(writeInvoice(data, 'EN16931', 'UBL')), Buffer.from(writeInvoice(data, 'EN16931', 'CII'))]

const [minimum, basic] = (['MINIMUM', 'BASIC_WL'] as const).map((profile) =>
  Buffer.from(
    eInvoiceOf({ ...sayable(data, profile), lines: data.lines, eInvoiceProfile: profile }, { format: 'FACTUR_X', currency: 'EUR' }).xml
  )
) as [Buffer, Buffer]
const inGermany = {
  ...data,
  buyerReference: '04011000-12345-34',
  seller: {
    ...data.seller,
    country: 'DE',
    city: 'Bonn',
    postalCode: '53111',
    contact: 'Zoë',
    phone: '0221 123',
    email: 'a@b.example',
    vatId: 'DE129273398'
  },
  customer: { ...data.customer, country: 'DE', city: 'Bonn', postalCode: '53111', vatId: 'DE129273398' },
  payment: { means: '10' }
}
const german = Buffer.from(writeInvoice(inGermany, 'XRECHNUNG', 'CII'))
/** The extension of XRechnung has lines in lines. */
const nested = Buffer.from(
  writeInvoice(inGermany, 'XRECHNUNG', 'UBL')
    .replace('xrechnung_3.0<', 'xrechnung_3.0#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0<')
    .replace(/<cac:InvoiceLine>(.*?)<\/cac:InvoiceLine>/s,
      (line, inner: string) =>
        line.replace('</cac:InvoiceLine>',
          `<cac:SubInvoiceLine>${inner.replace(/<cbc:ID>[^<]*/, '<cbc:ID>1.1')}</cac:SubInvoiceLine></cac:InvoiceLine>`))
)

type Headers = Record<string, string>
const read = (
  body: Buffer | string,
  query = '',
  headers: Headers = { 'content-type': 'application/xml' },
  login?: Login
): Promise<Answer> => send('POST', `${path}${query}`, { body: Buffer.from(body), headers }, login)
const form = (name: string, file: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--edge\r\nContent-Disposition: form-data; name="${name}"; filename="a.xml"\r\n\r\n`),
    file,
    Buffer.from('\r\n--edge--\r\n')
  ])
const asForm = { 'content-type': 'multipart/form-data; boundary=edge' }

await t.test('an e-invoice is read as UBL, CII and PDF, as a body or as a file of a form, and nothing is stored', async (t) => {
  const said = { profile: 'EN16931', data: { number: 'F-1', total: '24.00' }, totals: { amountDue: '24.00' }, lost: [], lostCount: 0 }
  has(t, await read(ubl), { status: 200, body: { ...said, format: 'UBL', problems: [] } })
  has(t, await read(cii, '', { 'content-type': 'text/xml; charset=utf-8' }), { status: 200, body: { ...said, format: 'CII' } })
  has(t, await read(pdfWith(cii), '', { 'content-type': 'application/pdf' }), {
    status: 200,
    body: { ...said, format: 'FACTUR_X', embedded: 'factur-x.xml' }
  })
  has(t, await read(gzipSync(ubl), '', { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' }), { status: 200 })
  has(t, await read(form('file', cii), '?format=json', asForm), { status: 200, body: { ...said, format: 'CII' } })
  has(t, await send('GET', '/api/v1/dispatches'), { body: { data: [] } })
})

await t.test('each broken rule and each lost part is told with its place in the data and in the file', async (t) => {
  const broken = ubl.toString().replace(/(<cbc:TaxInclusiveAmount[^>]*>)24.00/, '$125.00')
    .replace('<cbc:IssueDate>', '<cbc:UUID>42</cbc:UUID>\n<cbc:IssueDate>')
  const { status, body } = await read(broken)
  t.equal(status, 200)
  const line = (of: string): number => broken.slice(0, broken.indexOf(of)).split('\n').length
  has(t, body.problems.find(({ code }: { code: string }) => code === 'BR-CO-15'), {
    path: '/total',
    element: '/Invoice/cac:LegalMonetaryTotal/cbc:TaxInclusiveAmount',
    line: line('<cbc:TaxInclusiveAmount')
  })
  has(t, body, {
    lost: [{ element: '/Invoice/cbc:UUID', value: '42', line: line('<cbc:UUID') }],
    lostCount: 1,
    totals: { total: '24.00' }
  })
})

await t.test('a page shows the invoice to people, as HTML and PDF, in their language; a browser runs none of it', async (t) => {
  const named = writeInvoice({ ...data, seller: { ...plain.seller, name: '<script>alert(1)</script>' } }, 'EN16931', 'UBL')
  const page = await read(named, '?format=html')
  has(t, page, { status: 200 })
  contains(t, page.headers.get('content-security-policy'), /default-src 'none'.*sandbox/)
  contains(t, String(page.body), /Invoice F-1/)
  contains(t, String(page.body), /24\.00/)
  lacks(t, String(page.body), /<script/)
  contains(t, String((await read(ubl, '?format=html&language=fr')).body), /Facture F-1/)
  const pdf = await read(ubl, '?format=pdf')
  t.equal(pdf.headers.get('content-type'), 'application/pdf')
  contains(t, pdf.headers.get('content-disposition'), /e-invoice\.pdf/)
  // What a profile without lines says is shown as well.
  has(t, await read(writeInvoice(sayable(data, 'BASIC_WL'), 'BASIC_WL'), '?format=html'), { status: 200 })
  has(t, await read(ubl, '?format=html&language=xx'), { status: 422, body: { details: [{ path: '/query/language' }] } })
  has(t, await read(ubl.toString().replace('<cbc:ID>F-1</cbc:ID>', ''), '?format=html'), {
    status: 422,
    body: { error: 'validation_failed', details: [{ path: '/data/number', code: 'missing_value' }] }
  })
})

await t.test('a file that is none, or hostile, is refused with a sentence', async (t) => {
  const entities = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
  const refused: [string | Buffer, string][] = [
    ['no XML', 'not_xml'],
    [entities, 'document_type'],
    [`${'<a>'.repeat(100)}${'</a>'.repeat(100)}`, 'too_large'],
    ['<Order/>', 'not_an_invoice'],
    [pdfOf(['<< /Type /Catalog >>']), 'no_invoice'],
    [pdfWith(cii, 'factur-x.xml', '/Root 1 0 R /Encrypt << >>'), 'encrypted'],
    [pdfWith(Buffer.alloc(26 * 1024 * 1024)), 'too_large'],
    [pdfOf(['<< /Names << /EmbeddedFiles 2 0 R >> >>', '<< /Kids [2 0 R] >>']), 'no_invoice']
  ]
  for (const [file, code] of refused) {
    const { status, body } = await read(file)
    has(t, { status, body }, {
      status: 422,
      body: { error: 'validation_failed', details: [{ path: '/file', code, message: /^[A-Z].*\.$/ }] }
    })
    lacks(t, JSON.stringify(body), /root:/)
  }
  has(t, await read(Buffer.alloc(25 * 1024 * 1024 + 1)), { status: 413, body: { error: 'payload_too_large' } })
  has(t, await read(gzipSync(Buffer.alloc(30 * 1024 * 1024)), '', { 'content-type': 'text/xml', 'content-encoding': 'gzip' }), {
    status: 413
  })
  has(t, await read(ubl, '', { 'content-type': 'text/plain' }), { status: 415 })
  has(t, await read(form('file', ubl), '', { ...asForm, 'content-encoding': 'gzip' }), { status: 415 })
  has(t, await read(''), { status: 400, body: { details: [{ path: '/file', code: 'required' }] } })
  has(t, await read(form('notes', ubl), '', asForm), { status: 400, body: { details: [{ path: '/notes', code: 'unknown_field' }] } })
  has(t, await read('no gzip', '', { 'content-type': 'text/xml', 'content-encoding': 'gzip' }), { status: 400 })
  has(t, await read(ubl, '?format=docx'), { status: 400, body: { details: [{ path: '/query/format' }] } })
})

await t.test('a file that comes slowly keeps nobody waiting but its own company', async (t) => {
  const { admin } = await service.company('neighbour')
  const begun = Promise.withResolvers<undefined>()
  const slow = new ReadableStream<Uint8Array>({
    async start (controller) {
      controller.enqueue(ubl.subarray(0, 100))
      await begun.promise
      controller.enqueue(ubl.subarray(100))
      controller.close()
    }
  })
  const authorization = `Basic ${Buffer.from(`${us.email}:${us.password}`).toString('base64')}`
  const headers = { 'content-type': 'application/xml', 'x-forwarded-proto': 'https', authorization }
  const first = fetch(service.url + path, { method: 'POST', body: slow, duplex: 'half', headers })
  const next = read(ubl)
  has(t, await read(ubl, '', { 'content-type': 'application/xml' }, admin), { status: 200 })
  begun.resolve(undefined)
  t.equal((await first).status, 200)
  has(t, await next, { status: 200 })
})

await t.test('the console reads an e-invoice, says what is wrong, and begins a credit note about it', async (t) => {
  const { signIn, open } = openConsole(service)
  const cookie = await signIn(us)
  const upload = async (name: string, file: Buffer): Promise<{ status: number, location: string, text: string }> => {
    const body = new FormData()
    body.append('file', new Blob([new Uint8Array(file)]), 'invoice.xml')
    const answer = await fetch(`${service.url}/console/e-invoices${name}`, {
      method: 'POST',
      headers: { cookie, origin: service.url, 'sec-fetch-site': 'same-origin' },
      body,
      redirect: 'manual'
    })
    return { status: answer.status, location: answer.headers.get('location') ?? '', text: await answer.text() }
  }
  contains(t, (await open('/e-invoices', cookie)).body, 'enctype="multipart/form-data"')
  const wrong = Buffer.from(ubl.toString().replace('>24.00</cbc:PayableAmount>', '>25.00</cbc:PayableAmount>'))
  const read = await upload('', wrong)
  t.equal(read.status, 200)
  for (const said of ['<th scope="row">BR-CO-16</th>', '<em>Amount due</em>', '24.00 EUR']) contains(t, read.text, said)
  const refused = await upload('', Buffer.from('<html/>'))
  t.equal(refused.status, 422)
  const begun = await upload('/credit', cii)
  t.equal(begun.status, 303)
  const page = (await open(begun.location.slice('/console'.length), cookie)).body
  contains(t, page, /type&quot;: ?381|value="381"/)
  contains(t, page, 'F-1')
  // Whatever a file says, the form can be sent as it opens; of a customer MINIMUM says the name alone.
  for (const [name, file, lines] of [
    ['MINIMUM', minimum, 1],
    ['BASIC_WL', basic, 1],
    ['XRECHNUNG', nested, 1],
    ['XRECHNUNG in a PDF', pdfWith(german), 1]
  ] as const) {
    const { location } = await upload('/credit', file)
    const { body: { request } } = await send('GET', `/api/v1/drafts/${new URL(location, service.url).searchParams.get('draft')!}`)
    const { template, ...fields } = request
    const { customer } = data
    const filled = { ...template.data, number: 'C-1', date: '2026-05-04', ...name === 'MINIMUM' && { customer } }
    const checked = await send('POST', '/api/invoicing/validate', { body: { ...fields, template: { ...template, data: filled } } })
    t.equal(checked.status, 200, `${name}: ${JSON.stringify(checked.body.details)}`)
    t.strictSame([filled.precedingInvoices, filled.lines.length], [[{ number: 'F-1', date: '2026-03-14' }], lines], name)
  }
  const credit = Buffer.from(writeInvoice({ ...data, type: 381 }, 'EN16931', 'CII'))
  t.equal((await upload('/credit', credit)).status, 422)
})

import fc from 'fast-check'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { extractText } from 'unpdf'
import { partsOf } from '../../../core/packages/documents/test/office-support.ts'
import { readXml } from '../../../core/packages/einvoice/test/xml.ts'
import { contains, has } from '../../support/matching.ts'
import { readingOf } from '../../support/reading.ts'
import { startService } from '../../support/service.ts'

const service = await startService(t)
const { outbox } = readingOf(service)
const sampleOf = async (folder: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(new URL(`../../../templates/${folder}/sample.json`, import.meta.url), 'utf8')) as Record<string, unknown>
const download = async (url: string): Promise<Buffer> => Buffer.from(await (await fetch(service.url + new URL(url).pathname)).arrayBuffer())

/** As programs in Paris write two days: their midnight is still the day before in UTC. */
const written = { date: '2026-11-26T00:00:00+01:00', dueDate: '2026-12-31T00:00:00+01:00' }

await t.test('a day that is written as a time is the same day in a PDF, a DOCX, an XLSX, an e-mail and a text message', async (t) => {
  const data = { ...await sampleOf('invoice'), number: 'D-1', ...written }
  for (const [outputFormat, part] of [['PDF', ''], ['DOCX', 'word/document.xml'], ['XLSX', 'xl/worksheets/sheet1.xml']] as const) {
    const { body } = await service.send('POST', '/api/file', { body: { template: { id: 1, data }, file: { outputFormat } } })
    const bytes = await download(body.generatedDocument.url)
    const text = part === '' ? (await extractText(new Uint8Array(bytes), { mergePages: true })).text : partsOf(bytes)[part] ?? ''
    // A sheet has numbers of days: 46,352 is 26 November 2026.
    for (const day of outputFormat === 'XLSX' ? ['46352', '46387'] : ['26 Nov 2026', '31 Dec 2026']) {
      contains(t, text.replaceAll('\u00a0', ' '), day, outputFormat)
    }
  }
  const mail = { from: 'demo@example.com', to: 'ada@example.com', subject: 'Invoice' }
  await service.send('POST', '/api/email', {
    body: { ...mail, template: { id: 11, data: { ...await sampleOf('email-reminder'), dueDate: written.date } } }
  })
  await service.send('POST', '/api/sms', {
    body: { template: { id: 21, data: { ...await sampleOf('sms-reminder'), dueDate: written.date } }, sms: { phoneNumber: '+33612345678' } }
  })
  const [email, sms] = (await outbox()).slice(-2)
  contains(t, email.email.text, /26 Nov(ember)? 2026/)
  contains(t, sms.sms.message, /26 Nov/)
})

await t.test('the page of an e-invoice and its XML tell the same day', async (t) => {
  const data = { ...await sampleOf('e-invoice'), number: 'D-2', ...written }
  const { body } = await service.send('POST', '/api/invoicing', { body: { documentType: 'E_INVOICE', template: { id: 4, data } } })
  const { text } = await extractText(new Uint8Array(await download(body.generatedDocument.url)), { mergePages: true })
  contains(t, text, '26 Nov 2026')
  const cii = await service.send('POST', '/api/invoicing', {
    body: { documentType: 'E_INVOICE', invoicing: { eInvoiceFormat: 'CII' }, template: { id: 4, data: { ...data, number: 'D-3' } } }
  })
  const xml = (await download(cii.body.generatedDocument.url)).toString()
  t.equal(readXml(xml).name, 'CrossIndustryInvoice')
  contains(t, xml, '>20261126<')
  contains(t, xml, '>20261231<')
})

await t.test('rules compare days as they are written, and a provider gets a day', async (t) => {
  const data = { ...await sampleOf('invoice'), number: 'D-4', date: '2026-11-26', dueDate: '2026-11-26T00:00:00+01:00' }
  const body = { documentType: 'INVOICE', template: { id: 1, data }, invoicing: { dueDate: '2026-11-26T00:00:00+01:00' } }
  has(t, await service.send('POST', '/api/invoicing', { body }), { status: 200 })
  t.equal((await outbox()).at(-1).invoicing.dueDate, '2026-11-26')
})

await t.test('a day is the written one, whatever time and offset stand behind it', async (t) => {
  const sample = await sampleOf('invoice')
  const time = fc.tuple(
    fc.constantFrom('T', ' ', 't'),
    fc.constantFrom('00:00', '00:00:00', '23:59:59', '12:30:00.123', '00:00:00.0000000'),
    fc.constantFrom('', 'Z', 'z', '+01:00', '-11:00', '+14:00', '+0530', '+01:00[Europe/Paris]')
  )
  const days = fc.date({ min: new Date('2026-01-01'), max: new Date('2028-12-31'), noInvalidDate: true })
  await fc.assert(fc.asyncProperty(days, fc.option(time, { nil: undefined }), async (at, behind) => {
    const day = at.toISOString().slice(0, 10)
    const dueDate = day + (behind ?? []).join('')
    const data = { ...sample, number: 'D-5', date: day, dueDate }
    const { status, body } = await service.send('POST', '/api/invoicing/validate', {
      body: { documentType: 'INVOICE', template: { id: 1, data }, invoicing: { dueDate } }
    })
    const faults = (body.details ?? body.warnings).filter(({ path }: { path: string }) => path.endsWith('/dueDate'))
    // Whether it has passed is no matter of how it is written.
    return status === 200 && faults.every(({ code }: { code: string }) => code === 'due_date_in_the_past')
  }), { numRuns: 60 })
  const text = async (dueDate: string): Promise<string> => {
    const { body } = await service.send('POST', '/api/file', { body: { template: { id: 1, data: { ...sample, dueDate } } } })
    return (await extractText(new Uint8Array(await download(body.generatedDocument.url)), { mergePages: true })).text
  }
  for (const written of ['2026-12-31T23:59:59', '2026-12-31+01:00', '2026-12-31Z', '2026-12-31T00:00+01:00[Europe/Paris]']) {
    contains(t, await text(written), '31 Dec 2026', written)
  }
  for (const dueDate of ['2026-02-30T00:00:00', '2026-11-26T24:00:00', '2026-11-26T00', '26.11.2026']) {
    const body = { template: { id: 1, data: { ...sample, dueDate } } }
    has(t, await service.send('POST', '/api/file/validate', { body }), {
      status: 422,
      body: { details: [{ path: '/template/data/dueDate' }] }
    })
  }
})

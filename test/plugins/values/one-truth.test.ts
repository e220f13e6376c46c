import { readFile } from 'node:fs/promises'
import t from 'tap'
import { extractText } from 'unpdf'
import { contains, has } from '../../support/matching.ts'
import { readingOf } from '../../support/reading.ts'
import { startService } from '../../support/service.ts'

const service = await startService(t)
const { outbox } = readingOf(service)
const sampleOf = async (folder: string): Promise<Record<string, any>> =>
  JSON.parse(await readFile(new URL(`../../../templates/${folder}/sample.json`, import.meta.url), 'utf8')) as Record<string, any>
const letter = await sampleOf('postal-letter')
const ada = { name: 'Ada Lovelace', address: '1 Main St', city: 'London', postalCode: 'SW1A 1AA', country: 'GB' }
const other = { name: 'Somebody Else', address: '2 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }
const post = async (path: string, body: object): Promise<any> => await service.send('POST', path, { body })

await t.test('a letter goes to the recipient on its page', async (t) => {
  for (const path of ['/api/postal', '/api/postal/validate']) {
    const { status, body } = await post(path, { template: { id: 30, data: { ...letter, recipient: ada } }, postal: { recipient: other } })
    t.equal(status, 422)
    for (const place of ['/postal/recipient/name', '/template/data/recipient/name']) {
      t.ok(body.details.some((problem: any) => problem.path === place && problem.code === 'contradiction'), place)
    }
  }
  has(t, await post('/api/postal', { template: { id: 30, data: { ...letter, recipient: ada } }, postal: { recipient: ada } }), {
    status: 200
  })
})

await t.test('a letter that names no recipient in its data shows the one it goes to', async (t) => {
  const { recipient: _, ...data } = letter
  const { status, body } = await post('/api/postal', { template: { id: 30, data }, postal: { recipient: ada } })
  t.equal(status, 200)
  const page = await fetch(service.url + new URL(String(body.generatedDocument.url)).pathname)
  const { text } = await extractText(new Uint8Array(await page.arrayBuffer()), { mergePages: true })
  for (const line of ['Ada Lovelace', '1 Main St', 'London SW1A 1AA']) contains(t, text.replaceAll('\u00a0', ' '), line)
})

await t.test('a letter goes to the recipient on its page where the request names no other', async (t) => {
  const template = { id: 30, data: { ...letter, recipient: ada } }
  const fileContent = { templateName: 'Letter', data: template.data }
  for (const [path, body] of [['/api/postal', { template }], ['/api/file/postal', { fileContent }]] as const) {
    has(t, await post(`${path}/validate`, body), { status: 200 })
    has(t, await post(path, body), { status: 200 })
    has(t, (await outbox()).at(-1).postal, { recipient: ada }, path)
  }
  has(t, await post('/api/postal', { template: { id: 30, data: { ...letter, recipient: { ...ada, country: 'United Kingdom' } } } }), {
    status: 400,
    body: {
      error: 'validation_error',
      details: [{ path: '/postal/recipient', code: 'required' }, { path: '/template/data/recipient/country', code: 'pattern' }]
    }
  })
  has(t, await post('/api/postal/validate', { template: { id: 1, data: { ...await sampleOf('invoice'), recipient: ada } } }), {
    status: 400,
    body: { details: [{ path: '/postal/recipient', code: 'required' }] }
  })
})

await t.test('the document of a chain shows the recipient of its letter, and names no other', async (t) => {
  const { recipient: _, ...data } = letter
  const { status, body } = await post('/api/file/postal', { template: { id: 30, data }, postal: { recipient: ada } })
  t.equal(status, 200)
  const page = await fetch(service.url + new URL(String(body.generatedDocument.url)).pathname)
  const { text } = await extractText(new Uint8Array(await page.arrayBuffer()), { mergePages: true })
  contains(t, text.replaceAll('\u00a0', ' '), 'London SW1A 1AA')
  const wrong = await post('/api/file/postal', { template: { id: 30, data: { ...letter, recipient: ada } }, postal: { recipient: other } })
  t.equal(wrong.status, 422)
  t.ok(wrong.body.details.some((problem: any) => problem.path === '/postal/recipient/name' && problem.code === 'contradiction'))
})

await t.test('an invoice that goes to somebody else by post is a warning', async (t) => {
  const data = await sampleOf('invoice')
  const { status, body } = await post('/api/postal/validate', { template: { id: 1, data }, postal: { recipient: ada } })
  t.equal(status, 200)
  t.ok(body.warnings.some((warning: any) => warning.code === 'other_recipient'))
})

await t.test('an invoice prints the due date that the vendor is told', async (t) => {
  const data = { ...await sampleOf('invoice'), dueDate: '2099-05-01' }
  const { status, body } = await post('/api/invoicing/validate', {
    documentType: 'INVOICE',
    template: { id: 1, data },
    invoicing: { dueDate: '2099-06-01' }
  })
  t.equal(status, 422)
  t.ok(body.details.some((problem: any) => problem.path === '/template/data/dueDate' && problem.code === 'contradiction'))
})

await t.test('a letter is no text message, and a text no document to sign', async (t) => {
  const wrong = { status: 422, body: { details: [{ path: '/template', code: 'wrong_template' }] } }
  has(t, await post('/api/sms/validate', { sms: { phoneNumber: '+33612345678' }, template: { id: 30, data: letter } }), wrong)
  const signers = [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }]
  has(t, await post('/api/esign/validate', { signers, template: { id: 20, data: await sampleOf('sms-notice') } }), wrong)
})

import t from 'tap'
import { compile } from '../../../core/packages/common/schema.ts'
import { createUploadReader } from '../../../core/packages/contract/request/upload-fields.ts'
import { checkFileSize, upload, UploadCapabilities } from '../../../core/packages/services/upload/index.ts'
import { has } from '../../support/matching.ts'
import { type Judgement, judgeRequest, type World } from '../pipeline/support.ts'

const judgeFields = (fields: Record<string, string>, world?: World): Judgement =>
  judgeRequest(() => createUploadReader(['upload'])(fields), world)
const document = {
  id: '01960000-0000-7000-8000-000000000001',
  filename: 'a.pdf',
  contentType: 'application/pdf',
  size: 5,
  sha256: '0'.repeat(64)
}

await t.test('a file needs no fields, and no template', (t) => {
  has(t, judgeFields({}), { problems: [], plan: { request: { services: ['upload'], metadata: {}, steps: [{ settings: {} }] } } })
  t.equal(judgeFields({}).plan?.steps[0]?.template, undefined)
  t.end()
})

await t.test('metadata and settings are JSON texts', (t) => {
  const { plan } = judgeFields({ metadata: '{"orderId":"A-1"}', settings: '{"label":"x"}', providerName: 'acme' })
  has(t, plan?.request, { metadata: { orderId: 'A-1' }, steps: [{ settings: { label: 'x' }, providerName: 'acme' }] })
  has(t, judgeFields({ settings: '{"labels":"x"}' }), { word: 'validation_failed', problems: ['/settings/labels unknown_field'] })
  t.end()
})

await t.test('everything that is wrong with the fields is told together', (t) => {
  has(t, judgeFields({ metadata: '{"orderId":', settings: '[]', providerName: 'ACME', callbackUrl: 'http://example.com', folder: 'x' }), {
    word: 'validation_error',
    problems: ['/metadata json', '/folder unknown_field', '/providerName pattern', '/settings type', '/callbackUrl format']
  })
  t.end()
})

await t.test('metadata is flat, with texts as values', (t) => {
  t.same(judgeFields({ metadata: '{"a":{"b":"c"}}' }).problems, ['/metadata/a type'])
  t.same(judgeFields({ metadata: '"text"' }).problems, ['/metadata type'])
  t.same(judgeFields({ metadata: JSON.stringify({ a: 'x'.repeat(501) }) }).problems, ['/metadata/a too_long'])
  t.same(judgeFields({ metadata: '{"__proto__":"x"}' }).problems, ['/metadata/__proto__ forbidden_key'])
  t.end()
})

await t.test('a file is not larger than the provider takes', (t) => {
  const acme = { code: 'acme', capabilities: { maxSize: 5 } }
  t.same(checkFileSize(5, acme), [])
  t.same(checkFileSize(6, acme), [{
    path: '/file',
    code: 'not_supported_by_provider',
    message: 'The provider "acme" takes at most 5 bytes a file, and this has 6.'
  }])
  t.same(checkFileSize(6, { code: 'acme', capabilities: {} }), [])
  t.equal(upload.checkContent?.({}, { document: { ...document, size: 6 }, data: {}, metadata: {} }, acme).length, 1)
  t.end()
})

await t.test('a provider takes files of at least one byte', (t) => {
  const fits = compile(UploadCapabilities)
  t.ok(fits({ maxSize: 1 }).ok)
  t.notOk(fits({ maxSize: 0 }).ok)
  t.end()
})

await t.test('the provider is handed the file and the metadata', (t) => {
  t.same(upload.request({}, { document, data: {}, metadata: { orderId: '1' } }), { document, metadata: { orderId: '1' } })
  t.end()
})

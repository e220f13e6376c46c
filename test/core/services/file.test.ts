import fc from 'fast-check'
import t from 'tap'
import { file } from '../../../core/packages/services/file/index.ts'
import { cleanFilename } from '../../../core/packages/services/filename.ts'
import { formatOf } from '../../../core/packages/services/lists.ts'
import { has } from '../../support/matching.ts'
import { judge, template, type World } from '../pipeline/support.ts'

const fileContent = { templateName: 'Sample', data: { number: 'F-1' } }
const problems = (fields: object, world?: World): string[] => judge('file', { template, file: fields }, world).problems

await t.test('a template is named by its number or by its name, not both', (t) => {
  has(t, judge('file', { template: { id: 7, data: { number: 'F-1' } } }).plan?.request.steps[0]?.template, {
    id: 7,
    data: { number: 'F-1' },
    path: '/template/data'
  })
  has(t, judge('file', { fileContent }).plan?.request.steps[0]?.template, {
    name: 'Sample',
    data: { number: 'F-1' },
    path: '/fileContent/data'
  })
  has(t, judge('file', { template, fileContent }), { word: 'validation_error', problems: ['/fileContent contradiction'] })
  const { word, details } = judge('file', {})
  t.equal(word, 'validation_error')
  const message = 'The field "template" is required, or "fileContent" or "document" instead.'
  t.same(details, [{ path: '/template', code: 'required', message }])
  t.same(judge('file', { fileContent: { templateName: 'Sample' } }).problems, ['/fileContent/data required'])
  t.same(judge('file', { fileContent: { ...fileContent, id: 1 } }).problems, ['/fileContent/id unknown_field'])
  t.end()
})

await t.test('what is wrong with the data is told where the client wrote it', (t) => {
  const schema = { type: 'object', required: ['total'], properties: { number: { type: 'string' } } }
  t.same(judge('file', { fileContent: { ...fileContent, data: { number: 1 } } }, { schema }).problems, [
    '/fileContent/data/total required',
    '/fileContent/data/number type'
  ])
  t.same(judge('file', { template: { id: 1, data: { number: 1 } } }, { schema }).problems, [
    '/template/data/total required',
    '/template/data/number type'
  ])
  t.same(judge('file', { fileContent: { ...fileContent, data: { note: 1 } } }).warnings, ['/fileContent/data/note unused_field'])
  t.end()
})

await t.test('a PDF is made unless another format is asked for', (t) => {
  t.equal(formatOf('file', {}), 'pdf')
  for (const [outputFormat, format] of [['PDF', 'pdf'], ['DOCX', 'docx'], ['XLSX', 'xlsx']] as const) {
    t.equal(formatOf('file', { outputFormat }), format)
    t.same(problems({ outputFormat }), [])
  }
  has(t, judge('file', { template, file: { outputFormat: 'pdf' } }), { word: 'validation_error', problems: ['/file/outputFormat enum'] })
  t.end()
})

await t.test('no provider is needed, and what is meant for one is a warning', (t) => {
  has(t, judge('file', { template }).plan?.steps, [{ service: 'file', fields: {}, price: 0, by: undefined }])
  has(t, judge('file', { template, providerName: 'acme', settings: { label: 'x' } }), {
    problems: [],
    warnings: ['/providerName unused_field', '/settings unused_field']
  })
  t.end()
})

await t.test('a file has the name that the client wants, as every file system takes it', (t) => {
  const names = [
    ['Invoice 2026.pdf', 'Invoice 2026.pdf'],
    ['Invoice', 'Invoice.pdf'],
    ['invoice.PDF', 'invoice.pdf'],
    ['report.docx', 'report.pdf'],
    ['v1.2', 'v1.2.pdf'],
    ['../../etc/passwd', 'etc-passwd.pdf'],
    ['C:\\temp\\a.pdf', 'C-temp-a.pdf'],
    ['.hidden', 'hidden.pdf'],
    ['a\r\nb.pdf', 'a-b.pdf'],
    ['a"b|c?.pdf', 'a-b-c.pdf'],
    ['annexe-fdp.\u202excod', 'annexe-fdp.-xcod.pdf'],
    ['Devis n° 7 – été.pdf', 'Devis n° 7 – été.pdf'],
    ['e\u0301te\u0301', 'été.pdf'],
    ['a'.repeat(200), `${'a'.repeat(60)}.pdf`]
  ] as const
  for (const [given, expected] of names) t.equal(cleanFilename(given, 'pdf'), expected, JSON.stringify(given))
  for (const filename of ['/', '...', '.pdf', ' ']) t.equal(cleanFilename(filename, 'pdf'), undefined, JSON.stringify(filename))
  t.equal(cleanFilename('report.pdf', 'docx'), 'report.docx')
  t.same(problems({ filename: '' }), ['/file/filename too_short'])
  t.same(problems({ filename: 'a'.repeat(201) }), ['/file/filename too_long'])
  t.end()
})

await t.test('no name leads out of a folder, breaks a header or is too long', (t) => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('a', '漢', '😀', 'e\u0301', '/', '\\', '.', '-', ' ', '"', '\r', '\n', '\0', '\ud800', '\u202e', '.pdf'),
        maxLength: 200
      }),
      (name) => {
        const clean = cleanFilename(name, 'pdf')
        return clean === undefined || (/^[^./\\\p{Cc}"][^/\\\p{Cc}"]*\.pdf$/u.test(clean) && Buffer.byteLength(clean) <= 255)
      }
    )
  )
  t.end()
})

await t.test('a file is found by the number of its document and its customer', (t) => {
  t.same(file.facts({}, { number: 7, customer: { name: 'Ada' } }), { documentNumber: '7', recipient: 'Ada' })
  t.end()
})

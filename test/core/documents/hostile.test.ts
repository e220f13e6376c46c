import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import t from 'tap'
import { compileTemplate } from '../../../core/documents/compile.ts'
import { RenderError, TemplateError } from '../../../core/documents/errors.ts'
import { readTemplateFolder } from '../../../core/documents/folder.ts'
import type { TemplateSource } from '../../../core/documents/model.ts'
import { faultsOf, made, pdfOf, problemsOf, templateOf, wordsOf } from './support.ts'

const bounded: [rule: string, body: TemplateSource['body'], data: object][] = [
  ['a loop over billions', [{ paragraph: '{% for a in (1..9999999999) %}x{% endfor %}' }], {}],
  ['loops inside loops', [{ paragraph: '{% for a in (1..9000) %}{% for b in (1..9000) %}{% endfor %}{% endfor %}' }], {}],
  ['a text that doubles itself', [{ paragraph: `{% assign a = "xxxxxxxxxx" %}${'{% assign a = a | append: a %}'.repeat(30)}{{ a }}` }], {}],
  ['more text than a document may have', [{ each: 'list', as: 'i', do: [{ paragraph: '{{ text }}' }] }], { list: Array.from({ length: 6000 }, () => 1), text: 'x'.repeat(1000) }],
  ['more rows than a document may have', [{ each: 'list', as: 'a', do: [{ each: 'list', as: 'b', do: [{ paragraph: 'x' }] }] }], { list: Array.from({ length: 400 }, () => 1) }],
  ['more pages than a document may have', [{ each: 'list', as: 'a', do: [{ paragraph: 'x' }, { pageBreak: true }] }], { list: Array.from({ length: 3000 }, () => 1) }]
]

for (const [rule, body, data] of bounded) {
  void t.test(`${rule} ends in an error`, async (t) => {
    t.match(await problemsOf(body, data), [{ code: 'too_large' }])
  })
}

void t.test('header and footer that leave no room end in an error', async (t) => {
  t.match(await problemsOf([{ paragraph: 'x' }], {}, { header: Array.from({ length: 60 }, () => ({ paragraph: 'x' })) }), [{ code: 'no_room' }])
})

void t.test('neither templates nor data reach a prototype or a function', async (t) => {
  const data = JSON.parse('{ "a": { "__proto__": { "polluted": "yes" }, "constructor": "own" } }') as object
  for (const path of ['a.toString', 'a.hasOwnProperty', 'a.polluted', 'toString', 'a.constructor.constructor', 'a["__proto__"]["toString"]']) {
    const problems = await problemsOf([{ paragraph: `{{ ${path} }}` }], data)
    t.equal(problems.length, 1, path)
  }
  t.equal(await wordsOf(await pdfOf([{ paragraph: '{{ a.constructor }}' }], data)), 'own', 'an own field is a field like any other')
  t.notOk('polluted' in {})
})

void t.test('blocks nested without end do not compile', (t) => {
  let body: TemplateSource['body'] = [{ paragraph: 'x' }]
  for (let level = 0; level < 200; level++) body = [{ if: 'a', then: body }]
  t.match(faultsOf(body), [{ message: /levels deep/ }])
  t.end()
})

void t.test('a quotation mark that is not closed is refused with its place', (t) => {
  t.throws(() => compileTemplate(templateOf([{ paragraph: '{{"}}' }])), { name: 'TemplateError', faults: [{ path: '/body/0/paragraph' }] })
  t.end()
})

void t.test('any text of a template compiles or is refused as a TemplateError', (t) => {
  const piece = fc.oneof(fc.string(), fc.constantFrom('{{', '}}', '{%', '%}', ' a ', '|', 'if', 'endif', 'for x in y', '**', '*', '[', '](', ')', '\\', '"', '(1..3)', 'a.b', ': '))
  fc.assert(fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
    try {
      compileTemplate(templateOf([{ paragraph: pieces.join('') }]))
    } catch (error) {
      return error instanceof TemplateError
    }
    return true
  }), { numRuns: 1000 })
  t.end()
})

const text = fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 30 }), fc.constantFrom('\n', '\0', '\ud800', '{{ number }}', '**', '](javascript:x)', 'ﷺ', '\u202e', '<b>&amp;', ')(', '\\'))
const amount = fc.oneof(fc.integer({ min: -1e9, max: 1e9 }), fc.double({ min: -1e15, max: 1e15, noNaN: true }), fc.bigInt({ min: 0n, max: 10n ** 15n }).map((value) => `${String(value)}.50`))
const day = fc.date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10))
const party = fc.record({ name: text, email: text, address: text, city: text, postalCode: text, country: text, vatId: text }, { requiredKeys: ['name'] })
const line = fc.record({ description: text, quantity: amount, unitPrice: amount, taxRate: fc.integer({ min: 0, max: 100 }), total: amount }, { requiredKeys: ['description', 'quantity', 'unitPrice', 'total'] })
const invoice = fc.record({
  number: text, date: day, dueDate: day, currency: fc.constantFrom('EUR', 'USD', 'JPY', 'KWD'), seller: party, customer: party, lines: fc.array(line, { minLength: 1, maxLength: 30 }),
  subtotal: amount, taxRate: fc.integer({ min: 0, max: 100 }), taxAmount: amount, total: amount, paymentTerms: text, bankDetails: fc.record({ iban: text, bic: text }), notes: text, conditions: text
}, { requiredKeys: ['number', 'date', 'customer', 'lines', 'total'] })

void t.test('any data that fit the schema become a document, or a RenderError that names a place in them', async (t) => {
  const template = compileTemplate((await readTemplateFolder(fileURLToPath(new URL('../../../templates/invoice', import.meta.url)))).source)
  await fc.assert(fc.asyncProperty(invoice, async (data) => {
    try {
      const { bytes, pages } = await made('pdf', template, data)
      return pages > 0 && Buffer.from(bytes.subarray(0, 5)).toString() === '%PDF-'
    } catch (error) {
      return error instanceof RenderError && error.problems.every(({ path, code }) => code === 'unsupported_characters' && path !== '')
    }
  }), { numRuns: 150 })
  t.end()
})

void t.test('what is shown can be read back as it was given', async (t) => {
  const letters = fc.string({ unit: fc.constantFrom(...Array.from('abcXYZ äöüßéñçłąęžőığ ΑΒΓαβγ АБВабв 0123456789 .,;:!?()[]{}<>&%$€£@#*_-+=/\\\'"|~^`')), minLength: 1, maxLength: 80 })
  await fc.assert(fc.asyncProperty(letters, async (text) => {
    const found = await wordsOf(await pdfOf([{ paragraph: '{{ text }}' }], { text }))
    return found.replace(/\s/g, '') === text.replace(/\s/g, '')
  }), { numRuns: 60 })
  t.end()
})

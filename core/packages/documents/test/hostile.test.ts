import fc from 'fast-check'
import { fileURLToPath } from 'node:url'
import { deflateSync } from 'node:zlib'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { compileTemplate } from '../compile/compile.ts'
import { RenderError, TemplateError } from '../model/errors.ts'
import type { TemplateSource } from '../model/model.ts'
import { readTemplateFolder } from '../source/folder.ts'
import { chunk, fileOf } from './png-support.ts'
import { faultsOf, made, pdfOf, problemsOf, templateOf, wordsOf } from './support.ts'

/** A picture of as many pixels as may be, of a grey; it has a few hundred bytes. */
function hugePicture (grey: number): string {
  const header = { type: 0, depth: 1, width: 2000, height: 2000 } as const
  return `data:image/png;base64,${
    fileOf(header, [chunk('IDAT', deflateSync(Buffer.alloc(251 * 2000))), chunk('tEXt', Buffer.from([grey]))]).toString('base64')
  }`
}

const bounded: [rule: string, body: TemplateSource['body'], data: object][] = [
  ['a loop over billions', [{ paragraph: '{% for a in (1..9999999999) %}x{% endfor %}' }], {}],
  ['loops inside loops', [{ paragraph: '{% for a in (1..9000) %}{% for b in (1..9000) %}{% endfor %}{% endfor %}' }], {}],
  ['a text that doubles itself', [{ paragraph: `{% assign a = "xxxxxxxxxx" %}${'{% assign a = a | append: a %}'.repeat(30)}{{ a }}` }], {}],
  [
    'more text than a document may have',
    [{ each: 'list', as: 'i', do: [{ paragraph: '{{ text }}' }] }],
    { list: Array.from({ length: 6000 }, () => 1), text: 'x'.repeat(1000) }
  ],
  [
    'more rows than a document may have',
    [{ each: 'list', as: 'a', do: [{ each: 'list', as: 'b', do: [{ paragraph: 'x' }] }] }],
    { list: Array.from({ length: 400 }, () => 1) }
  ],
  [
    'groups of rows that multiply',
    [{ table: { groups: { each: 'list', as: 'a', heading: 'x' }, each: 'list', as: 'b', columns: [{ header: 'x', text: 'x' }] } }],
    { list: Array.from({ length: 400 }, () => 1) }
  ],
  [
    'page breaks that multiply',
    [{ each: 'list', as: 'a', do: [{ each: 'list', as: 'b', pageBreak: true, do: [{ paragraph: 'x' }] }] }],
    { list: Array.from({ length: 60 }, () => 1) }
  ],
  [
    'codes without end',
    [{ each: 'list', as: 'a', do: [{ code: { code128: 'text' } }] }],
    { list: Array.from({ length: 100_001 }, () => 1), text: 'x' }
  ],
  [
    'pictures without end',
    [{ each: 'list', as: 'a', do: [{ image: { value: 'a' } }] }],
    { list: Array.from({ length: 11 }, (_, index) => hugePicture(index)) }
  ],
  [
    'more pages than a document may have',
    [{ each: 'list', as: 'a', do: [{ paragraph: 'x' }, { pageBreak: true }] }],
    { list: Array.from({ length: 3000 }, () => 1) }
  ]
]

for (const [rule, body, data] of bounded) {
  void t.test(`${rule} ends in an error`, async (t) => {
    has(t, await problemsOf(body, data), [{ code: 'too_large' }])
  })
}

void t.test('header and footer that leave no room end in an error', async (t) => {
  has(t, await problemsOf([{ paragraph: 'x' }], {}, { header: Array.from({ length: 60 }, () => ({ paragraph: 'x' })) }), [{
    code: 'no_room'
  }])
})

void t.test('one picture shown a thousand times is read once', async (t) => {
  const { bytes } = await pdfOf([{ each: 'list', as: 'a', do: [{ image: { value: 'picture', height: 2 } }] }], {
    list: Array.from({ length: 1000 }, () => 1),
    picture: hugePicture(1)
  })
  t.equal(Buffer.from(bytes).toString('latin1').match(/\/Subtype \/Image/g)?.length, 1)
})

const long: [rule: string, text: string][] = [
  ['of letters from right to left', 'אב (12) '.repeat(16_000)],
  ['without a space', 'a☎'.repeat(65_000)],
  ['of lines that turn around', '(א)[\n'.repeat(22_000)]
]

for (const [rule, text] of long) {
  void t.test(`a text of more than a hundred thousand characters ${rule} becomes a document`, async (t) => {
    t.ok(
      (await pdfOf([{ paragraph: '{{ text }}' }, { keyValues: { entries: [{ label: 'x', text: 'x' }] } }], { text }, {
        style: { font: 'serif' }
      })).pages > 0
    )
  })
}

void t.test('a watermark is a word, because it stands on every page', async (t) => {
  has(t, await problemsOf([{ paragraph: 'x' }], { text: 'x'.repeat(101) }, { watermark: '{{ text }}' }), [{
    code: 'too_large',
    message: /at most 100 characters/
  }])
})

void t.test('texts of a template do not multiply: they are put in once, and bounded', (t) => {
  const texts = { en: { a: '{{ t.b }}{{ t.b }}', b: 'x'.repeat(10_000) } }
  t.same(faultsOf([{ paragraph: '{{ t.a }}' }], { texts }), [], 'what a text shows of another is shown as it stands')
  has(t, faultsOf([{ paragraph: '{{ t.b }}'.repeat(11) }], { texts }), [{
    path: '/body/0/paragraph',
    message: /more than 100000 characters/
  }])
  t.end()
})

void t.test('texts have no prototype either', (t) => {
  const texts = { en: { a: 'x' } }
  for (const path of ['t.constructor', 't.__proto__', 't["toString"]', 't[number]', 't.constructor.name | upcase']) {
    has(t, faultsOf([{ paragraph: `{{ ${path} }}` }], { texts }), [{ path: '/body/0/paragraph', message: /"texts" has no/ }], path)
  }
  t.end()
})

void t.test('neither templates nor data reach a prototype or a function', async (t) => {
  const data = JSON.parse('{ "a": { "__proto__": { "polluted": "yes" }, "constructor": "own" }, "b": {} }') as object
  for (const path of ['a.toString', 'a.hasOwnProperty', 'a.polluted', 'toString', 'a.constructor.constructor', 'b.constructor.name',
    'b.toString.length', 'a["__proto__"]["toString"]'])
  {
    const problems = await problemsOf([{ paragraph: `{{ ${path} }}` }], data)
    t.equal(problems.length, 1, path)
  }
  t.equal(await wordsOf(await pdfOf([{ paragraph: '{{ a.constructor }}' }], data)), 'own', 'an own field is a field like any other')
  t.notOk('polluted' in {})
})

void t.test('no tag of Liquid reads a file, or defines what could', (t) => {
  const tags = ['include "x"', 'render "x"', 'layout "x"', 'block x', 'capture x', 'raw', 'liquid x', 'echo x', 'increment x',
    'decrement x', 'cycle "a", "b"', 'tablerow x in y', 'include_relative x']
  for (const tag of tags) {
    has(t, faultsOf([{ paragraph: `{% ${tag} %}` }]), [{ path: '/body/0/paragraph', message: /cannot be read: tag "[a-z_]+" not found/ }],
      tag)
  }
  t.end()
})

void t.test('loops over the data that multiply end in an error', async (t) => {
  const loops = ['a', 'b', 'c', 'd'].map((name) => `{% for ${name} in list %}`)
  has(t, await problemsOf([{ paragraph: `${loops.join('')}{% endfor %}{% endfor %}{% endfor %}{% endfor %}` }], {
    list: Array.from({ length: 5000 }, () => 1)
  }), [{ code: 'too_large' }])
})

void t.test('blocks nested without end do not compile', (t) => {
  let body: TemplateSource['body'] = [{ paragraph: 'x' }]
  for (let level = 0; level < 200; level++) body = [{ if: 'a', then: body }]
  has(t, faultsOf(body), [{ message: /levels deep/ }])
  t.end()
})

void t.test('a quotation mark that is not closed is refused with its place', (t) => {
  t.throws(() => compileTemplate(templateOf([{ paragraph: '{{"}}' }])), { name: 'TemplateError', faults: [{ path: '/body/0/paragraph' }] })
  t.end()
})

void t.test('any text of a template compiles or is refused as a TemplateError', (t) => {
  const piece = fc.oneof(fc.string(),
    fc.constantFrom('{{', '}}', '{%', '%}', ' a ', '|', 'if', 'endif', 'for x in y', '**', '*', '[', '](', ')', '\\', '"', '(1..3)', 'a.b',
      ': '))
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

const text = fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom('\n', '\0', '\ud800', '{{ number }}', '**', '](javascript:x)', 'ﷺ', '\u202e', '<b>&amp;', ')(', '\\'))
const amount = fc.oneof(fc.integer({ min: -1e9, max: 1e9 }), fc.double({ min: -1e15, max: 1e15, noNaN: true }),
  fc.bigInt({ min: 0n, max: 10n ** 15n }).map((value) => `${String(value)}.50`))
const day = fc.date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }).map((date) =>
  date.toISOString().slice(0, 10)
)
const party = fc.record({ name: text, email: text, address: text, city: text, postalCode: text, country: text, vatId: text }, {
  requiredKeys: ['name']
})
const line = fc.record({ description: text, quantity: amount, unitPrice: amount, taxRate: fc.integer({ min: 0, max: 100 }), total: amount },
  { requiredKeys: ['description', 'quantity', 'unitPrice', 'total'] })
const invoice = fc.record({
  number: text,
  date: day,
  dueDate: day,
  currency: fc.constantFrom('EUR', 'USD', 'JPY', 'KWD'),
  seller: party,
  customer: party,
  lines: fc.array(line, { minLength: 1, maxLength: 30 }),
  subtotal: amount,
  taxRate: fc.integer({ min: 0, max: 100 }),
  taxAmount: amount,
  total: amount,
  paymentTerms: text,
  bankDetails: fc.record({ iban: text, bic: text }),
  notes: text,
  conditions: text
}, { requiredKeys: ['number', 'date', 'customer', 'lines', 'total'] })

void t.test('any data that fit the schema become a document, or a RenderError that names a place in them', async (t) => {
  const template = compileTemplate(
    (await readTemplateFolder(fileURLToPath(new URL('../../../../templates/invoice', import.meta.url)), ['invoicing'])).source
  )
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
  const letters = fc.string({
    unit: fc.constantFrom(...Array.from('abcXYZ äöüßéñçłąęžőığ ΑΒΓαβγ АБВабв 0123456789 .,;:!?()[]{}<>&%$€£@#*_-+=/\\\'"|~^`')),
    minLength: 1,
    maxLength: 80
  })
  await fc.assert(fc.asyncProperty(letters, async (text) => {
    const found = await wordsOf(await pdfOf([{ paragraph: '{{ text }}' }], { text }))
    return found.replace(/\s/g, '') === text.replace(/\s/g, '')
  }), { numRuns: 60 })
  t.end()
})

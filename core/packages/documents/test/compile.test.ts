import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { compileTemplate } from '../compile/compile.ts'
import { formatCell } from '../compile/format.ts'
import type { ResolvedBlock } from '../model/document.ts'
import { RenderError } from '../model/errors.ts'
import type { TemplateSource } from '../model/model.ts'
import { faultsOf, problemsOf, templateOf } from './support.ts'

function resolve (body: TemplateSource['body'], data: object = {}, more: Partial<TemplateSource> = {}): ResolvedBlock[] {
  return compileTemplate(templateOf(body, more)).resolve(data).body
}

/** What a paragraph with this text comes to. */
function runs (text: string, data: object = {}): unknown {
  const [block] = resolve([{ paragraph: text }], data)
  return block === undefined ? [] : 'runs' in block ? block.runs : block
}

const prose: [rule: string, text: string, data: object, expected: unknown][] = [
  ['text stays text', 'Hello', {}, [{ text: 'Hello' }]],
  ['a path shows its value', 'No. {{ a.b }}!', { a: { b: 7 } }, [{ text: 'No. 7!' }]],
  [
    'bold, italic and both',
    'a **b** *c* ***d***',
    {},
    [
      { text: 'a ' },
      { text: 'b', bold: true },
      { text: ' ' },
      { text: 'c', italic: true },
      { text: ' ' },
      { text: 'd', bold: true, italic: true }
    ]
  ],
  ['marks without their other half are characters', '2 * 3 ** 4 *', {}, [{ text: '2 * 3 ** 4 *' }]],
  ['a backslash takes the meaning of a mark', '\\*a\\* \\[b\\]', {}, [{ text: '*a* [b]' }]],
  [
    'links carry their address',
    '[a **b**](https://x.example/{{ p }})',
    { p: '1)' },
    [
      { text: 'a ', link: 'https://x.example/1)' },
      { text: 'b', bold: true, link: 'https://x.example/1)' }
    ]
  ],
  [
    'what the data hold is never markup',
    '**{{ a }}**',
    { a: '*x* [y](https://z.example) \\ **' },
    [{ text: '*x* [y](https://z.example) \\ **', bold: true }]
  ],
  ['what the data hold is never an expression', '{{ a }}', { a: '{{ b }} {% if %}' }, [{ text: '{{ b }} {% if %}' }]],
  ['a line that comes out empty is left out', 'a\n{{ b }}\n{% if c %}x{% endif %}\nd', { b: '', c: false }, [{ text: 'a\nd' }]],
  ['empty lines of the data stay', 'a\n{{ b }}', { b: 'x\n\ny' }, [{ text: 'a\nx\n\ny' }]],
  ['a missing field has a default', '{{ a.b | default: "none" }}', {}, [{ text: 'none' }]],
  [
    'what a default falls back to is read only where it is needed',
    '{{ a.b | default: a.c }}{% if a %} {{ a.b | default: a.c }}{% endif %}',
    { a: { b: 'x' } },
    [{ text: 'x x' }]
  ],
  [
    'what a default falls back to may be missing where another default follows',
    '{{ a.b | default: a.c | default: "-" }}{% for i in l %} {{ i.b | default: i.c | default: "-" }}{% endfor %}',
    { l: [{}, { c: 1 }] },
    [{ text: '- - 1' }]
  ],
  ['a missing field is false in a condition', '{% if a.b %}x{% else %}y{% endif %}', {}, [{ text: 'y' }]],
  ['lists are equal when their items are', '{% if a == b %}x{% endif %}', { a: [1], b: [1] }, [{ text: 'x' }]],
  ['loops in text', '{% for a in list %}{{ a.n }};{% endfor %}', { list: [{ n: 1 }, { n: 2 }] }, [{ text: '1;2;' }]],
  ['money in the document\'s currency', '{{ a | money }}', { a: '1234.5' }, [{ text: '€1,234.50' }]],
  ['money in another currency', '{{ a | money: "JPY" }}', { a: 1234 }, [{ text: 'JP¥1,234' }]],
  [
    'numbers, percentages and dates',
    '{{ n | number: 1 }} {{ n | percent }} {{ d | date }} {{ d | date: "long" }}',
    { n: 1234.56, d: '2026-03-14' },
    [{ text: '1,234.6 1,234.56% 14 Mar 2026 14 March 2026' }]
  ],
  ['an address has the order of its country', '{{ c | place: z, "GB" }}, {{ c | place: z, "AU", s }}, {{ c | place: z }}', {
    c: 'Perth',
    s: 'WA',
    z: '6000'
  }, [{ text: 'Perth 6000, Perth WA 6000, 6000 Perth' }]],
  ['the parts of a place may be missing', '{{ c | place: z, k, s }}{{ d | default: "" | place: z }}', { c: 'Perth' }, [{ text: 'Perth' }]],
  ['countries have names', '{{ c | country }} {{ d | country }}', { c: 'DE', d: 'Elsewhere' }, [{ text: 'Germany Elsewhere' }]],
  ['null shows nothing', 'a{{ a }}', { a: null }, [{ text: 'a' }]],
  ['the end of a list by its computed names', '{{ a.size }} {{ a.first }} {{ a.last }}', { a: [4, 5, 6] }, [{ text: '3 4 6' }]],
  ['page numbers are fields of headers and footers only', '{{ page }}', { page: 'data' }, [{ text: 'data' }]]
]

for (const [rule, text, data, expected] of prose) {
  void t.test(`prose: ${rule}`, (t) => {
    t.same(runs(text, data), expected)
    t.end()
  })
}

void t.test('values keep their type until a format prints them', (t) => {
  const columns = [
    { header: 'a', value: 'x.text' },
    { header: 'b', value: 'x.money', type: 'money' as const, digits: 4 },
    { header: 'c', value: 'x.number', type: 'number' as const },
    { header: 'd', value: 'x.rate', type: 'percent' as const },
    { header: 'e', value: 'x.day', type: 'date' as const },
    { header: 'f', value: 'x.none', type: 'money' as const }
  ]
  const [table] = resolve([{ table: { each: 'list', as: 'x', columns } }], {
    list: [{ text: 'T', money: '0.0125', number: '12345678901234567890.125', rate: 5.5, day: '2026-03-14T23:30:00Z' }]
  }, { currency: 'USD', locale: 'fr-FR' })
  if (table?.kind !== 'table') throw new TypeError('expected a table')
  t.same(table.sections[0]?.rows, [[
    { type: 'text', runs: [{ text: 'T' }] },
    { type: 'money', value: '0.0125', currency: 'USD', digits: 4 },
    { type: 'number', value: '12345678901234567890.125' },
    { type: 'percent', value: 5.5 },
    { type: 'date', value: '2026-03-14' },
    { type: 'empty' }
  ]])
  const texts = table.sections[0]?.rows[0]?.map((cell) =>
    formatCell(cell, 'fr-FR').map((run) => 'text' in run ? run.text.replaceAll(/\s/g, ' ') : '').join('')
  )
  t.same(texts, ['T', '0,0125 $US', '12 345 678 901 234 567 890,125', '5,5 %', '14 mars 2026', ''])
  t.same(table.columns.map(({ align }) => align), ['start', 'end', 'end', 'end', 'start', 'end'], 'numbers end where their column ends')
  t.end()
})

void t.test('a total with a list has a row for each item whose condition holds', (t) => {
  const table = {
    each: 'lines',
    as: 'line',
    columns: [{ header: 'x', value: 'line' }],
    totals: [
      { each: 'off', as: 'one', label: '{{ one.why }}', value: 'one.amount | times: -1', type: 'money' as const, if: 'one.amount' },
      { label: 'Total', value: 'total', type: 'money' as const }
    ]
  }
  const made = (data: object): unknown => resolve([{ table }], { lines: ['x'], total: 1, ...data })[0]
  has(t, made({ off: [{ why: 'a', amount: '2.50' }, { why: 'b' }, { why: 'c', amount: 1 }] }), {
    totals: [
      { label: [{ text: 'a' }], cell: { type: 'money', value: -2.5 } },
      { label: [{ text: 'c' }], cell: { value: -1 } },
      { label: [{ text: 'Total' }], cell: { value: 1 } }
    ]
  })
  has(t, made({}), { totals: [{ label: [{ text: 'Total' }] }] })
  t.throws(() => resolve([{ table: { ...table, totals: [{ each: 'off', label: 'x', text: 'x' }] } }]), /Expected both "each" and "as"/)
  t.end()
})

void t.test('conditions choose blocks, columns, entries and totals', (t) => {
  const body = (yes: boolean): ResolvedBlock[] =>
    resolve([
      { if: 'yes', then: [{ paragraph: 'then' }], else: [{ paragraph: 'else' }] },
      { if: 'missing.deep', then: [{ paragraph: 'never' }] },
      { if: 'blankText', then: [{ paragraph: 'never' }] },
      { if: 'blankList', then: [{ paragraph: 'never' }] },
      { if: 'list.size > 1 and yes', then: [{ paragraph: 'both' }] },
      { keyValues: { entries: [{ label: 'k', value: 'yes', if: 'yes' }] } },
      {
        table: {
          each: 'list',
          as: 'x',
          columns: [{ header: 'a', text: 'a' }, { header: 'b', text: 'b', if: 'yes' }],
          totals: [{ label: 't', text: 't', if: 'yes' }]
        }
      }
    ], { yes, blankText: '', blankList: [], list: [1, 2] })
  has(t, body(true), [
    { runs: [{ text: 'then' }] },
    { runs: [{ text: 'both' }] },
    { kind: 'keyValues' },
    { columns: [Object, Object], totals: [Object] }
  ])
  has(t, body(false), [{ runs: [{ text: 'else' }] }, { columns: [Object], totals: [] }])
  t.end()
})

void t.test('loops repeat blocks, inside each other too; a missing list is empty', (t) => {
  const body = [
    { each: 'groups', as: 'group', do: [{ each: 'group.items', as: 'item', do: [{ paragraph: '{{ group.name }}{{ item }}' }] }] },
    { each: 'none', as: 'x', do: [{ paragraph: 'x' }] }
  ]
  has(t, resolve(body, { groups: [{ name: 'a', items: [1, 2] }, { name: 'b', items: [3] }] }), [
    { runs: [{ text: 'a1' }] },
    { runs: [{ text: 'a2' }] },
    { runs: [{ text: 'b3' }] }
  ])
  t.end()
})

const wrongData: [rule: string, body: TemplateSource['body'], data: object, path: string, code: string, message: RegExp][] = [
  [
    'a missing field',
    [{ paragraph: 'x {{ customer.name }}' }],
    { customer: {} },
    '/customer/name',
    'missing_value',
    /"customer.name" \(at \/body\/0\/paragraph\)/
  ],
  ['a missing field with a filter', [{ paragraph: '{{ a.b | upcase }}' }], { a: {} }, '/a/b', 'missing_value', /"a.b"/],
  [
    'a missing field that a default falls back to',
    [{ paragraph: '{{ a.b | default: a.c }}' }],
    { a: {} },
    '/a/c',
    'missing_value',
    /"a.c"/
  ],
  [
    'a missing field of an item in a loop of text',
    [{ paragraph: '{{ n }}{% for i in a.l %}{{ i.b }}{% endfor %}' }],
    { n: 1, a: { l: [{}] } },
    '/a/l',
    'missing_value',
    /"i.b"/
  ],
  [
    'a missing field of an item',
    [{ each: 'l', as: 'i', do: [{ paragraph: '{{ i.a }}' }] }],
    { l: [{ a: 1 }, {}] },
    '/l/1/a',
    'missing_value',
    /"i.a"/
  ],
  [
    'a text where a number belongs',
    [{ keyValues: { entries: [{ label: 'k', value: 'a', type: 'money' }] } }],
    { a: 'much' },
    '/a',
    'not_a_number',
    /"12.50"/
  ],
  [
    'a number beyond all decimals',
    [{ keyValues: { entries: [{ label: 'k', value: 'a', type: 'number' }] } }],
    { a: '9'.repeat(40) },
    '/a',
    'not_a_number',
    /decimal/
  ],
  [
    'a day that no calendar has',
    [{ keyValues: { entries: [{ label: 'k', value: 'a', type: 'date' }] } }],
    { a: '2026-02-30' },
    '/a',
    'not_a_date',
    /YYYY-MM-DD/
  ],
  ['a filter on a wrong value', [{ paragraph: '{{ a.b | money }}' }], { a: { b: {} } }, '/a/b', 'not_a_number', /decimal/],
  ['a wrong item of a list', [{ paragraph: '{{ a[1].b | money }}' }], { a: [{ b: 1 }, { b: 'x' }] }, '/a/1/b', 'not_a_number', /decimal/],
  [
    'a wrong item in a loop of text',
    [{ paragraph: '{% if a %}{{ a[1].b | money }}{% endif %}' }],
    { a: [{ b: 1 }, { b: 'x' }] },
    '/a',
    'not_a_number',
    /decimal/
  ],
  ['an object where text belongs', [{ paragraph: '{{ a }}' }], { a: {} }, '/a', 'not_text', /an object/],
  [
    'a list where text belongs, in a loop of text',
    [{ paragraph: '{% if a %}{{ a }}{% endif %}' }],
    { a: [[]] },
    '/a',
    'not_text',
    /a list/
  ],
  ['no list where one belongs', [{ each: 'a', as: 'i', do: [] }], { a: { b: 1 } }, '/a', 'not_a_list', /expected a list/],
  ['a broken picture', [{ image: { value: 'a' } }], { a: 'data:image/png;base64,AAAA' }, '/a', 'bad_image', /PNG/],
  ['an inherited name', [{ paragraph: '{{ constructor }}' }], {}, '/constructor', 'missing_value', /constructor/],
  ['a prototype', [{ paragraph: '{{ a.__proto__ }}' }], { a: {} }, '/a/__proto__', 'missing_value', /__proto__/]
]

for (const [rule, body, data, path, code, message] of wrongData) {
  void t.test(`data: ${rule} is refused at its place`, async (t) => {
    const problems = await problemsOf(body, data)
    has(t, problems, [{ path, code, message }])
    t.equal(problems.length, 1)
  })
}

void t.test('a currency that does not exist is refused', async (t) => {
  has(t, await problemsOf([{ paragraph: 'x' }], { c: 'XXQ' }, { currency: '{{ c }}' }), [{ code: 'unknown_currency', message: /XXQ/ }])
})

const wrongTemplates: [rule: string, body: TemplateSource['body'], more: Partial<TemplateSource>, path: string, message: RegExp][] = [
  ['an unknown filter', [{ paragraph: '{{ a | mony }}' }], {}, '/body/0/paragraph', /Unknown filter "mony" \(did you mean "money"\?\)/],
  ['an expression that is none', [{ if: 'a b', then: [] }], {}, '/body/0/if', /"a b" is not an expression/],
  ['an output that is not closed', [{ paragraph: 'x {{ a }' }], {}, '/body/0/paragraph', /not closed/],
  ['a tag that is not closed', [{ paragraph: '{% if a %}x' }], {}, '/body/0/paragraph', /not closed/],
  ['a tag that reads files', [{ paragraph: '{% include "x" %}' }], {}, '/body/0/paragraph', /include/],
  ['a tag that renders another template', [{ paragraph: '{% render "x" %}' }], {}, '/body/0/paragraph', /render/],
  [
    'a cell with text and value',
    [{ keyValues: { entries: [{ label: 'a', text: 'x', value: 'x' }] } }],
    {},
    '/body/0/keyValues/entries/0',
    /either "text"/
  ],
  ['a picture from nowhere', [{ image: {} }], {}, '/body/0/image', /either "asset"/],
  [
    'an unknown asset',
    [{ image: { asset: 'lgo' } }],
    {
      assets: { logo: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQ9esEAAGAAPXyUV94AAAAAElFTkSuQmCC' }
    },
    '/body/0/image/asset',
    /did you mean "logo"/
  ],
  ['a locale that is none', [{ paragraph: 'x' }], { locale: 'not a locale' }, '/locale', /BCP 47/],
  ['a loop variable that is reserved for page numbers', [{ each: 'a', as: 'page', do: [] }], {}, '/body/0/as', /reserved for page numbers/]
]

for (const [rule, body, more, path, message] of wrongTemplates) {
  void t.test(`template: ${rule} is refused at its place`, (t) => {
    has(t, faultsOf(body, more), [{ path, message }])
    t.end()
  })
}

void t.test('all faults of a template are told at once', (t) => {
  t.equal(faultsOf([{ paragraph: '{{ a | x1 }}' }, { paragraph: '{{ a | x2 }}' }]).length, 2)
  t.end()
})

void t.test('a subject is one line of text, in the language of the data, and apart from the document', (t) => {
  const subjectOf = (subject: string, data: object = {}): unknown =>
    compileTemplate(templateOf([{ spacer: 1 }], { subject })).subject?.(data)
  t.equal(subjectOf('**Order** {{ n }}', { n: '*7*' }), 'Order *7*')
  for (const end of ['\r\n', '\n\n', '\r', ' \n ', '\u2028', '\u0085']) t.equal(subjectOf('{{ n }}', { n: `${end}a${end}b${end}` }), 'a b')
  t.equal(subjectOf('{{ n }}', { n: 'a\tb\u0000\u001b\u202e' }), 'a b\ufffd\ufffd')
  t.equal(subjectOf('{{ n }}', { n: '\u{1f4e8}'.repeat(500) }), '\u{1f4e8}'.repeat(500))
  const codeOf = (n: unknown): unknown => {
    try {
      return subjectOf('{{ n }}', { n })
    } catch (error) {
      return error instanceof RenderError ? error.problems[0]?.code : error
    }
  }
  for (const [n, code] of [['a'.repeat(501), 'too_long'], [' \n\u00a0', 'too_short'], [undefined, 'missing_value'], [[],
    'not_text']] as const)
  {
    t.equal(codeOf(n), code)
  }
  const texts = { en: { hello: 'Hello {{ n }}' }, fr: { hello: 'Bonjour {{ n }}' } }
  const template = compileTemplate(templateOf([{ spacer: 1 }], { subject: '{{ t.hello }}', locale: '{{ language }}', texts }))
  t.equal(template.subject?.({ n: 1, language: 'fr-CA' }), 'Bonjour 1')
  t.equal(template.resolve({ language: 'en' }).locale, 'en', 'a document needs nothing of it')
  t.equal(compileTemplate(templateOf([{ spacer: 1 }])).subject, undefined)
  has(t, faultsOf([{ spacer: 1 }], { subject: '{{ n | nothing }}' }), [{ path: '/subject' }])
  t.end()
})

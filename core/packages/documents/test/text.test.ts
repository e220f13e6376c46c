import fc from 'fast-check'
import t from 'tap'
import { contains } from '../../../../test/support/matching.ts'
import type { TemplateSource } from '../model/model.ts'
import { readable } from '../model/output.ts'
import { renderText } from '../render/text.ts'
import { compiled, made } from './support.ts'
import { anyDocument, documentOf, textsOf, wordsIn } from './trees.ts'

/** The plain-text alternative of a mail with this body. */
async function mail (body: TemplateSource['body'], data: object = {}, more: Partial<TemplateSource> = {}): Promise<string> {
  return (await made('html', compiled(body, more), data)).text
}

/** The text of a message with this body. */
async function message (body: TemplateSource['body'], data: object = {}, more: Partial<TemplateSource> = {}): Promise<string> {
  return (await made('text', compiled(body, more), data)).text
}

const lines = [{ name: 'Tea', amount: '3.50' }, { name: 'Coffee, roasted, from a small farm in the mountains', amount: '1200' }]
const table = {
  table: {
    each: 'lines',
    as: 'line',
    columns: [{ header: 'Name', value: 'line.name' }, { header: 'Amount', value: 'line.amount', type: 'money' as const }],
    totals: [{ label: 'Total', value: '"1203.50"', type: 'money' as const, strong: true }]
  }
}

void t.test('mail: lines have 74 characters at most, and break at spaces only', async (t) => {
  const long = `https://example.com/${'x'.repeat(100)}`
  const text = await mail([{ paragraph: `${'word '.repeat(30)}${long} end` }])
  for (const line of text.split('\n')) t.ok(line.length <= 74 || line === long, line)
  t.same(wordsIn(text), wordsIn(`${'word '.repeat(30)}${long} end`))
  t.equal(Math.max(...text.split('\n').filter((line) => line !== long).map(({ length }) => length)), 74, 'the lines are filled')
})

void t.test('mail: a line breaks where the next word would not fit, to the character', async (t) => {
  t.equal(await mail([{ paragraph: `${'x'.repeat(70)} yyy z` }]), `${'x'.repeat(70)} yyy\nz\n`)
  t.equal(await mail([{ paragraph: `${'x'.repeat(70)} yyyy z` }]), `${'x'.repeat(70)}\nyyyy z\n`)
  t.equal(await mail([{ paragraph: `${'🙂'.repeat(70)} yyy z` }]), `${'🙂'.repeat(70)} yyy\nz\n`, 'characters, not UTF-16 units')
})

void t.test('mail: blocks have an empty line between them, and those without text none of their own', async (t) => {
  const body = [
    { spacer: 5 },
    { heading: 'One' },
    { heading: { text: 'Two', level: 2 } },
    { heading: { text: 'Three', level: 3 } },
    { spacer: 5 },
    { columns: { items: [{ do: [{ paragraph: 'a\nb' }] }, { do: [] }, { do: [{ paragraph: 'c' }] }] } },
    { spacer: 5 }
  ]
  t.equal(await mail(body), 'One\n===\n\nTwo\n---\n\nThree\n\na\nb\n\nc\n')
})

void t.test('mail: header and footer stand once around the body, and are page 1 of 1', async (t) => {
  t.equal(
    await mail([{ paragraph: 'body' }], {}, {
      header: [{ paragraph: 'head' }],
      footer: [{ rule: {} }, { paragraph: 'Page {{ page }} of {{ pages }}' }]
    }),
    `head\n\nbody\n\n${'-'.repeat(74)}\n\nPage 1 of 1\n`
  )
})

void t.test('a link is its text and its address, unless the text is the address', async (t) => {
  t.equal(
    await mail([{
      paragraph: 'See [our **new** site](https://example.com/a), [a@b.example](mailto:a@b.example), [+1 555](tel:+1555), ' +
        '[https://x.example](https://x.example).'
    }]),
    'See our new site <https://example.com/a>, a@b.example, +1 555,\nhttps://x.example.\n'
  )
  t.equal(await message([{ button: { text: 'Pay', url: 'u' } }], { u: 'https://example.com/p' }), 'Pay <https://example.com/p>')
})

void t.test('mail: a table has aligned columns, its totals under the last', async (t) => {
  t.equal(await mail([table], { lines }),
    ['Name                                                    Amount', '---------------------------------------------------  ---------',
      'Tea                                                      €3.50', 'Coffee, roasted, from a small farm in the mountains  €1,200.00',
      '--------------------------------------------------------------', '                                              Total  €1,203.50',
      ''].join('\n'))
})

void t.test('mail: a table too wide for a line becomes narrower at its texts, never inside a word or an amount', async (t) => {
  const text = await mail([table], { lines: [{ name: 'word '.repeat(40), amount: '123456.78' }] })
  t.ok(text.split('\n').every(({ length }) => length <= 74))
  contains(t, text, /word +€123,456\.78\n/)
  t.equal(text.match(/word/g)?.length, 40)
})

void t.test('mail: columns that do not fit side by side become a line for each cell', async (t) => {
  const columns = ['a', 'b', 'c'].map((name) => ({ header: name.toUpperCase(), value: `line.${name}` }))
  const wide = { a: 'a'.repeat(40), b: 'b'.repeat(40), c: 'short' }
  t.equal(
    await mail([{ table: { each: 'lines', as: 'line', columns, totals: [{ label: 'Sum', text: '5' }] } }], {
      lines: [wide, { a: 'x', b: 'y' }]
    }),
    `A: ${'a'.repeat(40)}\nB: ${'b'.repeat(40)}\nC: short\n\nA: x\nB: y\nC:\n\nSum: 5\n`
  )
  const headers = ['a', 'b'].map((name) => ({ header: name.repeat(40), value: 'line' }))
  t.equal(await mail([{ table: { each: 'none', as: 'line', columns: headers } }]), `${'a'.repeat(40)},\n${'b'.repeat(40)}\n`,
    'without rows the headers stay')
})

void t.test('mail: labels and values stand in two columns, dates unbroken', async (t) => {
  const entries = [{ label: 'Due', value: 'due', type: 'date' as const }, { label: 'Long label:', text: 'value '.repeat(20) }]
  t.equal(await mail([{ keyValues: { entries } }], { due: '2026-03-14' }), [
    'Due:         14 Mar 2026',
    `Long label:  ${'value '.repeat(10).trim()}`,
    `             ${'value '.repeat(10).trim()}`,
    ''
  ].join('\n'))
})

void t.test('mail: a place to sign is a line with its label, a picture its words, a new page a line', async (t) => {
  const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQ9esEAAGAAPXyUV94AAAAAElFTkSuQmCC'
  const body = [
    { image: { asset: 'logo', alt: 'Northwind' } },
    { image: { asset: 'logo' } },
    { pageBreak: true as const },
    { signature: { signer: 1, label: 'Ada' } }
  ]
  t.equal(await mail(body, {}, { assets: { logo: png } }), `[Northwind]\n\n${'-'.repeat(74)}\n\n${'_'.repeat(40)}\nAda\n`)
  t.equal(await message(body, {}, { assets: { logo: png } }), 'Northwind\nAda')
})

void t.test('message: each paragraph is one line, however long; header, footer and layout are left out', async (t) => {
  const long = 'word '.repeat(100).trim()
  const body = [
    { heading: 'Head' },
    { spacer: 5 },
    { paragraph: long },
    { rule: {} },
    { pageBreak: true as const },
    { columns: { items: [{ do: [{ paragraph: 'a' }] }, { do: [{ paragraph: 'b' }] }] } }
  ]
  t.equal(await message(body, {}, { header: [{ paragraph: 'HEADER' }], footer: [{ paragraph: 'FOOTER' }] }), `Head\n${long}\na\nb`)
})

void t.test('message: tables and values are lines of text', async (t) => {
  t.equal(await message([{ keyValues: { entries: [{ label: 'Due', value: 'due', type: 'date' }] } }, table], { due: '2026-03-14', lines }),
    'Due: 14 Mar 2026\nName; Amount\nTea; €3.50\nCoffee, roasted, from a small farm in the mountains; €1,200.00\nTotal: €1,203.50')
})

void t.test('spaces that do not break become plain ones: they are not in the alphabet of an SMS', async (t) => {
  t.equal(await message([{ paragraph: '{{ a | money }} {{ b }}' }], { a: '1234.5', b: 'x\u00a0y' }, { locale: 'fr-FR' }), '1 234,50 € x y')
  t.equal(await mail([{ paragraph: '{{ a | money }}' }], { a: '1234.5' }, { locale: 'fr-FR' }), '1 234,50 €\n')
})

void t.test('text of the data is neither escaped nor read', async (t) => {
  const hostile = '<b>&amp; **x** [y](https://z.example) {{ 1 }}'
  t.equal(await message([{ paragraph: '{{ x }}' }], { x: hostile }), hostile)
  t.equal(await message([{ paragraph: '{{ x }}' }], { x: 'a\u0007b\u202ec مرحبا 发票' }), 'a\ufffdbc مرحبا 发票',
    'every script, no control, and nothing that turns a text around')
})

void t.test('any message has all words of the body', (t) => {
  fc.assert(fc.property(anyDocument, ({ body }) => {
    const text = renderText(documentOf(body))
    return textsOf(body).flatMap((part) => wordsIn(readable(part))).every((word) => text.includes(word))
  }), { numRuns: 200 })
  t.end()
})

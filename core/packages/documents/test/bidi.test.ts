import bidiFactory from 'bidi-js'
import fc from 'fast-check'
import t from 'tap'
import { spansOf } from '../layout/bidi.ts'
import { facesFor } from '../layout/fonts.ts'
import { breakLines, type TextLine } from '../layout/lines.ts'
import type { Typography } from '../layout/words.ts'
import { pagesOf, pdfOf } from './support.ts'

// Its types describe its ES module; Node loads the other one, which is the function itself.
const bidi = (bidiFactory as unknown as typeof bidiFactory.default)()
const type: Typography = {
  font: 'sans',
  size: 10,
  lineHeight: 1.3,
  color: '#000000',
  linkColor: '#000000',
  bold: false,
  wide: 'ja',
  direction: 'ltr'
}

/** What a reader sees on a line, from left to right, without spaces: a font turns the words of a script that runs from right to left. */
function seen ({ pieces }: TextLine): string {
  return pieces.map(({ text }) => /[\p{Script=Hebrew}\p{Script=Arabic}]/u.test(text) ? Array.from(text).reverse().join('') : text).join('')
    .replaceAll(' ', '')
}

function lineOf (text: string, direction: 'ltr' | 'rtl' = 'ltr'): TextLine {
  const [line] = breakLines([{ text }], { ...type, direction }, Infinity)
  return line ?? { pieces: [], width: 0, base: direction }
}

const ordered: [rule: string, text: string, seen: string][] = [
  ['a sentence begins at the right', 'שלום עולם', 'םלועםולש'],
  ['numbers keep their direction', 'מחיר 1,234.50 שקל', 'לקש1,234.50ריחמ'],
  ['words of Latin letters keep theirs', 'שלום Document Dispatch עולם', 'םלועDocumentDispatchםולש'],
  ['words from right to left keep theirs inside a Latin sentence', 'say שלום עולם now', 'sayםלועםולשnow'],
  ['brackets open where their text begins', 'שלום (עולם)', '(םלוע)םולש'],
  ['a sign at the end stands at the left', 'שלום!', '!םולש'],
  ['signs alone are turned around too', 'שלום ?!', '!?םולש'],
  ['marks of direction count without a letter', '14\u200f/03\u200f/2026', '2026/03/14']
]

for (const [rule, text, expected] of ordered) {
  void t.test(`right to left: ${rule}`, (t) => {
    t.equal(seen(lineOf(text)), expected)
    t.end()
  })
}

void t.test('any line of mixed letters is in the order of the Unicode algorithm', (t) => {
  const letters = fc.string({ unit: fc.constantFrom(...Array.from('abcאבגדابت0123 .,:;!?()[]+-/%$')), minLength: 1, maxLength: 40 }).map(
    (text) => text.replaceAll(/ +/g, ' ').trim()
  )
  fc.assert(fc.property(letters, fc.constantFrom('ltr', 'rtl'), (text, direction) => {
    const first = /[a-zאבגדابت]/.exec(text)?.[0]
    const base = first === undefined ? direction : first < 'א' ? 'ltr' : 'rtl'
    const expected = bidi.getReorderedString(text, bidi.getEmbeddingLevels(text, base)).replaceAll(' ', '')
    return seen(lineOf(text, direction)) === expected
  }), { numRuns: 1000 })
  t.end()
})

void t.test('pieces neither overlap nor leave gaps, whatever their order', (t) => {
  const { pieces, width } = lineOf('one שלום עולם two מחיר 12.50 (three) end')
  const sorted = pieces.toSorted((a, b) => a.x - b.x)
  t.same(sorted, pieces, 'from left to right')
  for (const [index, piece] of sorted.entries()) {
    const next = sorted[index + 1]?.x ?? width
    t.ok(next - piece.x - piece.width > -0.01 && next - piece.x - piece.width < 4, piece.text)
  }
  t.end()
})

void t.test('Arabic letters are joined', (t) => {
  const { first } = facesFor('sans', {})
  const isolated = Array.from('مرحبا').reduce((sum, letter) => sum + first.advance(letter), 0)
  t.ok(first.advance('مرحبا') < isolated - 500)
  const { glyphs } = first.font.layout('مرحبا')
  t.same(glyphs.map(({ codePoints }) => String.fromCodePoint(...codePoints)), Array.from('مرحبا').reverse(),
    'and stand from left to right as they are painted')
  t.equal(first.font.layout('لا').glyphs.length, 1, 'lam and alef are one')
  t.end()
})

void t.test('joiners keep their meaning in Arabic and Persian, and marks of direction are not printed', (t) => {
  const { pieces } = lineOf('می\u200cخواهم \u200f12\u200e')
  t.ok(pieces.some(({ text }) => text.includes('\u200c')))
  t.notOk(pieces.some(({ text }) => /[\u200e\u200f\u061c]/.test(text)))
  t.notOk(lineOf('a\u200cb\u200d').pieces.some(({ text }) => /[\u200c\u200d]/.test(text)), 'other scripts do without')
  t.end()
})

void t.test('a paragraph begins at its own side; in a document from right to left all do at the right', async (t) => {
  const sides = async (locale: string, body: Parameters<typeof pdfOf>[0]): Promise<string[]> =>
    (await pagesOf(await pdfOf(body, {}, { locale }))).flat().map(({ x, right }) => x < 60 ? 'left' : right > 535 ? 'right' : 'middle')
  const body = [
    { paragraph: 'שלום' },
    { paragraph: 'Latin' },
    { paragraph: { text: 'שלום', align: 'left' as const } },
    { paragraph: { text: 'Latin', align: 'end' as const } }
  ]
  t.same(await sides('en', body), ['right', 'left', 'left', 'right'])
  t.same(await sides('he', body), ['right', 'right', 'left', 'left'])
})

void t.test('columns, tables and labels are mirrored in a document from right to left', async (t) => {
  const body = [
    { columns: { items: [{ do: [{ paragraph: 'one' }] }, { do: [{ paragraph: 'two' }] }] } },
    { keyValues: { entries: [{ label: 'label', text: 'value' }] } },
    {
      table: {
        each: 'lines',
        as: 'line',
        columns: [{ header: 'first', value: 'line.a' }, { header: 'last', value: 'line.b', type: 'number' as const }],
        totals: [{ label: 'sum', value: 'total', type: 'number' as const }]
      }
    }
  ]
  const places = async (locale: string): Promise<Record<string, number>> =>
    Object.fromEntries(
      (await pagesOf(await pdfOf(body, { lines: [{ a: 'a', b: 1 }], total: 2 }, { locale }))).flat().map(
        ({ text, x, right }) => [text, Math.round((x + right) / 2)]
      )
    )
  const [plain, mirrored] = [await places('en'), await places('he')]
  for (const text of ['one', 'two', 'label', 'value', 'first', 'last', 'a', '1', 'sum', '2']) {
    t.ok(Math.abs((plain[text] ?? 0) + (mirrored[text] ?? 0) - 595) <= 1, text)
  }
})

void t.test('line breaks come before the order: the first words stay on the first line', async (t) => {
  const words = Array.from({ length: 60 }, (_, index) => `שורה${'אבגדה'[index % 5] ?? ''}${String(index)}`)
  const texts = (await pagesOf(await pdfOf([{ paragraph: words.join(' ') }]))).flat()
  const numbers = texts.flatMap(({ text, y }) => (text.match(/\d+/g) ?? []).map((number) => ({ number: Number(number), y })))
  t.equal(numbers.length, 60)
  t.ok(new Set(numbers.map(({ y }) => y)).size >= 3)
  for (const { number, y } of numbers) t.ok(numbers.every((other) => other.number > number || other.y <= y), String(number))
})

void t.test('text from left to right is one span for each run', (t) => {
  t.same(spansOf([{ text: 'a b' }, { text: 'ç', bold: true }], 'ltr').map(({ text, level, base }) => [text, level, base]), [
    [
      'a b',
      0,
      'ltr'
    ],
    ['ç', 0, 'ltr']
  ])
  t.end()
})

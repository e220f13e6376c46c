import { create } from 'fontkit'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import t from 'tap'
import { facesFor } from '../../../core/documents/layout/fonts.ts'
import { tidy } from '../../../core/documents/layout/tidy.ts'
import { subsetter } from '../../../core/documents/layout/subset.ts'
import { pdfOf, problemsOf, wordsOf } from './support.ts'

const shown: Record<string, string> = {
  Polish: 'Zażółć gęślą jaźń',
  Greek: 'Ξεσκεπάζω την ψυχοφθόρα βδελυγμία',
  Cyrillic: 'Съешь же ещё этих мягких французских булок',
  Vietnamese: 'Tiếng Việt ưu ơ ạ',
  Turkish: 'İstanbul ığdır şğ',
  currencies: '€ £ ¥ ₽ ₴ ₹',
  signs: '½ → ☎ ✓ “ ” … – —'
}

for (const [name, text] of Object.entries(shown)) {
  void t.test(`${name} is shown and can be read back, in every family`, async (t) => {
    for (const font of ['sans', 'serif', 'mono'] as const) {
      // A fallback inside a word splits what the reader finds.
      t.equal((await wordsOf(await pdfOf([{ paragraph: '{{ text }}' }], { text }, { style: { font } }))).replaceAll(' ', ''), text.normalize('NFC').replaceAll(' ', ''), font)
    }
  })
}

void t.test('a character that a face does not have comes from another one, alone', async (t) => {
  const { bytes } = await pdfOf([{ paragraph: 'Serif and ☎ sans' }], {}, { style: { font: 'serif' } })
  t.match(await wordsOf({ bytes }), 'Serif and')
  const fonts = [...Buffer.from(bytes).toString('latin1').matchAll(/\/BaseFont \/[A-Z]{6}\+(\S+)/g)].map(([, font]) => font)
  t.same([...new Set(fonts)].sort(), ['DejaVuSans', 'DejaVuSerif'])
})

const refused: Record<string, [text: string, ...named: string[]]> = {
  Arabic: ['مرحبا', '"م" (U+0645)'],
  Hebrew: ['abc שלום', '"ש" (U+05E9)', '"ם" (U+05DD)'],
  Chinese: ['发票', '"发" (U+53D1)', '"票" (U+7968)'],
  Japanese: ['領収書', '"領" (U+9818)'],
  Devanagari: ['चालान', '"च" (U+091A)'],
  'text that is turned around': ['a\u202eb', 'U+202E'],
  'a control character': ['a\u0001b', 'U+0001'],
  NUL: ['a\0b', 'U+0000'],
  'a lone surrogate': ['a\ud800b', 'U+D800']
}

for (const [name, [text, ...named]] of Object.entries(refused)) {
  void t.test(`${name} is refused by name, at its place in the data`, async (t) => {
    const problems = await problemsOf([{ table: { each: 'lines', as: 'line', columns: [{ header: 'H', value: 'line.text' }] } }], { lines: [{ text: 'fine' }, { text }] })
    t.match(problems, [{ path: '/lines/1/text', code: 'unsupported_characters' }])
    t.equal(problems.length, 1)
    for (const character of named) t.match(problems[0]?.message, character)
  })
}

void t.test('every text that cannot be shown is named at once', async (t) => {
  const problems = await problemsOf([{ paragraph: '{{ a }}' }, { paragraph: '{{ b.c }}' }], { a: 'א', b: { c: '中' } })
  t.same(problems.map(({ path }) => path), ['/a', '/b/c'])
})

void t.test('a template\'s own text that cannot be shown is named without a place in the data', async (t) => {
  t.match(await problemsOf([{ paragraph: 'שלום {{ a }}' }], { a: 'x' }), [{ path: '', code: 'unsupported_characters', message: /U\+05E9/ }])
})

void t.test('text is composed, and loses what a page cannot show anyway', (t) => {
  t.equal(tidy('e\u0301'), 'é')
  t.equal(tidy('a\r\nb\rc\u2028d'), 'a\nb\nc\nd')
  t.equal(tidy('a\tb'), 'a b')
  t.equal(tidy('do\u00adcu\u200bment\ufeff ☎\ufe0f'), 'document ☎')
  t.equal(tidy('plain text'), 'plain text')
  t.end()
})

void t.test('a subset draws the same glyphs as the font, composed ones too', (t) => {
  const bytes = readFileSync(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'))
  const font = create(bytes)
  if (!('layout' in font)) throw new TypeError('expected one font')
  const glyphs = font.layout('Aé½ǟ ').glyphs
  const subset = subsetter(bytes)()
  const numbers = glyphs.map(({ id }) => subset.includeGlyph(id))
  t.equal(subset.includeGlyph(glyphs[0]!.id), numbers[0], 'a glyph has one number')
  const copy = create(Buffer.from(subset.encode()))
  if (!('layout' in copy)) throw new TypeError('expected one font')
  for (const [index, glyph] of glyphs.entries()) {
    const made = copy.getGlyph(numbers[index]!)
    t.equal(made.path.toSVG(), glyph.path.toSVG())
    t.equal(made.advanceWidth, glyph.advanceWidth)
  }
  t.end()
})

void t.test('words are measured as they are drawn, however often', (t) => {
  const { first: face } = facesFor('sans', {})
  const first = face.advance('AVATAR')
  const layout = face.font.layout('AVATAR')
  for (const position of layout.positions) position.xAdvance *= 2
  t.equal(face.advance('AVATAR'), first, 'what a document does to a layout stays in that document')
  t.equal(Math.round(layout.advanceWidth), Math.round(2 * first * face.font.unitsPerEm / 1000), 'the advance follows the positions')
  t.end()
})

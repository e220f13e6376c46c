import fc from 'fast-check'
import { create } from 'fontkit'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import t from 'tap'
import { contains, has } from '../../../../test/support/matching.ts'
import { areSimple } from '../data/simple-data.ts'
import { partsOf } from '../layout/breaks.ts'
import { fallbackFonts } from '../layout/fallback-fonts.ts'
import { facesFor } from '../layout/fonts.ts'
import { breakLines } from '../layout/lines.ts'
import { normalizeText } from '../layout/normalize-text.ts'
import { shape, unshowable, UnshowableText } from '../layout/shape.ts'
import { subsetter } from '../layout/subset.ts'
import type { Typography } from '../layout/words.ts'
import { readable } from '../model/output.ts'
import { pdfOf, problemsOf, wordsOf } from './support.ts'

const shown: Record<string, string> = {
  Polish: 'Zażółć gęślą jaźń',
  Greek: 'Ξεσκεπάζω την ψυχοφθόρα βδελυγμία',
  Cyrillic: 'Съешь же ещё этих мягких французских булок',
  Vietnamese: 'Tiếng Việt ưu ơ ạ',
  Turkish: 'İstanbul ığdır şğ',
  French: '1\u202f234,50\u00a0€\u00a0: «\u202foui\u202f»',
  currencies: '€ £ ¥ ₽ ₴ ₹ ₿ ₺ ₾',
  marks: 'x\u0304 q\u0350 o\u0306\u0356 a\u035cb',
  signs: '½ → ☎ ✓ “ ” … – —'
}

for (const [name, text] of Object.entries(shown)) {
  void t.test(`${name} is shown and can be read back, in every family`, async (t) => {
    for (const font of ['sans', 'serif', 'mono'] as const) {
      // A fallback inside a word splits what the reader finds.
      t.equal((await wordsOf(await pdfOf([{ paragraph: '{{ text }}' }], { text }, { style: { font } }))).replaceAll(/\s/g, ''),
        text.normalize('NFC').replaceAll(/\s/g, ''), font)
    }
  })
}

/** Glyphs, advances and offsets as HarfBuzz 8.3 shapes these words with the same fonts. */
const shaped: [script: string, text: string, face: string, glyphs: string][] = [
  ['Thai, two marks on a letter', 'ที่นี่', 'NotoSansThai_400Regular', '109+609|86+0@-3,0|44+0@-3,0|63+613|86+0|44+0'],
  ['Thai, the vowel am below a mark', 'น้ำ', 'NotoSansThai_400Regular', '63+613|59+0|49+0@-29,0|78+406'],
  ['Devanagari, a conjunct and a vowel before it', 'क्षत्रिय', 'NotoSans_400Regular', '4147+717|4023+259|4159+552|3999+580'],
  ['Devanagari, three consonants', 'राष्ट्र', 'NotoSans_400Regular', '3972+409|3881+259|4379+584|4216+0@-74,0'],
  ['Latin with a mark that DejaVu does not have', 'q\u0350', 'NotoSans_400Regular', '84+615|2736+0@-305,0'],
  ['emoji of several parts', '👨\u200d👩\u200d👧🇫🇷', 'NotoEmoji_400Regular', '1483+2600|1699+2600'],
  ['Gurmukhi, from a package beside the service', 'ਪੰਜਾਬੀ', 'NotoSansGurmukhi_400Regular', '37+593|77+0|24+612|51+235|39+608|53+259']
]
for (const [script, text, name, glyphs] of shaped) {
  void t.test(`${script}: is shaped as HarfBuzz does`, (t) => {
    const [segment, ...rest] = shape(normalizeText(text), facesFor('sans', {}))
    t.same(rest, [], 'one face has all of it')
    t.equal(segment?.face.name, name)
    const scale = (create(readFileSync(createRequire(import.meta.url).resolve(fontFile(name)))) as { unitsPerEm: number }).unitsPerEm / 1000
    const { glyphs: ids, positions } = segment!.face.font.layout(segment!.text)
    t.equal(
      positions.map(({ xAdvance, xOffset, yOffset }, index) => {
        const [advance, ...offset] = [xAdvance, xOffset, yOffset].map((size) => Math.round(size * scale))
        return `${ids[index]?.id}+${advance}${offset.every((size) => size === 0) ? '' : `@${offset.join(',')}`}`
      }).join('|'),
      glyphs
    )
    t.end()
  })
}

function fontFile (name: string): string {
  return fallbackFonts('ja', false).find(({ path }) => path.endsWith(`${name}.ttf`))?.path ?? ''
}

void t.test('words of other scripts keep their distance, and stay in their order', async (t) => {
  const text = '🍕 Pizza ☕ 🧾 ข้อมูล (มหาชน) 2026 हिन्दी 7 x'
  const lines = breakLines([{ text }], type, Infinity)
  const pieces = lines.flatMap((line) => line.pieces)
  for (const [index, { x, width }] of pieces.entries()) {
    const next = pieces[index + 1]
    if (next !== undefined) t.ok(next.x >= x + width - 0.02, `${pieces[index]?.text} ends before ${next.text}`)
    t.ok(Math.abs(width - pieces[index]!.face.advance(pieces[index]!.text) * type.size / 1000) < 0.1, `${pieces[index]?.text} is as wide`)
  }
  t.equal(await wordsOf(await pdfOf([{ paragraph: '{{ text }}' }], { text: 'ไทย 🍕 end' })), 'ไทย 🍕 end')
})

void t.test('of simple data every character is shown, in every family; what is too large or too long for its place is not simple', (t) => {
  const all = Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCodePoint(code)).filter((text) => areSimple({ text }, 'pdf'))
  for (const font of ['sans', 'serif', 'mono'] as const) t.same(unshowable(all.join(''), facesFor(font, { bold: true })), [], font)
  t.ok(areSimple({ text: '🍕', party: { name: 'x'.repeat(40) } }, 'html'))
  for (const data of [{ text: '\u0001' }, { text: 'x'.repeat(12_000) }, { text: '\n'.repeat(200) }, { party: { name: 'x'.repeat(41) } }, {
    party: { name: 'a\nb' }
  }, { logo: 'data:image/png;base64,' }, { lines: Array.from({ length: 700 }, () => 1) }]) {
    t.notOk(areSimple(data, 'pdf'), JSON.stringify(data).slice(0, 20))
  }
  t.end()
})

void t.test('a text that Thai writes without spaces breaks between its words', (t) => {
  t.same(partsOf('บริการทดสอบระบบ'), ['บริการ', 'ทดสอบ', 'ระบบ'])
  t.same(partsOf('(มหาชน)ๆ'), ['(มหาชน)ๆ'])
  t.end()
})

void t.test('a character that a face does not have comes from another one, alone', async (t) => {
  const { bytes } = await pdfOf([{ paragraph: 'Serif and ☎ sans' }], {}, { style: { font: 'serif' } })
  contains(t, await wordsOf({ bytes }), 'Serif and')
  const fonts = [...Buffer.from(bytes).toString('latin1').matchAll(/\/BaseFont \/[A-Z]{6}\+(\S+)/g)].map(([, font]) => font)
  t.same([...new Set(fonts)].sort(), ['DejaVuSans', 'DejaVuSerif'])
})

const refused: Record<string, [text: string, ...named: string[]]> = {
  Syriac: ['abc ܫܠܡܐ', '"ܫ" (U+072B)', '"ܐ" (U+0710)'],
  'N\'Ko': ['ߒߞߏ', '"ߒ" (U+07D2)'],
  Burmese: ['မြန်မာ', '"မ" (U+1019)'],
  'a control character': ['a\u0001b', 'U+0001'],
  NUL: ['a\0b', 'U+0000'],
  'a lone surrogate': ['a\ud800b', 'U+D800']
}

for (const [name, [text, ...named]] of Object.entries(refused)) {
  void t.test(`${name} is refused by name, at its place in the data`, async (t) => {
    const problems = await problemsOf([{ table: { each: 'lines', as: 'line', columns: [{ header: 'H', value: 'line.text' }] } }], {
      lines: [{ text: 'fine' }, { text }]
    })
    has(t, problems, [{ path: '/lines/1/text', code: 'unsupported_characters' }])
    t.equal(problems.length, 1)
    for (const character of named) contains(t, problems[0]?.message, character)
  })
}

void t.test('a name is in the order in which it was written, whatever it was copied with', async (t) => {
  const text = '\u202aInvoice \u202efdp.exe\u202c for \u2067Ada\u2069'
  t.equal(await wordsOf(await pdfOf([{ paragraph: '{{ text }}' }], { text })), 'Invoice fdp.exe for Ada')
  t.equal(readable(text), 'Invoice fdp.exe for Ada', 'in all other formats')
})

void t.test('every text that cannot be shown is named at once', async (t) => {
  const problems = await problemsOf([{ paragraph: '{{ a }}' }, { paragraph: '{{ b.c }}' }], { a: 'ܫ', b: { c: 'မ' } })
  t.same(problems.map(({ path }) => path), ['/a', '/b/c'])
})

void t.test('a template\'s own text that cannot be shown is named without a place in the data', async (t) => {
  has(t, await problemsOf([{ paragraph: 'မြန် {{ a }}' }], { a: 'x' }), [{ path: '', code: 'unsupported_characters', message: /U\+1019/ }])
})

void t.test('text is composed, and loses what a page cannot show anyway', (t) => {
  t.equal(normalizeText('e\u0301'), 'é')
  t.equal(normalizeText('a\r\nb\rc\u2028d'), 'a\nb\nc\nd')
  t.equal(normalizeText('a\tb'), 'a b')
  t.equal(normalizeText('do\u00adcu\u200bment\ufeff ☎\ufe0f'), 'document ☎')
  t.equal(normalizeText('plain text'), 'plain text')
  for (const control of '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069') {
    t.equal(normalizeText(`a${control}b`), 'ab', 'nor is it turned around')
  }
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

void t.test('words are measured as they are drawn, however often', async (t) => {
  const { first: face } = facesFor('sans', {})
  const advances = (): number[] => face.font.layout('AVATAR').positions.map(({ xAdvance }) => xAdvance)
  const [width, kerned] = [face.advance('AVATAR'), advances()]
  for (const paragraph of ['AVATAR', 'AVATAR again']) await pdfOf([{ paragraph }])
  t.equal(face.advance('AVATAR'), width)
  t.same(advances(), kerned, 'a document leaves the layout as it was')
  t.equal(Math.round(kerned.reduce((sum, advance) => sum + advance, 0)), Math.round(width), 'the advance is that of the positions')
})

void t.test('the narrow spaces of French numbers have their width', (t) => {
  for (const family of ['sans', 'serif', 'mono'] as const) {
    const { first } = facesFor(family, {})
    t.ok(first.has(0x202f) && first.advance('\u202f') > 0, family)
  }
  t.end()
})

void t.test('a full-width sign that no font has is shown as the sign that it is a form of', async (t) => {
  t.equal(await wordsOf(await pdfOf([{ paragraph: '{{ total | money }} ＡＢ１２' }], { total: 1234 }, { locale: 'ja', currency: 'JPY' })),
    '¥1,234 AB12')
})

const hasWide = fallbackFonts('ja', false).some(({ path }) => /-(jp|sc|tc|kr)\//.test(path))
const japanese = hasWide ? { skip: 'the fonts for it are installed' } : {}
const wideLetters: [name: string, text: string, locale: string, message: RegExp][] = [
  ['Japanese', '領収書', 'ja',
    /"領" \(U\+9818\), "収" \(U\+53CE\), "書" \(U\+66F8\): .*"npm install --ignore-scripts @expo-google-fonts\/noto-sans-jp"/],
  ['Chinese', '发票', 'zh-CN', /"发" \(U\+53D1\).*noto-sans-sc/],
  ['Chinese of Taiwan', '發票', 'zh-TW', /noto-sans-tc/],
  ['Korean', '청구서', 'en', /noto-sans-kr/],
  ['Chinese in French', '王伟', 'fr', /noto-sans-sc/],
  ['Japanese in French', '株式会社テスト', 'fr', /noto-sans-jp/],
  ['Tamil and Korean', 'தமிழ் 청구서', 'en', /--ignore-scripts @expo-google-fonts\/noto-sans-tamil @expo-google-fonts\/noto-sans-kr"/]
]
for (const [name, text, locale, message] of wideLetters) {
  void t.test(`${name} is refused with its letters and the package that has them`, japanese, async (t) => {
    has(t, await problemsOf([{ paragraph: '{{ a.b }}' }], { a: { b: text } }, { locale }), [{
      path: '/a/b',
      code: 'unsupported_characters',
      message
    }])
  })
}

void t.test('text of letters without spaces may break between them, but not before a sign that ends something', (t) => {
  t.same(partsOf('東京都（千代田区）、日本。'), ['東', '京', '都', '（千', '代', '田', '区）、', '日', '本。'])
  t.same(partsOf('カッコー'), ['カッ', 'コー'])
  t.same(partsOf('請求書INV-2026号'), ['請', '求', '書', 'INV-2026', '号'])
  t.same(partsOf('well-known'), ['well-', 'known'])
  t.same(partsOf('12-34'), ['12-34'])
  t.end()
})

const type: Typography = {
  font: 'serif',
  size: 10,
  lineHeight: 1.3,
  color: '#000000',
  linkColor: '#000000',
  bold: false,
  wide: 'ja',
  direction: 'ltr'
}

void t.test('an address that is too long for a line breaks at its joints, a word anywhere', (t) => {
  const lines = (text: string, width: number): string[] =>
    breakLines([{ text }], type, width).map(({ pieces }) => pieces.map((piece) => piece.text).join(''))
  const url = 'https://pay.northwind.example/invoices/2026-0142?amount=17182.44&currency=EUR'
  const broken = lines(url, 150)
  t.equal(broken.join(''), url)
  t.ok(broken.length > 2)
  for (const line of broken.slice(0, -1)) contains(t, line, /[/?&=.-]$/)
  const word = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'
  t.equal(lines(word, 100).join(''), word)
  for (const { width } of breakLines([{ text: `a ${url} ${word} b` }], type, 100)) t.ok(width <= 100.01)
  t.end()
})

void t.test('of any text, every character is drawn in a face that has it, or the text is refused', (t) => {
  const anything = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.string({ unit: fc.constantFrom(...Array.from('aéЖΩאبمن\u0301\u064b\u200d☎￥–½ﬁ\u202f\ufffd漢한กำ้हि्🍕👍🏽🇫1\u20e3ਪੰ')), maxLength: 20 }))
  const drawn = fc.tuple(anything, fc.constantFrom('sans', 'serif', 'mono'), fc.boolean(), fc.constantFrom('ltr', 'rtl'),
    fc.constantFrom(30, 1000))
  fc.assert(fc.property(drawn, ([text, font, bold, direction, width]) => {
    try {
      const pieces = breakLines([{ text }], { ...type, font, bold, direction }, width).flatMap((line) => line.pieces)
      const shown = pieces.flatMap((piece) => Array.from(piece.text))
      const isDrawn = pieces.every((piece) =>
        Array.from(piece.text).every((character) => piece.face.has(character.codePointAt(0) ?? 0))
        // PDF/A permits no text in the glyph that stands for a missing one.
        && piece.face.font.layout(piece.text).glyphs.every(({ id }) => id !== 0)
      )
      const desired = Array.from(normalizeText(text).replaceAll(/[ \n\u061c\u200c-\u200f]/g, ''))
      return isDrawn && shown.filter((character) => !/[ \u200c\u200d]/.test(character)).length === desired.length
    } catch (error) {
      return error instanceof UnshowableText && error.characters.length > 0
    }
  }), { numRuns: 1000 })
  t.end()
})

void t.test('marks upon marks for which a font has no place do not stop a document', async (t) => {
  for (const font of ['sans', 'serif', 'mono'] as const) {
    t.equal(
      (await pdfOf([{ paragraph: '{{ text }}' }], { text: 'e\u0301\u0301 é\u0301\u0302\u0303 n\u030a\u030a' }, { style: { font } })).pages,
      1,
      font
    )
  }
})

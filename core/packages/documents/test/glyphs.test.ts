import fc from 'fast-check'
import t from 'tap'
import { type Face, facesFor } from '../layout/fonts.ts'
import { type EmbeddedFont, textOperators } from '../render/glyphs.ts'

type Shown = { glyph: number, x: number, y: number }

/** The face as a PDF has it, with all its glyphs under their own numbers. */
function embedded ({ font }: Face): EmbeddedFont {
  return {
    id: 'F1',
    ref: () => undefined,
    encode (text) {
      const { glyphs, positions } = font.layout(text)
      const places = positions.map((position, index) => ({ ...position, advanceWidth: glyphs[index]?.advanceWidth ?? 0 }))
      return [glyphs.map(({ id }) => id.toString(16).padStart(4, '0')), places]
    }
  }
}

/** The glyphs that a reader shows for the operators, with their places (ISO 32000-1, 9.4.4). */
function read (operators: string, size: number, widthOf: (glyph: number) => number): Shown[] {
  const shown: Shown[] = []
  let [x, y] = [0, 0]
  for (const operator of operators.split('\n')) {
    const [, left, top] = /^1 0 0 -1 (\S+) (\S+) Tm$/.exec(operator) ?? []
    if (left !== undefined) [x, y] = [Number(left), Number(top)]
    for (const [part, hex] of operator.endsWith('TJ') ? operator.slice(1, -4).matchAll(/<([^>]*)>|[^<> ]+/g) : []) {
      if (hex === undefined) x -= Number(part) * size / 1000
      for (const digits of hex?.match(/.{4}/g) ?? []) {
        const glyph = Number.parseInt(digits, 16)
        shown.push({ glyph, x, y })
        x += widthOf(glyph) * size / 1000
      }
    }
  }
  return shown
}

/** Letters that are kerned, letters that join, and marks that stand above and below them. */
const letters = fc.constantFrom('A', 'V', 'To', 'y.', ', ', 'fi', 'é', 'a\u0301\u0323', 'x\u0308', 'ب', 'ِ', 'س', 'ש', 'ּ', 'ָ')

void t.test('each glyph is shown where its font places it', (t) => {
  const { first: face } = facesFor('sans', {})
  fc.assert(fc.property(fc.array(letters, { maxLength: 12 }), fc.constantFrom(1, 8.5, 150), (parts, size) => {
    const text = parts.join('')
    const { glyphs, positions } = face.font.layout(text)
    const widths = new Map(glyphs.map(({ id, advanceWidth }) => [id, advanceWidth]))
    let pen = 10
    const expected = positions.map(({ xAdvance, xOffset, yOffset }, index): Shown => {
      const place = { glyph: glyphs[index]?.id ?? 0, x: pen + xOffset * size / 1000, y: 20 - yOffset * size / 1000 }
      pen += xAdvance * size / 1000
      return place
    })
    const shown = read(textOperators(embedded(face), text, size, 10, 20), size, (glyph) => widths.get(glyph) ?? 0)
    t.equal(shown.length, expected.length)
    for (const [index, { glyph, x, y }] of expected.entries()) {
      t.equal(shown[index]?.glyph, glyph)
      t.ok(Math.hypot((shown[index]?.x ?? 0) - x, (shown[index]?.y ?? 0) - y) < 1e-4, `${text} at ${index}`)
    }
  }))
  t.end()
})

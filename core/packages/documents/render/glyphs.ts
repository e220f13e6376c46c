/** A font in a PDF, as pdfkit keeps it. Sizes are in thousandths of the font size. */
export type EmbeddedFont = {
  /** Its name in the resources of a page. */
  readonly id: string
  readonly ref: () => unknown
  /** The numbers of a text's glyphs as four hexadecimal digits each, and their places. */
  readonly encode: (text: string) => [glyphs: string[], positions: Place[]]
}
type Place = { xAdvance: number, xOffset: number, yOffset: number, advanceWidth: number }

/** The operator that sets the font and its size (points) for the texts after it. */
export function typeOperator ({ id }: EmbeddedFont, size: number): string {
  return `/${id} ${written(size)} Tf`
}

/**
 * The operators that show a text with its baseline at `y`, where `y` grows downwards (ISO 32000-1, 9.4). pdfkit's own text function lays
 * each text out twice, and turns the page around it and back.
 */
export function textOperators (font: EmbeddedFont, text: string, size: number, x: number, y: number): string {
  const [glyphs, positions] = font.encode(text)
  const scale = size / 1000
  const operators = ['BT']
  let shown = ''
  let moved = true
  for (const [index, place] of positions.entries()) {
    const isOffset = place.xOffset !== 0 || place.yOffset !== 0
    if (isOffset || moved) {
      show()
      operators.push(`1 0 0 -1 ${written(x + place.xOffset * scale)} ${written(y - place.yOffset * scale)} Tm`)
      moved = isOffset
    }
    const kerning = place.xAdvance - place.advanceWidth
    shown += `${glyphs[index]}${kerning === 0 || isOffset ? '' : `> ${written(-kerning)} <`}`
    x += place.xAdvance * scale
  }
  show()
  return [...operators, 'ET'].join('\n')

  function show (): void {
    if (shown !== '') operators.push(`[<${shown}>] TJ`)
    shown = ''
  }
}

/** A number with at most six decimals, and never with an exponent. */
function written (number: number): string {
  return String(Math.round(number * 1e6) / 1e6)
}

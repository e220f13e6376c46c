import { encodePng } from '../image/png-write.ts'
import type { CodeBlock, ImageData } from '../model/document.ts'

/** Pixels for each module: a picture at its own size stays sharp on paper and screens. */
const scale = 8

/** A code as a black and white PNG in the proportions of its size, for formats without vectors. */
export function pictureOf ({ modules: draw, width: wide, height: high }: Pick<CodeBlock, 'modules' | 'width' | 'height'>): ImageData {
  const { columns, rows, dark } = draw()
  const width = columns * scale
  const height = Math.max(1, Math.round(width * high / wide))
  // A module is a whole byte of eight pixels. All rows of pixels of a row of modules are the same.
  const lines = new Uint8Array(columns * rows).fill(0xff)
  for (const bar of dark) {
    for (let y = bar.y; y < bar.y + bar.height; y++) lines.fill(0, y * columns + bar.x, y * columns + bar.x + bar.width)
  }
  const data = new Uint8Array(columns * height).fill(0xff)
  const pixels = height / rows
  for (let y = 0; y < rows; y++) {
    const line = lines.subarray(y * columns, (y + 1) * columns)
    for (let row = Math.round(y * pixels); row < Math.round((y + 1) * pixels); row++) data.set(line, row * columns)
  }
  return { format: 'png', bytes: encodePng({ width, height, color: 'bit', data }), width, height }
}

import { encodePng } from '../image/png-write.ts'
import type { CodeBlock, ImageData } from '../model/document.ts'

/** Pixels for each module: a picture at its own size stays sharp on paper and screens. */
const scale = 8

/** A code as a black and white PNG in the proportions of its size, for formats without vectors. */
export function pictureOf ({ modules: draw, width: wide, height: high }: Pick<CodeBlock, 'modules' | 'width' | 'height'>): ImageData {
  const modules = draw()
  const width = modules.columns * scale
  const height = Math.max(1, Math.round(width * high / wide))
  const stride = Math.ceil(width / 8)
  const data = new Uint8Array(stride * height).fill(0xff)
  const pixels = height / modules.rows
  for (const { x, y, width: columns, height: rows } of modules.dark) {
    // A module is a whole byte of eight pixels.
    for (let row = Math.round(y * pixels); row < Math.round((y + rows) * pixels); row++) {
      data.fill(0, row * stride + x, row * stride + x + columns)
    }
  }
  return { format: 'png', bytes: encodePng({ width, height, color: 'bit', data }), width, height }
}

import type { ImageData, Modules } from '../model/document.ts'
import type { Face } from './fonts.ts'

/** The functions with which layout draws on one page, in points from its top left corner. */
export type Surface = {
  /** A piece of text in one face with its baseline at `y`; `width` is its measured width. */
  readonly text: (piece: ShapedText, x: number, y: number) => void
  /** A horizontal line whose middle is at `y`. */
  readonly rule: (x: number, y: number, width: number, thickness: number, color: string) => void
  readonly image: (image: ImageData, x: number, y: number, width: number, height: number) => void
  /** Dark modules on a light background. */
  readonly modules: (modules: Modules, x: number, y: number, width: number, height: number) => void
  /** Paints `draw`, rotated clockwise by degrees around a point. */
  readonly rotated: (degrees: number, x: number, y: number, draw: () => void) => void
  /** Makes a rectangle a link. */
  readonly link: (x: number, y: number, width: number, height: number, url: string) => void
  /** Records where a signer signs. It draws nothing. */
  readonly signature: (place: SignatureBox) => void
}

/** A rectangle on the page for a signer (from 1), in points from the top left corner. */
export type SignatureBox = { signer: number, x: number, y: number, width: number, height: number }

/** Text in one face, font size (points) and colour (`#rrggbb`). */
export type ShapedText = { text: string, face: Face, size: number, color: string, width: number }

/** Pixels. */
export type Size = { width: number, height: number }

export function hasPixels ({ width, height }: Size): boolean {
  return width > 0 && height > 0
}

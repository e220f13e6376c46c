/** Twentieths of a point, as integers: Word's unit of lengths on the page. */
export function twips (points: number): number {
  return Math.round(points * 20)
}

/** Half points: Word's unit of font sizes. */
export function halves (points: number): number {
  return Math.max(2, Math.round(points * 2))
}

/** Eighths of a point, from 2 to 96: Word's unit of border widths. */
export function eighths (points: number): number {
  return Math.min(96, Math.max(2, Math.round(points * 8)))
}

/** English metric units, 12,700 per point: Word's unit of picture sizes. */
export function emus (points: number): number {
  return Math.round(points * 12_700)
}

/** A colour `#rrggbb` in Word's notation. */
export function hex (color: string): string {
  return color.slice(1).toUpperCase()
}

/** Twentieths of a point, of which Word has whole ones: lengths on the page. */
export function twips (points: number): number {
  return Math.round(points * 20)
}

/** Half points: sizes of type. */
export function halves (points: number): number {
  return Math.max(2, Math.round(points * 2))
}

/** Eighths of a point: thicknesses of borders, from 2 to 96. */
export function eighths (points: number): number {
  return Math.min(96, Math.max(2, Math.round(points * 8)))
}

/** English metric units, 12,700 to the point: sizes of pictures. */
export function emus (points: number): number {
  return Math.round(points * 12_700)
}

/** A colour `#rrggbb` as Word writes it. */
export function hex (color: string): string {
  return color.slice(1).toUpperCase()
}

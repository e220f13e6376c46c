import type { Problem } from '@dispatch/common'
import type { BrandBody } from '../contract/brand.ts'

/** The least contrast against white paper that text needs (WCAG 2.2, 1.4.3: of large text, of any). */
const least = { accent: 3, muted: 3, text: 4.5 } as const

/** The colours of a brand that nobody can read on white paper. */
export function lowContrast (brand: Pick<BrandBody, keyof typeof least>): Problem[] {
  return (['accent', 'text', 'muted'] as const).flatMap((name) => {
    const colour = brand[name]
    if (colour === undefined || onWhite(colour) >= least[name]) return []
    const message = `${colour} has a contrast of ${onWhite(colour).toFixed(1)}:1 against white paper; at least ${least[name]}:1 is ` +
      'needed to read it: choose a darker colour.'
    return [{ path: `/${name}`, code: 'low_contrast', message }]
  })
}

/** The contrast of a colour (`#rrggbb`) against white, from 1 to 21. */
function onWhite (colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
}

import type { SignaturePlace } from '../content.ts'

/** A signer with the places to sign (at least one) and the turn, from 1: those of one turn sign together. */
export type Signing<Signer> = { signer: Signer, places: SignaturePlace[], turn: number }

/** Points of a page, in portrait format. */
const papers = { A4: { width: 595.28, height: 841.89 }, Letter: { width: 612, height: 792 } } as const

/** A signature that most vendors take, in points: so many stand beside each other at the foot of a page. */
const foot = { width: 85, height: 37, beside: 5, left: 40, top: 740, gap: 10, above: 5 } as const

/**
 * The signers in the order in which they sign. Who has no place in the template signs at the foot of the first page, beside the
 * others: many vendors want a place for each.
 */
export function signingOf<
  Signer extends { order?: number }
> ({ esign: { signers }, signatures }: { esign: { signers: readonly Signer[] }, signatures: readonly SignaturePlace[] }): Signing<
  Signer
>[] {
  const orders = [...new Set(signers.map(({ order = 1 }) => order))].sort((one, other) => one - other)
  return signers.map((signer, index) => {
    const own = signatures.filter((place) => place.signer === index + 1)
    return { signer, places: own.length === 0 ? [footOf(index)] : own, turn: orders.indexOf(signer.order ?? 1) + 1 }
  }).sort((one, other) => one.turn - other.turn)
}

function footOf (index: number): SignaturePlace {
  const { width, height, beside, left, top, gap, above } = foot
  const [column, row] = [index % beside, Math.floor(index / beside)]
  return { signer: index + 1, page: 1, x: left + (width + gap) * column, y: top - (height + above) * row, width, height }
}

/** A share of a page is told in ten-thousandths of it. */
const finest = 10_000

/**
 * A place as shares of its page, for vendors that do not count in points: of 1, or of a hundred (percent). `paper`: that of the page where
 * the place does not say how large that is.
 */
export function shareOfPage (
  { x, y, width, height, pageSize }: SignaturePlace,
  paper: keyof typeof papers,
  whole: 1 | 100 = 1
): { x: number, y: number, width: number, height: number } {
  const page = pageSize ?? papers[paper]
  const share = (points: number, of: number): number => Math.round(finest * points / of) / (finest / whole)
  return { x: share(x, page.width), y: share(y, page.height), width: share(width, page.width), height: share(height, page.height) }
}

import { type ProvidedName, services } from '@dispatch/services'
import { type Answered, askAgain, askWith } from '../interrogation/ask.ts'
import { differing } from '../interrogation/facts.ts'
import { placeOf } from '../interrogation/fields.ts'
import { type Case, judged } from '../report.ts'
import { inTurn } from '../run/in-turn.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { type Base, baseOf, kindOf } from '../values/trial.ts'

/** A page in points that is no paper of anybody's settings, as a document may have that a client gives. */
const pageSize = { width: 2000, height: 3000 } as const

/** So many points is a place moved on that page. */
const moved = 1000

/** Lengths that vendors count in, by how many are in a point: points, pixels of 96 and of 80 to the inch, mm, cm, inches. */
const lengths = [1, 96 / 72, 80 / 72, 25.4 / 72, 2.54 / 72, 1 / 72]

/** The wholes of which a place may be a share. */
const wholes = [1, 100, 1000, 10_000]

/**
 * Moves a place to sign on a page that is larger than any paper: what reaches the vendor moves by a length, or by a share of that page. A
 * provider that takes all pages for A4, or for that of its settings, puts the place elsewhere.
 */
export async function placedCases (subject: ProviderUnderTest, fit: readonly Prepared[]): Promise<Case[]> {
  const bases = fit.flatMap((prepared) => baseOf(subject, prepared) ?? []).filter(({ service, prepared: { call } }) =>
    takesPlaces(service) && call.exchange.length > 0
  )
  return await inTurn([...Map.groupBy(bases, kindOf).values()].flatMap(([first]) => first ?? []),
    async (base) =>
      judged('placed', base.prepared.name, (await inTurn(['x', 'y'] as const, (axis) => faultsOf(subject, base, axis))).flat()))
}

function takesPlaces (service: ProvidedName): boolean {
  return services[service].places !== undefined
}

async function faultsOf (subject: ProviderUnderTest, base: Base, axis: 'x' | 'y'): Promise<string[]> {
  const askAt = (distance: number): Promise<Answered | undefined> => {
    const place = { signer: 1, page: 1, x: 100, y: 100, width: 200, height: 60, pageSize, [axis]: distance }
    return askWith(subject, base, [{ place: placeOf('/signatures/*/x'), value: [place] }])
  }
  const [again, near, far] = await inTurn([() => askAgain(subject, base), () => askAt(100), () => askAt(100 + moved)], (ask) => ask())
  if (again === undefined || near === undefined || far === undefined) return []
  const noise = new Set(differing(again.facts, (await askAgain(subject, base)).facts))
  const side = axis === 'x' ? pageSize.width : pageSize.height
  const wrong = differing(near.facts, far.facts).filter((place) => !noise.has(place)).flatMap((place) => {
    const [from, to] = [near.facts.get(place), far.facts.get(place)]
    const distance = Math.abs(Number(to) - Number(from))
    return Number.isNaN(distance) || isRight(distance, side) ? [] : [`${from ?? ''} becomes ${to ?? ''} (${place})`]
  })
  return wrong.slice(0, 1).map((what) =>
    `/signatures/*/${axis}: a place that moves by ${moved} points on a page of ${side} reaches the vendor as no length and no share of ` +
    `that page: ${what}. Use "shareOfPage", or the "pageSize" of the place.`
  )
}

/** Vendors round. */
const nearly = 0.01

function isRight (distance: number, side: number): boolean {
  return [...lengths, ...wholes.map((whole) => whole / side)].some((factor) => Math.abs(distance / (factor * moved) - 1) < nearly)
}

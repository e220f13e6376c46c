import { effort } from './effort.ts'

/** Runs per second. */
export type Rate = () => Promise<number>

/** The number of concurrent requests to the service. */
const atOnce = 32

/** How often per second the work is done, 32 at a time. */
export function rateOf (seconds: number, work: () => Promise<unknown>): Rate {
  return async () => {
    const start = performance.now()
    let done = 0
    await Promise.all(Array.from({ length: atOnce }, async () => {
      for (; performance.now() - start < seconds * 1000; done++) await work()
    }))
    return done / (performance.now() - start) * 1000
  }
}

const warmUps = effort(1, 0)

/** The results of each contestant in each round. */
export type Rates<Name extends string> = Record<Name, number[]>

/**
 * Runs the contestants in turns, so that a slow moment of the machine affects all of them. The first turn of a full run is only a warm-up.
 */
export async function inTurns<Name extends string> (contestants: Record<Name, Rate>, rounds: number): Promise<Rates<Name>> {
  const names = Object.keys(contestants) as Name[]
  const rates = Object.fromEntries(names.map((name) => [name, []])) as unknown as Rates<Name>
  for (let round = -warmUps; round < rounds; round++) {
    for (const name of names) {
      const rate = await contestants[name]()
      if (round >= 0) rates[name].push(rate)
    }
  }
  return rates
}

/** The median. */
export function median (values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low = NaN, high = NaN] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]]
  return (low + high) / 2
}

/** A contestant's share of the baseline: the median over the rounds, in percent. */
export function share (subject: readonly number[], baseline: readonly number[]): number {
  return median(subject.map((rate, round) => rate / (baseline[round] ?? NaN))) * 100
}

export type BenchRow = { 'per second': number, reached?: string, wanted?: string }

/** A row of a table: the median rate, and the share of the baseline beside the wanted share. */
export function benchRow (rates: readonly number[], against?: { baseline: readonly number[], wanted: number }): BenchRow {
  const rate = { 'per second': Math.round(median(rates)) }
  return against === undefined
    ? rate
    : { ...rate, reached: `${Math.round(share(rates, against.baseline))} %`, wanted: `≥ ${against.wanted} %` }
}

import fc from 'fast-check'
import t from 'tap'
import type { ErrorWord } from '../../../core/packages/contract/errors.ts'
import { refusalWords } from '../../../core/packages/contract/provider-list.ts'
import type { StepCandidate } from '../../../core/packages/tables/schema.ts'
import { drawFirst } from '../../../core/pipeline/plan/lists.ts'
import { nextCandidate } from '../../../core/pipeline/run/failover.ts'
import type { StepProvider } from '../../../core/pipeline/step.ts'

type Weighted = { name: string, weight?: number }
const drawn = (listed: readonly Weighted[], draw: (total: number) => number): readonly Weighted[] =>
  drawFirst(listed, ({ weight }) => weight, draw)

/** Numbers as random as they need be, the same in each run (mulberry32). */
function seeded (seed: number): (total: number) => number {
  let state = seed
  return (total) => {
    state = state + 0x6d2b79f5 | 0
    let mixed = Math.imul(state ^ state >>> 15, state | 1)
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61)
    return Math.floor(((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32 * total)
  }
}

const lists = fc.uniqueArray(fc.record({ name: fc.string({ minLength: 1 }), weight: fc.nat({ max: 1000 }) }, { requiredKeys: ['name'] }), {
  minLength: 1,
  maxLength: 8,
  selector: ({ name }) => name
})

void t.test('one is first, the others keep their order; without weights nothing changes', (t) => {
  fc.assert(fc.property(lists, fc.nat(), (listed, seed) => {
    const order = drawn(listed, seeded(seed))
    const [first] = order
    const isWeighted = listed.some(({ weight = 0 }) => weight > 0)
    t.strictSame(order.slice(1), listed.filter((one) => one !== first))
    if (isWeighted) return (first?.weight ?? 0) > 0
    return first === listed[0]
  }))
  t.end()
})

void t.test('each is first as often as its weight says: within 4 standard deviations, of 20,000 draws', (t) => {
  const runs = 20_000
  fc.assert(
    fc.property(lists.filter((listed) => listed.some(({ weight = 0 }) => weight > 0)), fc.nat(), (listed, seed) => {
      const draw = seeded(seed)
      const counts = new Map<string, number>()
      for (let run = 0; run < runs; run++) {
        const name = drawn(listed, draw)[0]?.name ?? ''
        counts.set(name, (counts.get(name) ?? 0) + 1)
      }
      const total = listed.reduce((sum, { weight = 0 }) => sum + weight, 0)
      return listed.every(({ name, weight = 0 }) => {
        const share = weight / total
        return Math.abs((counts.get(name) ?? 0) - runs * share) <= 4 * Math.sqrt(runs * share * (1 - share)) + 1
      })
    }),
    { numRuns: 30, seed: 9010 }
  )
  const all = [{ name: 'a', weight: 90 }, { name: 'b', weight: 10 }]
  const exact = Array.from({ length: 100 }, (_, at) => drawn(all, () => at)[0]?.name)
  t.equal(exact.filter((name) => name === 'a').length, 90)
  t.equal(exact.filter((name) => name === 'b').length, 10)
  t.end()
})

const byOf = (list: readonly StepCandidate[], code: string): { by: StepProvider } => ({
  by: { code, version: '1.0.0', chosenBy: 'company', configuredBy: 'company', sandbox: false, list }
})
const entries = fc.uniqueArray(
  fc.record({ code: fc.string({ minLength: 1 }), after: fc.subarray([...refusalWords], { minLength: 1 }) }, { requiredKeys: ['code'] }),
  { minLength: 1, maxLength: 8, selector: ({ code }) => code }
).map((all) => all.map((entry): StepCandidate => ({ version: '1.0.0', configuredBy: 'company', ...entry })))
const outcomes = ['rejected', 'unavailable', 'uncertain'] as const
const words: readonly ErrorWord[] = [...refusalWords, 'provider_unavailable', 'outcome_unknown', 'validation_failed', 'document_damaged']

void t.test('the next one stands later, and follows no acceptance, no doubt and no refusal that it does not name', (t) => {
  fc.assert(fc.property(entries, fc.nat(7), fc.constantFrom(...outcomes), fc.constantFrom(...words), (list, at, outcome, word) => {
    const index = at % list.length
    const step = byOf(list, list[index]?.code ?? '')
    const next = nextCandidate(step, { outcome, error: { word, message: 'No.' } })
    if (outcome === 'uncertain') return next === undefined
    if (outcome === 'unavailable') return next === list[index + 1]
    return next === list.slice(index + 1).find(({ after }) => after?.some((one) => one === word))
  }))
  t.equal(nextCandidate(byOf([{ code: 'a', version: '1', configuredBy: 'user' }, { code: 'b', version: '1', configuredBy: 'user' }], 'a'), {
    outcome: 'accepted',
    response: null
  }), undefined)
  t.end()
})

void t.test('the recipients that an accepted e-mail left stay with its provider', (t) => {
  const list: StepCandidate[] = ['a', 'b'].map((code) => ({ code, version: '1.0.0', configuredBy: 'company' }))
  const rest = { of: 'step', answer: { id: '1', status: 'sent' }, recipients: ['ada@example.com'] }
  const unavailable = { outcome: 'unavailable', error: { word: 'provider_unavailable', message: 'Closed.' } } as const
  t.equal(nextCandidate({ ...byOf(list, 'a'), rest }, unavailable), undefined)
  t.equal(nextCandidate(byOf(list, 'a'), unavailable)?.code, 'b')
  t.end()
})

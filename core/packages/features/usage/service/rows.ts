import { type Decimal, Money } from '@dispatch/common'
import type { PricesView } from '../contract/prices.ts'
import type { UsageRow } from '../contract/usage.ts'
import type { Counted, UsageFilter } from '../store/read.ts'
import { amountText, costIn } from './prices.ts'

/** What was counted of each group. */
type Group = { of: Counted, measures: Map<string, number>, latencies: Map<number, number>, cost: Decimal }

/**
 * The rows of an answer, by time, then those of the most dispatches first. With prices, what of `counted` has one is told by service and
 * provider, whatever was asked for.
 */
export function rowsOf (counted: readonly Counted[], requested: UsageFilter, prices: PricesView): UsageRow[] {
  const costOf = costIn(prices)
  const [byService, byProvider] = [requested.by.includes('service'), requested.by.includes('provider')]
  const groups = new Map<string, Group>()
  for (const of of counted) {
    const { at, service, provider, user_id: userId, key, value, measure, name } = of
    const id = JSON.stringify([at, byService ? service : null, byProvider ? provider : null, userId, key, value])
    const group = groups.get(id) ?? { of, measures: new Map<string, number>(), latencies: new Map<number, number>(), cost: new Money(0) }
    group.cost = group.cost.plus(costOf(of))
    groups.set(id, group)
    const [place, into]: [string | number, Map<string | number, number>] = measure === 'latency'
      ? [Number(name), group.latencies]
      : [`${measure} ${name}`, group.measures]
    into.set(place, (into.get(place) ?? 0) + Number(of.count))
  }
  const ordered = [...groups].sort(([a], [b]) => a.localeCompare(b)).map(([, group]) => rowOf(group, requested, prices))
  return ordered.sort((a, b) => (a.at ?? '').localeCompare(b.at ?? '') || b.dispatches - a.dispatches)
}

function rowOf (
  { of, measures, latencies, cost }: Group,
  { by, metadata, per, service, provider, test }: UsageFilter,
  { currency, prices }: PricesView
): UsageRow {
  const count = (measure: string): number => measures.get(`${measure} `) ?? 0
  const named = (measure: string): Record<string, number> => {
    const found = [...measures].filter(([id]) => id.startsWith(`${measure} `)).map(([id, n]) => [id.slice(measure.length + 1), n] as const)
    return Object.fromEntries(found.sort(([a], [b]) => a.localeCompare(b)))
  }
  const failures = named('failed')
  const tellsSteps = by.includes('service') || by.includes('provider') || service !== undefined || provider !== undefined
  return {
    ...per !== undefined && { at: of.at?.toISOString() ?? '' },
    ...by.includes('service') && { service: of.service ?? '' },
    ...by.includes('provider') && { provider: of.provider === '' ? null : of.provider },
    ...by.includes('user') && { userId: of.user_id ?? 0 },
    ...by.includes('key') && { keyId: of.key === '' ? null : of.key },
    ...metadata !== undefined && { metadata: { [metadata]: of.value } },
    dispatches: count(tellsSteps ? 'steps' : 'begun'),
    accepted: count('accepted'),
    failed: Object.values(failures).reduce((sum, n) => sum + n, 0),
    parts: count('parts'),
    pages: count('pages'),
    credits: count('credits'),
    failures,
    deliveries: named('delivery'),
    marks: named('mark'),
    cost: currency === null || prices.length === 0 || test ? null : amountText(cost, currency),
    latency: latencies.size === 0 ? null : { p50: quantile(latencies, 0.5), p95: quantile(latencies, 0.95) }
  }
}

/** Milliseconds below which this part of the calls were answered: the middle of its place on the scale, as `counting` makes it. */
export function quantile (buckets: ReadonlyMap<number, number>, part: number): number {
  const sorted = [...buckets].sort(([a], [b]) => a - b)
  let left = Math.ceil(part * sorted.reduce((sum, [, n]) => sum + n, 0))
  const found = sorted.find(([, n]) => (left -= n) <= 0)
  return Math.round(2 ** (((found?.[0] ?? 0) + 0.5) / 4))
}

import type { AuditStamp } from '@dispatch/accounts'
import { type Decimal, isCurrency, minorDigits, Money, roundedTo } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { isServiceName } from '@dispatch/services'
import type { Price, PricesBody, PricesView, PriceUnit } from '../contract/prices.ts'
import { readPrices, writePrices } from '../store/prices.ts'
import type { Counted } from '../store/read.ts'

/** What companies pay. */
export type Prices = {
  read: (companyId: number) => Promise<PricesView>
  /** Throws `validation_failed` for a currency or a service that there is not, and for two prices of the same. */
  change: (companyId: number, body: PricesBody, stamp: AuditStamp) => Promise<PricesView>
}

export const prices = token<Prices>('prices')

/** What companies pay, by which their usage is told in money. Throws `validation_failed` as the type says. */
export function createPrices (database: Database): Prices {
  return {
    read: (companyId) => readPrices(database, companyId),

    async change (companyId, body, stamp) {
      const problems = problemsOf(body)
      if (problems.length > 0) throw refusal('validation_failed', problems)
      await writePrices(database, companyId, body, stamp)
      return body
    }
  }
}

const keyOf = ({ unit, service = '', providerName = '' }: Pick<Price, 'unit' | 'service' | 'providerName'>): string =>
  [unit, service, providerName].join(' ')

function problemsOf ({ currency, prices: all }: PricesBody) {
  const known = new Set<string>()
  const wrong = all.flatMap((price, index) => {
    const at = `/prices/${String(index)}`
    const { unit, service, providerName } = price
    if (unit === 'credit' && (service ?? providerName) !== undefined) {
      return [{ path: `${at}/unit`, code: 'price_of_credit', message: 'A credit has one price, whatever it is used for.' }]
    }
    if (unit !== 'credit' && (service === undefined || !isServiceName(service))) {
      return [{ path: `${at}/service`, code: 'unknown_service', message: 'There is no such service.' }]
    }
    const key = keyOf(price)
    if (known.has(key)) return [{ path: at, code: 'duplicate_price', message: 'There is a price of the same before.' }]
    known.add(key)
    return []
  })
  return isCurrency(currency)
    ? wrong
    : [{ path: '/currency', code: 'unknown_currency', message: 'Expected a currency of ISO 4217, such as EUR.' }, ...wrong]
}

const measures: Readonly<Record<PriceUnit, string>> = { credit: 'credits', dispatch: 'accepted', part: 'parts', page: 'pages' }
/** What has prices, which are of a service and a provider. */
export const pricedMeasures: readonly string[] = Object.values(measures)
const unitOf = new Map(Object.entries(measures).map(([unit, measure]) => [measure, unit as PriceUnit]))

/** What something that was counted by service and provider has cost. */
export function costIn ({ prices: all }: PricesView): (counted: Pick<Counted, 'measure' | 'service' | 'provider' | 'count'>) => Decimal {
  const amounts = new Map(all.map((price) => [keyOf(price), new Money(price.amount)]))
  const nothing = new Money(0)
  return ({ measure, service, provider, count }) => {
    const unit = unitOf.get(measure)
    if (unit === undefined) return nothing
    const amount = unit === 'credit'
      ? amounts.get(keyOf({ unit }))
      : amounts.get(keyOf({ unit, service: service ?? '', providerName: provider ?? '' })) ??
        amounts.get(keyOf({ unit, service: service ?? '' }))
    return amount === undefined ? nothing : amount.times(count)
  }
}

/** An amount as it is told. */
export function amountText (amount: Decimal, currency: string): string {
  const digits = minorDigits(currency)
  return roundedTo(amount, digits).toFixed(digits)
}

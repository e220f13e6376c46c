import { type Decimal, Money, roundedTo } from './money.ts'

/** What the amount of a line is computed from. `priceQuantity`: the price is for this many; 0 counts as 1. */
export type Priced = { quantity: Decimal, price: Decimal, priceQuantity: Decimal | undefined }

/** The price of the goods before allowances and charges, not rounded. */
export function grossAmount ({ quantity, price, priceQuantity }: Priced): Decimal {
  const whole = quantity.mul(price)
  return priceQuantity === undefined || priceQuantity.isZero() ? whole : whole.div(priceQuantity)
}

/** The deviation that EN 16931 leaves to an amount that follows from others (PEPPOL-EN16931-R120). */
export const slack = new Money('0.02')

/** Half of the smallest unit of an amount: 0.005 for two decimals. */
export function halfUnit (digits: number): Decimal {
  return halves[digits] ??= new Money(10).pow(-digits).div(2)
}

const halves: Decimal[] = []

/**
 * How far the total of a line may be from quantity × price: the slack of EN 16931, and half of the price's last decimal for each unit of
 * the quantity, because a price without VAT may be a rounded one.
 */
export function lineTolerance ({ quantity, price, priceQuantity }: Priced, digits: number): Decimal {
  const half = halfUnit(Math.max(2, price.decimalPlaces()))
  return Money.max(slack, halfUnit(digits)).add(grossAmount({ quantity, price: half, priceQuantity }).abs())
}

/** An allowance or a charge that has a percentage and no amount is its base × the percentage, in the minor unit. */
export function shareOf (base: Decimal, percent: Decimal, digits: number): Decimal {
  return roundedTo(base.mul(percent).div(100), digits)
}

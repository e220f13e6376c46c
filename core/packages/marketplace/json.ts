import { boundedValidator, type Problem, type Validator } from '@dispatch/common'
import { MarketplaceRefusal, type RefusalCode } from './refusal.ts'

/** What is read, and the reason that a fault in it is. */
type Reading = { what: string, code: RefusalCode }

/** Reads a JSON text of a known form. Throws a {@link MarketplaceRefusal} that names every fault. */
export function readJson<T> (text: string, check: Validator<T>, reading: Reading): T {
  return checked(parsed(text, reading), check, reading)
}

/** The value, if it has the form. */
export function checked<T> (value: unknown, check: Validator<T>, { what, code }: Reading): T {
  const fit = boundedValidator(check)(value)
  if (!fit.ok) throw new MarketplaceRefusal(code, `${what}: ${fit.problems.map(inWords).join(' ')}`)
  return fit.value
}

/** The value of a JSON text, whose form is not checked. */
export function parsed (text: string, { what, code }: Reading): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MarketplaceRefusal(code, `${what} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}.`, { cause })
  }
}

function inWords ({ path, message }: Problem): string {
  return path === '' ? message : `${path}: ${message}`
}

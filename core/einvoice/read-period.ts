import type { JsonObject } from '../contract/json.ts'
import { day, known, part } from './fields.ts'
import type { Period } from './model.ts'

/** The period in the field of that name. */
export function readPeriod (data: JsonObject): Period | undefined {
  const given = part(data, 'period')
  return known({ start: day(given, 'start'), end: day(given, 'end') })
}

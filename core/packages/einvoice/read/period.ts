import type { JsonObject } from '@dispatch/common'
import { day, known, objectField } from '../model/fields.ts'
import type { Period } from '../model/model.ts'

/** The period in the field of that name. */
export function readPeriod (data: JsonObject): Period | undefined {
  const given = objectField(data, 'period')
  return known({ start: day(given, 'start'), end: day(given, 'end') })
}

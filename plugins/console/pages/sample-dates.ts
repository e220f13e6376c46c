import { type Json, type JsonObject, memoizeByIdentity } from '@dispatch/common'
import { isList, isObject } from '../form/schema.ts'

const day = /^\d{4}-\d{2}-\d{2}$/

/** Of each sample, what was made of it last, and for which day. */
const lastOf = memoizeByIdentity<JsonObject, { day?: string, dated: JsonObject }>((sample) => ({ dated: sample }))

/**
 * A sample whose own date is today, with all other dates as far before and after it as they were: what was due in a month still is. Without
 * a `date`, the first one of all is today. On one day it is the same object.
 */
export function datedToday (sample: JsonObject): JsonObject {
  const [last, today] = [lastOf(sample), Temporal.Now.plainDateISO('UTC')]
  if (last.day !== today.toString()) Object.assign(last, { day: today.toString(), dated: datedAt(sample, today) })
  return last.dated
}

function datedAt (sample: JsonObject, today: Temporal.PlainDate): JsonObject {
  const own = sample['date']
  const [first] = typeof own === 'string' && isDay(own) ? [own] : daysIn(sample).sort()
  if (first === undefined) return sample
  const passed = Temporal.PlainDate.from(first).until(today, { largestUnit: 'days' })
  return Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, moved(value, passed)]))
}

function isDay (text: string): boolean {
  if (!day.test(text)) return false
  try {
    return Temporal.PlainDate.from(text).toString() === text
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function daysIn (value: Json): string[] {
  if (typeof value === 'string') return isDay(value) ? [value] : []
  if (isList(value)) return value.flatMap(daysIn)
  return isObject(value) ? Object.values(value).flatMap(daysIn) : []
}

function moved (value: Json, passed: Temporal.Duration): Json {
  if (typeof value === 'string') return isDay(value) ? Temporal.PlainDate.from(value).add(passed).toString() : value
  if (isList(value)) return value.map((one) => moved(one, passed))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, moved(one, passed)])) : value
}

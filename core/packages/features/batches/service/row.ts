import { hasMoreValues, isDeeper, isRecord, type JsonObject, maxValues } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import type { CheckedRow } from '@dispatch/core'
import { isUtf8 } from 'node:buffer'
import type { RowProblem } from '../contract/batches.ts'
import type { RowFacts } from '../store/tables.ts'

/** The largest row in bytes: that of the body of a dispatch. */
export const largestRow = 5 * 1024 * 1024

/** Far above any real body. */
const deepest = 64

/** A row as it was read: its body without its id, or why it is none. */
export type ReadRow = { number: number, id?: string, body: string } | { number: number, problem: RowProblem }

/** A row, or the body that all rows after it have in common. */
export type ReadItem = ReadRow | { common: JsonObject }

/** A row of the fields that were read of it. */
export function rowOf (number: number, { id, ...body }: JsonObject): ReadRow {
  if (id === undefined || id === null) return { number, body: JSON.stringify(body) }
  if (typeof id === 'string' && id.isWellFormed() && /^\P{Cc}{1,255}$/u.test(id)) return { number, id, body: JSON.stringify(body) }
  return {
    number,
    problem: problemOf(refusal('validation_error', [{
      path: '/id',
      code: 'format',
      message: 'The id of a row is a text of 1 to 255 characters, on one line.'
    }]))
  }
}

/** The object in a JSON text. Throws a refusal for anything else. */
export function objectOf (json: Buffer, path: string): JsonObject {
  const fault = (code: string, message: string): DispatchError => refusal('validation_error', [{ path, code, message }])
  if (hasMoreValues(json)) throw fault('too_many', `It has more than ${maxValues} values.`)
  if (isDeeper(json, deepest)) throw fault('too_deep', `It has more than ${deepest} arrays and objects inside each other.`)
  let value: unknown
  try {
    value = JSON.parse(json.toString('utf8'))
  } catch {
    throw fault('unreadable', 'It is not JSON.')
  }
  if (!isRecord(value)) throw fault('type', 'It is JSON, but no object.')
  return value as JsonObject
}

/** A row in JSON, or why it is none. */
export function rowOfJson (number: number, json: Buffer): ReadRow {
  try {
    return rowOf(number, objectOf(json, ''))
  } catch (error) {
    if (!(error instanceof DispatchError)) throw error
    return { number, problem: problemOf(error) }
  }
}

/** The facts that are kept of a checked row. */
export function factsOf ({ answer: { plan, recipient: answered }, requested }: CheckedRow): RowFacts {
  const prices: Record<string, number> = {}
  for (const { service, credits, on } of plan) if (on === undefined) prices[service] = (prices[service] ?? 0) + credits
  const { services = [], recipients = 0, amount, recipient = answered } = requested ?? {}
  return {
    services,
    recipients,
    prices,
    ...recipient !== undefined && { recipient },
    ...amount === 'unknown' ? { unknown: true } : amount !== undefined && {
      amount: amount.value,
      ...amount.currency !== undefined && { currency: amount.currency }
    }
  }
}

/** An error as the results show it. */
export function problemOf ({ word, message, reason, details }: DispatchError): RowProblem {
  return {
    error: word,
    message,
    ...reason === undefined ? {} : { reason },
    ...details === undefined ? {} : { details: details.slice(0, 10) }
  }
}

/** The refusal of a file whose text is not UTF-8. `place`: until where it is. */
export function notUtf8 (place: string): DispatchError {
  return refusal('validation_error', [{
    path: '/file',
    code: 'unreadable',
    message: `${place} is not UTF-8: save the file as UTF-8, and send it again.`
  }])
}

/** Throws unless the bytes are UTF-8. */
export function requireUtf8 (bytes: Buffer, place: string): void {
  if (!isUtf8(bytes)) throw notUtf8(place)
}

/** The refusal of a file in which a row, or the heading, is too long. */
export function rowTooLarge (place: string): DispatchError {
  return new DispatchError('payload_too_large', `${place} is larger than ${largestRow / 1024 / 1024} MiB.`)
}

/** The most empty lines of a file: to skip many of them costs more than to receive them compressed. */
export const maxEmptyLines = 100_000

/** The refusal of a file with more of them. */
export function tooManyEmptyLines (): DispatchError {
  return new DispatchError('payload_too_large', `The file has more than ${maxEmptyLines} empty lines.`)
}

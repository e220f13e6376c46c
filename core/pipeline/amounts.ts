import { type Decimal, decimalOf, type Json, type JsonObject, Money } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { type ServiceName, services } from '@dispatch/services'
import { findDispatch, findDocument } from '../store/dispatch/dispatch-views.ts'
import type { ApprovalSubject } from './approval-desk.ts'
import { enclosuresOf } from './enclosures.ts'
import { recordedData } from './plan/recorded-template.ts'

/** A step, as far as it tells an amount. */
export type AmountStep = { service: ServiceName, fields: JsonObject, data: JsonObject | undefined }

type Amount = ApprovalSubject['amount']

/** How deep documents that are made of other documents are followed. */
const deepest = 4

/** The largest amount in the documents that steps make. */
export function amountIn (steps: readonly AmountStep[]): Amount {
  return largestOf(steps.flatMap(({ service, data = {} }): Amount[] => {
    const stated = statedIn(data)
    if (stated.length > 0) {
      const { currency } = data
      return [{ value: Money.max(...stated).toNumber(), ...typeof currency === 'string' && { currency } }]
    }
    return services[service].aboutMoney === true ? ['unknown'] : []
  }))
}

/** An unknown amount counts as the largest: it may be. */
export function largestOf (amounts: readonly Amount[]): Amount {
  if (amounts.includes('unknown')) return 'unknown'
  return amounts.flatMap((one) => one === undefined || one === 'unknown' ? [] : [one]).toSorted((a, b) => b.value - a.value)[0]
}

/**
 * What stands in the documents that steps only pass on: the services and amounts of the dispatches that made them. Nobody knows what stands
 * in an uploaded file, or in a document whose dispatch is gone. Pictures that are shown inside a mail are no documents.
 */
export async function foundInGiven (
  database: Database,
  companyId: number,
  steps: readonly Pick<AmountStep, 'service' | 'fields'>[],
  depth = 0
): Promise<{ services: readonly ServiceName[], amounts: readonly Amount[] }> {
  const given = steps.flatMap(enclosuresOf).filter(({ inline }) => inline === undefined)
  if (given.length === 0) return { services: [], amounts: [] }
  const ids = [...new Set(given.flatMap(({ documentId }) => documentId ?? []))]
  const documents = await Promise.all(ids.map((id) => findDocument(database, companyId, id)))
  const origins = [...new Set(documents.flatMap((document) => document?.dispatch_id ?? []))]
  const records = depth < deepest ? await Promise.all(origins.map((id) => findDispatch(database, companyId, id))) : []
  const found = await Promise.all(records.map(async (record) => {
    if (record === undefined) return { services: [], amounts: ['unknown' as const] }
    const made = record.steps.map((step) => ({
      service: step.service as ServiceName,
      fields: step.fields,
      data: recordedData(record, step) ?? undefined
    }))
    const further = await foundInGiven(database, companyId, made, depth + 1)
    return { services: [...made.map(({ service }) => service), ...further.services], amounts: [amountIn(made), ...further.amounts] }
  }))
  const isUnknown = depth >= deepest || documents.includes(undefined) || given.some(({ fileId }) => fileId !== undefined)
  return {
    services: found.flatMap((one) => one.services),
    amounts: [...isUnknown ? ['unknown' as const] : [], ...found.flatMap((one) => one.amounts)]
  }
}

/** The total that data state, and those that follow from its parts: a document says what it costs in all of them. */
function statedIn (data: JsonObject): Decimal[] {
  const { total, subtotal, taxAmount, lines } = data
  const ofLines = Array.isArray(lines)
    ? lines.flatMap((line: Json) => decimalOf((line as { total?: unknown } | null)?.total)?.abs() ?? [])
    : []
  return [
    decimalOf(total),
    decimalOf(subtotal)?.plus(decimalOf(taxAmount) ?? 0),
    ofLines.length === 0 ? undefined : Money.sum(...ofLines)
  ].flatMap((one) => one?.abs() ?? [])
}

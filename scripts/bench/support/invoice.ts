import type { JsonObject } from '@dispatch/common'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const sample = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../templates/invoice/sample.json', import.meta.url)), 'utf8')
) as JsonObject

/** The data of an invoice with 12 lines. */
export function invoiceData (number: string): JsonObject {
  return { ...sample, number }
}

/** The body that dispatches it, 2.8 KB of JSON. */
export function invoiceRequest (number: string): JsonObject {
  return { documentType: 'INVOICE', template: { id: 1, data: invoiceData(number) }, metadata: { orderId: 'A-1001' } }
}

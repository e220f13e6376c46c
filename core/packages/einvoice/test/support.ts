import type { JsonObject } from '../../common/json.ts'
import type { EInvoiceFormat } from '../model/profiles.ts'
import { totalsOf } from '../model/totals.ts'
import { modelOf } from '../read/read.ts'
import { checkEInvoice } from '../rules/check.ts'
import { writeCii } from '../write/cii.ts'
import { writeUbl } from '../write/ubl.ts'
import { type Element, readXml } from './xml.ts'

/** An ordinary invoice between two companies, valid in every format. */
export const plain = {
  number: 'F-1',
  date: '2026-03-14',
  dueDate: '2026-04-13',
  buyerReference: 'B-1',
  seller: { name: 'Müller & Söhne', address: '1 rue A', city: 'Lyon', postalCode: '69001', country: 'FR', vatId: 'FR39732829320' },
  customer: { name: 'Ada <Ltd>', address: 'Calle 2', city: 'Madrid', postalCode: '28001', country: 'ES', vatId: 'ESX1234567X' },
  lines: [{ description: 'Tea', quantity: 2, unitPrice: '10.00', taxRate: 20 }]
} as const satisfies JsonObject

/** `id path` of every problem, with the path below the data. */
export function reported (data: JsonObject, format: EInvoiceFormat = 'UBL'): string[] {
  return checkEInvoice(data, { format, currency: 'EUR' }, '').problems.map(({ code, path }) => `${code} ${path}`)
}

export function ublText (data: JsonObject): string {
  const invoice = modelOf(data, { format: 'UBL', currency: 'EUR' })
  return writeUbl(invoice, totalsOf(invoice))
}

export function ciiText (data: JsonObject, format: EInvoiceFormat = 'CII'): string {
  const invoice = modelOf(data, { format, currency: 'EUR' })
  return writeCii(invoice, totalsOf(invoice))
}

export function ubl (data: JsonObject): Element {
  return readXml(ublText(data))
}

export function cii (data: JsonObject): Element {
  return readXml(ciiText(data))
}

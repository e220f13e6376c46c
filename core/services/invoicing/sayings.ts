import type { JsonObject } from '@dispatch/common'
import { type EInvoiceFormat, type SellerCode, sellerCodes, sellerStatus, statusCodes, writeStatus } from '@dispatch/einvoice'
import type { Sayings } from '../service.ts'

/** Of what has ended otherwise, nothing more is said. */
const ended: ReadonlySet<string | null> = new Set(['rejected', 'void', 'uncollectible'])

/** What a seller says of an e-invoice to the French platforms. */
export function sayingsOf<Fields> (formatOf: (fields: Fields) => EInvoiceFormat | undefined, told: (fields: Fields) => JsonObject): Sayings<
  Fields
> {
  return {
    names: Object.fromEntries(sellerCodes.map((code) => [code, statusCodes[code].name])),

    codes (fields, delivery) {
      if (formatOf(fields) === undefined || ended.has(delivery)) return []
      // What was missing is there: only of an invoice whose customer waits for it.
      return sellerCodes.filter((code) => code !== '209' || delivery === 'suspended')
    },

    becomes: (code) => code === '212' ? 'paid' : undefined,

    of (fields, data, { code, ...saying }, { id, issued }) {
      const format = formatOf(fields) ?? 'FACTUR_X'
      const { status, problems } = sellerStatus({ ...told(fields), ...data }, { ...saying, code: code as SellerCode }, {
        id,
        issued,
        reading: { format, currency: undefined, rules: 'FRANCE' }
      })
      return problems.length > 0 ? { problems } : { problems, said: { status: { ...status }, message: writeStatus(status) } }
    }
  }
}

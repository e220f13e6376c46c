import { type Decimal, decimalOf, isRecord, type JsonObject, Money, type Problem } from '@dispatch/common'
import { type EInvoiceProfile, profiles } from '../model/profiles.ts'
import { isCountedIn } from '../model/sub-lines.ts'
import { isOneGroup } from '../model/totals.ts'
import type { FoundTax, Parsed } from '../parse/parsed.ts'
import { familyOf } from './vat.ts'

const zero = new Money(0)
/** How far VAT and what it is taken of may be from the computed: validators accept any difference below 1. */
const tolerance = 1

function sumOf (parts: readonly (Decimal | undefined)[]): Decimal {
  return parts.reduce<Decimal>((sum, part) => sum.add(part ?? zero), zero)
}

function allOf (data: JsonObject, name: string): JsonObject[] {
  const parts = data[name]
  return Array.isArray(parts) ? parts.filter(isRecord) as JsonObject[] : []
}

/** The parts that count: of the lines, those that neither group others nor only say something. */
function partsOf (data: JsonObject, name: string): JsonObject[] {
  return allOf(data, name).filter(isCountedIn)
}

/** The rules about what a file states, beside those that data break too. */
export const statedRules = [
  ...['01', '04', '05', '12', '13', '14', '15', '21', '23', '24', '25'].map((number) => `BR-${number}`),
  ...['10', '11', '12', '13', '14', '15', '16', '17', '18'].map((number) => `BR-CO-${number}`)
]

/** A profile, and how much it says: whether it has lines, and whether it has the sum of the lines and the VAT of each rate. */
type Extent = { profile: EInvoiceProfile, hasLines: boolean, hasGroups: boolean }

/**
 * The rules about what a file must state and the data need not, because it is computed: that it is there, and that the sums of the file are
 * those of its own parts.
 */
export function statedProblems (parsed: Parsed, extent: Extent): Problem[] {
  return [...missing(parsed, extent), ...unaddressed(parsed, extent), ...wrongSums(parsed, extent),
    ...extent.hasGroups ? wrongGroups(parsed, extent) : []]
}

type Required = { code: string, path: string, value: unknown, message: string }

function missing ({ data, specification, stated, file }: Parsed, { hasLines, hasGroups }: Extent): Problem[] {
  const line = ({ id, unit, total, name }: JsonObject, index: number): Required[] => {
    const at = `/lines/${index}`
    return [
      { code: 'BR-21', path: `${at}/id`, value: id, message: 'A line has an id (BT-126).' },
      { code: 'BR-23', path: `${at}/unit`, value: unit, message: 'A line has a unit (BT-130).' },
      { code: 'BR-24', path: `${at}/total`, value: total, message: 'A line states its total (BT-131).' },
      {
        code: 'BR-25',
        path: `${at}/description`,
        value: name ?? file.nodes.get(`${at}/name`),
        message: 'A line has the name of what is invoiced (BT-153).'
      }
    ]
  }
  const { subtotal } = data
  const required: Required[] = [
    { code: 'BR-01', path: '', value: specification, message: 'An invoice names the specification that it follows (BT-24).' },
    { code: 'BR-04', path: '/type', value: data['type'], message: 'An invoice has a type (BT-3).' },
    { code: 'BR-05', path: '/currency', value: data['currency'], message: 'An invoice has a currency (BT-5).' },
    ...hasGroups
      ? [{ code: 'BR-12', path: '/subtotal', value: subtotal, message: 'An invoice states the sum of its lines (BT-106).' }]
      : [],
    { code: 'BR-13', path: '', value: stated['base'], message: 'An invoice states its total without VAT (BT-109).' },
    { code: 'BR-14', path: '/total', value: data['total'], message: 'An invoice states its total with VAT (BT-112).' },
    { code: 'BR-15', path: '/amountDue', value: data['amountDue'], message: 'An invoice states the amount due (BT-115).' },
    ...hasLines ? allOf(data, 'lines').flatMap((one, index) => isCountedIn(one) ? line(one, index) : []) : []
  ]
  return required.filter(({ value }) => value === undefined).map(({ code, path, message }) => ({ path, code, message }))
}

/** An address of data is made of a party's numbers, where it is required; a file states it. */
const addressRules = {
  Peppol: [['PEPPOL-EN16931-R020', 'seller'], ['PEPPOL-EN16931-R010', 'customer']],
  France: [['BR-FR-13', 'seller'], ['BR-FR-12', 'customer']]
} as const

function unaddressed ({ data }: Parsed, { profile }: Extent): Problem[] {
  const { addresses } = profiles[profile]
  if (addresses === undefined) return []
  return addressRules[addresses].flatMap(([code, party]) => {
    const { [party]: given } = data
    const isMissing = isRecord(given) && given['electronicAddress'] === undefined
    return isMissing ? [{ path: `/${party}/electronicAddress`, code, message: `The ${party} has an electronic address.` }] : []
  })
}

type Sum = { code: string, path: string, said: Decimal | undefined, computed: Decimal, message: string }

function wrongSums ({ data, stated, taxes }: Parsed, { hasLines, hasGroups }: Extent): Problem[] {
  const base = decimalOf(stated['base'])
  const [tax, total, subtotal, due] = ['taxAmount', 'total', 'subtotal', 'amountDue'].map((name) => decimalOf(data[name]))
  const [taken, added] = [decimalOf(stated['allowances']), decimalOf(stated['charges'])]
  const sumIn = (name: string, field: string): Decimal => sumOf(partsOf(data, name).map((part) => decimalOf(part[field])))
  const lines = {
    code: 'BR-CO-10',
    path: '/subtotal',
    said: subtotal,
    computed: sumIn('lines', 'total'),
    message: 'The sum of the lines (BT-106) is that of their totals'
  }
  const groups: Sum[] = [
    {
      code: 'BR-CO-13',
      path: '',
      said: base,
      computed: sumOf([subtotal, taken?.neg(), added]),
      message: 'The total without VAT (BT-109) is the sum of the lines minus allowances, plus charges'
    },
    {
      code: 'BR-CO-14',
      path: '/taxAmount',
      said: tax,
      computed: sumOf(taxes.map(({ amount }) => decimalOf(amount))),
      message: 'The VAT (BT-110) is the sum of that of each rate'
    },
    {
      code: 'BR-CO-16',
      path: '/amountDue',
      said: due,
      computed: sumOf([total, decimalOf(data['prepaidAmount'])?.neg(), decimalOf(data['roundingAmount'])]),
      message: 'The amount due (BT-115) is the total minus what is prepaid, plus the rounding'
    }
  ]
  const sums: Sum[] = [
    ...hasLines ? [lines] : [],
    {
      code: 'BR-CO-11',
      path: '',
      said: taken ?? zero,
      computed: sumIn('allowances', 'amount'),
      message: 'The sum of the allowances (BT-107) is that of their amounts'
    },
    {
      code: 'BR-CO-12',
      path: '',
      said: added ?? zero,
      computed: sumIn('charges', 'amount'),
      message: 'The sum of the charges (BT-108) is that of their amounts'
    },
    ...hasGroups ? groups : [],
    {
      code: 'BR-CO-15',
      path: '/total',
      said: total,
      computed: sumOf([base, tax]),
      message: 'The total with VAT (BT-112) is the one without VAT, plus VAT'
    }
  ]
  return sums.flatMap(({ code, path, said, computed, message }) =>
    said === undefined || said.eq(computed)
      ? []
      : [{ path, code, message: `${message}: the file says ${said.toFixed()}, not ${computed.toFixed()}.` }]
  )
}

/** The VAT of each category and rate: BR-CO-17, BR-CO-18 and the rules -08 of each category. */
function wrongGroups ({ data, taxes }: Parsed, { hasLines }: Extent): Problem[] {
  if (taxes.length === 0) return [{ path: '', code: 'BR-CO-18', message: 'An invoice has the VAT of each category and rate (BG-23).' }]
  return taxes.flatMap((tax) => [...hasLines ? wrongBase(data, tax) : [], ...wrongTax(tax)])
}

function wrongBase (data: JsonObject, { category = '', rate = '0', base = '0' }: FoundTax): Problem[] {
  const isOwn = ({ taxCategory, taxRate = '0' }: JsonObject): boolean =>
    taxCategory === category && (isOneGroup(category) || decimalOf(taxRate)?.eq(decimalOf(rate) ?? zero) === true)
  const sum = (name: string, field: string): Decimal => sumOf(partsOf(data, name).filter(isOwn).map((part) => decimalOf(part[field])))
  const computed = sum('lines', 'total').sub(sum('allowances', 'amount')).add(sum('charges', 'amount'))
  if (computed.sub(decimalOf(base) ?? zero).abs().lt(tolerance)) return []
  const message =
    `What VAT of ${category} ${rate} % is taken of (BT-116) is the sum of its lines minus allowances, plus charges: the file says ` +
    `${base}, not ${computed.toFixed()}.`
  return [{ path: '', code: `${familyOf(category)}-08`, message }]
}

function wrongTax ({ category = '', rate = '0', base = '0', amount = '0' }: FoundTax): Problem[] {
  const computed = (decimalOf(base) ?? zero).mul(decimalOf(rate) ?? zero).div(100)
  if (computed.sub(decimalOf(amount) ?? zero).abs().lt(tolerance)) return []
  const message = `VAT of ${category} ${rate} % (BT-117) is ${computed.toFixed(2)} of ${base}: the file says ${amount}.`
  return [{ path: '', code: 'BR-CO-17', message }]
}

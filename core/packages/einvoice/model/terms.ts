import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { type Level, reaches } from './profiles.ts'

/** A term of EN 16931-1: its id, its place in the data (`*` is each element of a list), and the least profile that can say it. */
export type Term = { id: string, at: string, level: Level }

/** Every group and term that the data have a place for, the group before its terms. */
export const terms: readonly Term[] = `
  BT-1 MINIMUM /number
  BT-2 MINIMUM /date
  BT-3 MINIMUM /type
  BT-5 MINIMUM /currency
  BT-6 BASIC_WL /taxCurrency
  BT-7 EN16931 /taxPointDate
  BT-8 BASIC_WL /taxPointCode
  BT-9 BASIC_WL /dueDate
  BT-10 MINIMUM /buyerReference
  BT-11 EN16931 /projectReference
  BT-12 BASIC_WL /contractReference
  BT-13 MINIMUM /orderReference
  BT-14 EN16931 /salesOrderReference
  BT-15 EN16931 /receiptReference
  BT-16 BASIC_WL /despatchReference
  BT-17 EN16931 /tenderReference
  BT-18 EN16931 /object
  BT-19 BASIC_WL /accountingReference
  BT-20 BASIC_WL /paymentTerms
  BT-22 BASIC_WL /notes
  BT-22 BASIC_WL /conditions
  BG-1 BASIC_WL /statements
  BT-21 BASIC_WL /statements/*/code
  BT-22 BASIC_WL /statements/*/text
  BT-23 MINIMUM /businessProcess
  BT-24 MINIMUM /eInvoiceProfile
  BG-3 BASIC_WL /precedingInvoices
  BT-25 BASIC_WL /precedingInvoices/*/number
  BT-26 BASIC_WL /precedingInvoices/*/date
  BT-27 MINIMUM /seller/name
  BT-28 BASIC_WL /seller/tradingName
  BT-29 BASIC_WL /seller/id
  BT-30 MINIMUM /seller/registration
  BT-31 MINIMUM /seller/vatId
  BT-34 BASIC_WL /seller/electronicAddress
  BT-35 BASIC_WL /seller/address
  BT-36 BASIC_WL /seller/addressLine2
  BT-162 BASIC_WL /seller/addressLine3
  BT-37 BASIC_WL /seller/city
  BT-38 BASIC_WL /seller/postalCode
  BT-39 BASIC_WL /seller/region
  BT-40 MINIMUM /seller/country
  BT-41 EN16931 /seller/contact
  BT-42 EN16931 /seller/phone
  BT-43 EN16931 /seller/email
  BT-32 MINIMUM /seller/taxId
  BT-33 EN16931 /seller/legalForm
  BT-44 MINIMUM /customer/name
  BT-45 EN16931 /customer/tradingName
  BT-46 BASIC_WL /customer/id
  BT-47 MINIMUM /customer/registration
  BT-48 BASIC_WL /customer/vatId
  BT-49 BASIC_WL /customer/electronicAddress
  BT-50 BASIC_WL /customer/address
  BT-51 BASIC_WL /customer/addressLine2
  BT-163 BASIC_WL /customer/addressLine3
  BT-52 BASIC_WL /customer/city
  BT-53 BASIC_WL /customer/postalCode
  BT-54 BASIC_WL /customer/region
  BT-55 BASIC_WL /customer/country
  BT-56 EN16931 /customer/contact
  BT-57 EN16931 /customer/phone
  BT-58 EN16931 /customer/email
  BG-10 BASIC_WL /payee
  BT-59 BASIC_WL /payee/name
  BT-60 BASIC_WL /payee/id
  BT-61 BASIC_WL /payee/registration
  BG-11 BASIC_WL /taxRepresentative
  BT-62 BASIC_WL /taxRepresentative/name
  BT-63 BASIC_WL /taxRepresentative/vatId
  BT-64 BASIC_WL /taxRepresentative/address
  BT-65 BASIC_WL /taxRepresentative/addressLine2
  BT-164 BASIC_WL /taxRepresentative/addressLine3
  BT-66 BASIC_WL /taxRepresentative/city
  BT-67 BASIC_WL /taxRepresentative/postalCode
  BT-68 BASIC_WL /taxRepresentative/region
  BT-69 BASIC_WL /taxRepresentative/country
  BG-13 BASIC_WL /delivery
  BT-70 BASIC_WL /delivery/name
  BT-71 BASIC_WL /delivery/location
  BT-72 BASIC_WL /delivery/date
  BT-75 BASIC_WL /delivery/address
  BT-76 BASIC_WL /delivery/addressLine2
  BT-165 BASIC_WL /delivery/addressLine3
  BT-77 BASIC_WL /delivery/city
  BT-78 BASIC_WL /delivery/postalCode
  BT-79 BASIC_WL /delivery/region
  BT-80 BASIC_WL /delivery/country
  BG-14 BASIC_WL /period
  BT-73 BASIC_WL /period/start
  BT-74 BASIC_WL /period/end
  BG-16 BASIC_WL /payment
  BT-81 BASIC_WL /payment/means
  BT-82 EN16931 /payment/text
  BT-83 BASIC_WL /payment/reference
  BG-16 EXTENDED /otherPayments
  BT-81 EXTENDED /otherPayments/*/means
  BT-82 EXTENDED /otherPayments/*/text
  BG-17 EXTENDED /otherPayments/*/bankDetails
  BG-18 EXTENDED /otherPayments/*/card
  BT-91 EXTENDED /otherPayments/*/mandate/account
  BG-17 BASIC_WL /bankDetails
  BT-84 BASIC_WL /bankDetails/iban
  BT-84 BASIC_WL /bankDetails/account
  BG-17 BASIC_WL /otherAccounts
  BT-85 EN16931 /bankDetails/accountHolder
  BT-86 EN16931 /bankDetails/bic
  BG-18 EN16931 /payment/card
  BT-87 EN16931 /payment/card/number
  BT-88 EN16931 /payment/card/holder
  BG-19 BASIC_WL /payment/mandate
  BT-89 BASIC_WL /payment/mandate/reference
  BT-90 BASIC_WL /payment/mandate/creditorId
  BT-91 BASIC_WL /payment/mandate/account
  BG-20 BASIC_WL /allowances
  BT-92 BASIC_WL /allowances/*/amount
  BT-93 BASIC_WL /allowances/*/base
  BT-94 BASIC_WL /allowances/*/percent
  BT-95 BASIC_WL /allowances/*/taxCategory
  BT-96 BASIC_WL /allowances/*/taxRate
  BT-97 BASIC_WL /allowances/*/reason
  BT-98 BASIC_WL /allowances/*/reasonCode
  BG-21 BASIC_WL /charges
  BT-99 BASIC_WL /charges/*/amount
  BT-100 BASIC_WL /charges/*/base
  BT-101 BASIC_WL /charges/*/percent
  BT-102 BASIC_WL /charges/*/taxCategory
  BT-103 BASIC_WL /charges/*/taxRate
  BT-104 BASIC_WL /charges/*/reason
  BT-105 BASIC_WL /charges/*/reasonCode
  BT-106 BASIC_WL /subtotal
  BT-110 MINIMUM /taxAmount
  BT-111 BASIC_WL /taxCurrencyAmount
  BT-112 MINIMUM /total
  BT-113 BASIC_WL /prepaidAmount
  BT-114 EN16931 /roundingAmount
  BT-115 MINIMUM /amountDue
  BT-120 BASIC_WL /taxExemptionReason
  BT-121 BASIC_WL /taxExemptionCode
  BG-24 EN16931 /attachments
  BT-122 EN16931 /attachments/*/id
  BT-123 EN16931 /attachments/*/description
  BT-124 EN16931 /attachments/*/url
  BT-125 EN16931 /attachments/*/content
  BG-25 BASIC /lines
  BT-126 BASIC /lines/*/id
  BT-X-304 EXTENDED /lines/*/parentLine
  BT-X-8 EXTENDED /lines/*/lineType
  BT-127 BASIC /lines/*/note
  BT-128 EN16931 /lines/*/object
  BT-129 BASIC /lines/*/quantity
  BT-130 BASIC /lines/*/unit
  BT-131 BASIC /lines/*/total
  BT-132 EN16931 /lines/*/orderLine
  BT-133 EN16931 /lines/*/accountingReference
  BG-26 BASIC /lines/*/period
  BT-134 BASIC /lines/*/period/start
  BT-135 BASIC /lines/*/period/end
  BG-27 BASIC /lines/*/allowances
  BT-136 BASIC /lines/*/allowances/*/amount
  BT-137 EN16931 /lines/*/allowances/*/base
  BT-138 EN16931 /lines/*/allowances/*/percent
  BT-139 BASIC /lines/*/allowances/*/reason
  BT-140 BASIC /lines/*/allowances/*/reasonCode
  BG-28 BASIC /lines/*/charges
  BT-141 BASIC /lines/*/charges/*/amount
  BT-142 EN16931 /lines/*/charges/*/base
  BT-143 EN16931 /lines/*/charges/*/percent
  BT-144 BASIC /lines/*/charges/*/reason
  BT-145 BASIC /lines/*/charges/*/reasonCode
  BT-146 BASIC /lines/*/unitPrice
  BT-147 BASIC /lines/*/priceDiscount
  BT-148 BASIC /lines/*/grossPrice
  BT-149 BASIC /lines/*/priceQuantity
  BT-149 BASIC /lines/*/grossPriceQuantity
  BT-151 BASIC /lines/*/taxCategory
  BT-152 BASIC /lines/*/taxRate
  BT-153 BASIC /lines/*/name
  BT-154 EN16931 /lines/*/description
  BT-155 EN16931 /lines/*/sellerItemId
  BT-156 EN16931 /lines/*/buyerItemId
  BT-157 BASIC /lines/*/standardItemId
  BT-158 EN16931 /lines/*/classifications
  BT-159 EN16931 /lines/*/origin
  BG-32 EN16931 /lines/*/attributes
  BT-160 EN16931 /lines/*/attributes/*/name
  BT-161 EN16931 /lines/*/attributes/*/value
`.trim().split('\n').map((row) => {
  const [id = '', level = 'EN16931', at = ''] = row.trim().split(' ')
  return { id, at, level: level as Level }
})

/**
 * Terms that a profile without lines leaves out by its nature: the sums that it states are made of them. A line without a name has its
 * description as its name.
 */
function isImplied ({ at }: Term, level: Level, line: JsonObject | undefined): boolean {
  return (/^\/lines(\/|$)/.test(at) && !reaches(level, 'BASIC')) || (at === '/lines/*/description' && line?.['name'] === undefined)
}

/** The terms that a profile of this level cannot say. */
function termsBeyond (level: Level): readonly Term[] {
  return beyond[level] ??= terms.filter((term) => !reaches(level, term.level))
}

const beyond: Partial<Record<Level, readonly Term[]>> = {}

/** What the data say and a profile of this level cannot: each group or term with its place, a group once for all its terms. */
export function unsayable (data: JsonObject, level: Level): { id: string, at: string }[] {
  const found = termsBeyond(level).flatMap((term) =>
    occurrences(data, term.at).filter(({ holder }) => !isImplied(term, level, holder)).map(({ at }) => ({ id: term.id, at }))
  )
  return found.filter(({ at }) => !found.some((other) => at.startsWith(`${other.at}/`)))
}

/** The data without what a profile of this level cannot say. */
export function sayable (data: JsonObject, level: Level): JsonObject {
  return termsBeyond(level).reduce((so, term) => without(so, term.at.slice(1).split('/'), term, level), data)
}

/** The places of a term that hold something, and what they are in. */
function occurrences (data: JsonObject, pattern: string): { at: string, holder: JsonObject }[] {
  const steps = pattern.slice(1).split('/')
  const last = steps.at(-1) ?? ''
  const holders = steps.slice(0, -1).reduce<{ at: string, value: Json | undefined }[]>(
    (so, step) =>
      so.flatMap(({ at, value }) =>
        step === '*'
          ? elementsOf(value).map((one, index) => ({ at: `${at}/${index}`, value: one }))
          : [{ at: `${at}/${step}`, value: isRecord(value) ? value[step] : undefined }]
      ),
    [{ at: '', value: data }]
  )
  return holders.flatMap(({ at, value }) =>
    isRecord(value) && isSaid(value[last])
      ? [{ at: `${at}/${last}`, holder: value }]
      : []
  )
}

function elementsOf (value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value as readonly Json[] : []
}

function isSaid (value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
}

function without (data: JsonObject, [step = '', ...rest]: readonly string[], term: Term, level: Level): JsonObject {
  const value = data[step]
  if (rest.length === 0) {
    return isImplied(term, level, data) || value === undefined
      ? data
      : Object.fromEntries(Object.entries(data).filter(([name]) => name !== step))
  }
  const [next, ...after] = rest
  if (next !== '*') return isRecord(value) ? { ...data, [step]: without(value, rest, term, level) } : data
  if (!Array.isArray(value)) return data
  return { ...data, [step]: elementsOf(value).map((one) => isRecord(one) ? without(one, after, term, level) : one) }
}

const byPlace = new Map(terms.map((term) => [term.at, term]))

/** The term, or the group, of a place in the data. */
export function termAt (pointer: string): Term | undefined {
  for (let at = pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*').replace(/\/\*$/, ''); at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const term = byPlace.get(at.replace(/\/\*$/, ''))
    if (term !== undefined) return term
  }
  return undefined
}

import type { AllowanceCharge, Identifier, Period, Tax, Text } from '../model/model.ts'
import { group, value, type XmlFragment } from './xml.ts'

/** UNTDID 2379, 102: YYYYMMDD. */
const dayFormat = { format: '102' } as const

/** A day in an element of its own. */
export function date (
  name: string,
  day: Text,
  type: 'udt:DateTimeString' | 'udt:DateString' | 'qdt:DateTimeString' = 'udt:DateTimeString'
): XmlFragment {
  return group(name, [value(type, day?.replaceAll('-', ''), dayFormat)])
}

/** An identifier of a party: one with a scheme is a global identifier. */
export function ciiIdentifier (given: Identifier | undefined): XmlFragment {
  return given?.scheme === undefined ? value('ram:ID', given?.id) : value('ram:GlobalID', given.id, { schemeID: given.scheme })
}

/** A reference to another document. */
export function ciiReference (name: string, id: Text): XmlFragment {
  return group(name, [value('ram:IssuerAssignedID', id)])
}

export function ciiPeriod (given: Period | undefined): XmlFragment {
  return group('ram:BillingSpecifiedPeriod', [date('ram:StartDateTime', given?.start), date('ram:EndDateTime', given?.end)])
}

/** The invoiced object: a document of type 130 (UNTDID 1001). */
export function object (given: Identifier | undefined): XmlFragment {
  return given === undefined ? '' : group('ram:AdditionalReferencedDocument', [
    value('ram:IssuerAssignedID', given.id),
    value('ram:TypeCode', '130'),
    value('ram:ReferenceTypeCode', given.scheme)
  ])
}

export function tradeTax (name: string, { category, rate }: Tax): XmlFragment {
  return group(name, [
    value('ram:TypeCode', 'VAT'),
    value('ram:CategoryCode', category),
    value('ram:RateApplicablePercent', rate?.toFixed())
  ])
}

/** An allowance or charge. On a line it has the line's VAT, and states none. */
export function ciiAllowanceCharge ({ kind, percent, base, amount, reasonCode, reason, tax }: AllowanceCharge, on?: 'line'): XmlFragment {
  return group('ram:SpecifiedTradeAllowanceCharge', [
    group('ram:ChargeIndicator', [value('udt:Indicator', String(kind === 'charge'))]),
    value('ram:CalculationPercent', percent?.toFixed()),
    value('ram:BasisAmount', base?.toFixed(2)),
    value('ram:ActualAmount', amount?.toFixed(2)),
    value('ram:ReasonCode', reasonCode),
    value('ram:Reason', reason),
    on === 'line' ? '' : tradeTax('ram:CategoryTradeTax', tax)
  ])
}

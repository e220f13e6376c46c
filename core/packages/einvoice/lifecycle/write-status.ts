import { document, group, value, type XmlFragment } from '../write/xml.ts'
import { factsOf, isStatusCode } from './status-codes.ts'
import { BrokenStatus, checkStatus, type InvoiceStatus, type StatusAmount, type StatusDetail, statusGuideline,
  type StatusParty } from './status.ts'

const unece = 'urn:un:unece:uncefact:data:standard'
const namespaces = {
  'xmlns:qdt': `${unece}:QualifiedDataType:100`,
  'xmlns:udt': `${unece}:UnqualifiedDataType:100`,
  'xmlns:ram': `${unece}:ReusableAggregateBusinessInformationEntity:100`,
  'xmlns:rsm': `${unece}:CrossDomainAcknowledgementAndResponse:100`
}

/** Writes a status as a CDAR message. Throws {@link BrokenStatus} with the rules of French platforms that it breaks. */
export function writeStatus (status: InvoiceStatus): string {
  const problems = checkStatus(status)
  if (problems.length > 0) throw new BrokenStatus(problems)
  const { id, process, issued, sender, issuer, recipients } = status
  return document('rsm:CrossDomainAcknowledgementAndResponse', namespaces, [
    group('rsm:ExchangedDocumentContext', [
      group('ram:BusinessProcessSpecifiedDocumentContextParameter', [value('ram:ID', process)]),
      group('ram:GuidelineSpecifiedDocumentContextParameter', [value('ram:ID', statusGuideline)])
    ]),
    group('rsm:ExchangedDocument', [
      value('ram:ID', id),
      group('ram:IssueDateTime', [time('udt:DateTimeString', issued)]),
      party('ram:SenderTradeParty', sender),
      party('ram:IssuerTradeParty', issuer),
      ...recipients.map((recipient) => party('ram:RecipientTradeParty', recipient))
    ]),
    acknowledgement(status)
  ])
}

function acknowledgement (status: InvoiceStatus): XmlFragment {
  const { code, name, at, invoice: { number, type, date, received, seller }, details } = status
  const { phase, ack } = isStatusCode(code) ? factsOf(code) : { phase: '23' }
  return group('rsm:AcknowledgementDocument', [
    group('ram:MultipleReferencesIndicator', [value('udt:Indicator', 'false')]),
    value('ram:TypeCode', phase),
    group('ram:IssueDateTime', [time('udt:DateTimeString', at)]),
    group('ram:ReferenceReferencedDocument', [
      value('ram:IssuerAssignedID', number),
      value('ram:StatusCode', ack),
      value('ram:TypeCode', type),
      group('ram:ReceiptDateTime', [received === undefined ? '' : time('udt:DateTimeString', received)]),
      group('ram:FormattedIssueDateTime', [day('qdt:DateTimeString', date)]),
      value('ram:ProcessConditionCode', code),
      value('ram:ProcessCondition', name),
      group('ram:IssuerTradeParty', [value('ram:GlobalID', seller?.id, { schemeID: seller?.scheme })]),
      ...details.map(detail)
    ])
  ])
}

function detail ({ reasonCode, reason, actionCode, action, amounts = [] }: StatusDetail, index: number): XmlFragment {
  return group('ram:SpecifiedDocumentStatus', [
    value('ram:ReasonCode', reasonCode),
    value('ram:Reason', reason),
    value('ram:RequestedActionCode', actionCode),
    value('ram:RequestedAction', action),
    value('ram:SequenceNumeric', String(index + 1)),
    ...amounts.map(characteristic)
  ])
}

function characteristic ({ kind, of, name, amount, currency, rate, date, isChanged = false }: StatusAmount): XmlFragment {
  return group('ram:SpecifiedDocumentCharacteristic', [
    value('ram:ID', of),
    value('ram:TypeCode', kind),
    group('ram:ValueChangedIndicator', [value('udt:IndicatorString', String(isChanged))]),
    value('ram:Name', name),
    value('ram:ValueAmount', amount, { currencyID: currency }),
    group('ram:ValueDateTime', [day('udt:DateTimeString', date)]),
    value('ram:ValuePercent', rate)
  ])
}

function party (name: string, { role, id, name: called, address }: StatusParty): XmlFragment {
  return group(name, [
    value('ram:GlobalID', id?.id, { schemeID: id?.scheme }),
    value('ram:Name', called),
    value('ram:RoleCode', role),
    group('ram:URIUniversalCommunication', [value('ram:URIID', address?.id, { schemeID: address?.scheme })])
  ])
}

/** A time with format 204: YYYYMMDDhhmmss. */
function time (name: string, at: string): XmlFragment {
  return value(name, at.replaceAll(/\D/g, '').slice(0, 14).padEnd(14, '0'), { format: '204' })
}

/** A day with format 102. */
function day (name: string, at: string | undefined): XmlFragment {
  return value(name, at?.replaceAll('-', ''), { format: '102' })
}

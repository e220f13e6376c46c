import { nodesAt } from '../parse/fields.ts'
import { UnreadableInvoice } from '../parse/unreadable.ts'
import { parseXml, type XmlNode } from '../parse/xml.ts'
import { factsOf, isStatusCode } from './status-codes.ts'
import type { InvoiceStatus, StatusAmount, StatusDetail, StatusParty } from './status.ts'

const root = 'rsm:CrossDomainAcknowledgementAndResponse'

/** The most bytes of a message: platforms send none that is larger. */
const maxBytes = 5 * 1024 * 1024
const maxReferences = 10_000

/**
 * The statuses in a CDAR message: one for each invoice that it is about. What it says of an invoice and is not known here is left out.
 * Throws {@link UnreadableInvoice} for bytes that are no such message.
 */
export function readStatus (bytes: Uint8Array): InvoiceStatus[] {
  if (bytes.length > maxBytes) throw new UnreadableInvoice('too_large', `A message about invoices has ${maxBytes} bytes at most.`)
  const message = parseXml(bytes)
  if (message.name !== root) {
    throw new UnreadableInvoice('not_an_invoice', `This is no message about an invoice (CDAR), but ${message.name}.`)
  }
  const [exchanged] = nodesAt(message, 'rsm:ExchangedDocument')
  if (exchanged === undefined) throw new UnreadableInvoice('not_an_invoice', 'The message has no head (ExchangedDocument).')
  const head = {
    id: textAt(exchanged, 'ram:ID') ?? '',
    process: textAt(message, 'rsm:ExchangedDocumentContext/ram:BusinessProcessSpecifiedDocumentContextParameter/ram:ID') ?? '',
    issued: timeAt(exchanged, 'ram:IssueDateTime/udt:DateTimeString') ?? '',
    sender: partyIn(nodesAt(exchanged, 'ram:SenderTradeParty')[0]),
    issuer: partyIn(nodesAt(exchanged, 'ram:IssuerTradeParty')[0]),
    recipients: nodesAt(exchanged, 'ram:RecipientTradeParty').map(partyIn)
  }
  const statuses = nodesAt(message, 'rsm:AcknowledgementDocument').flatMap((acknowledgement) =>
    nodesAt(acknowledgement, 'ram:ReferenceReferencedDocument').map((reference): InvoiceStatus => ({
      ...head,
      at: timeAt(acknowledgement, 'ram:IssueDateTime/udt:DateTimeString') ?? head.issued,
      ...referenced(reference)
    }))
  )
  if (statuses.length > maxReferences) throw new UnreadableInvoice('too_large', `A message is about ${maxReferences} invoices at most.`)
  return statuses
}

function referenced (node: XmlNode): Pick<InvoiceStatus, 'code' | 'name' | 'invoice' | 'details'> {
  const code = textAt(node, 'ram:ProcessConditionCode') ?? ''
  const [date, received] = [dayAt(node, 'ram:FormattedIssueDateTime/qdt:DateTimeString'),
    timeAt(node, 'ram:ReceiptDateTime/udt:DateTimeString')]
  const seller = identifierAt(node, 'ram:IssuerTradeParty/ram:GlobalID')
  return {
    code,
    name: textAt(node, 'ram:ProcessCondition') ?? (isStatusCode(code) ? factsOf(code).name : ''),
    invoice: {
      number: textAt(node, 'ram:IssuerAssignedID') ?? '',
      type: textAt(node, 'ram:TypeCode') ?? '380',
      ...(date === undefined ? {} : { date }),
      ...(received === undefined ? {} : { received }),
      ...(seller === undefined ? {} : { seller })
    },
    details: nodesAt(node, 'ram:SpecifiedDocumentStatus').map(detailIn)
  }
}

function detailIn (node: XmlNode): StatusDetail {
  const amounts = nodesAt(node, 'ram:SpecifiedDocumentCharacteristic').map(amountIn)
  return {
    ...texts(node, {
      reasonCode: 'ram:ReasonCode',
      reason: 'ram:Reason',
      actionCode: 'ram:RequestedActionCode',
      action: 'ram:RequestedAction'
    }),
    ...(amounts.length === 0 ? {} : { amounts })
  }
}

function amountIn (node: XmlNode): StatusAmount {
  const [currency, date] = [
    nodesAt(node, 'ram:ValueAmount')[0]?.attributes.get('currencyID'),
    dayAt(node, 'ram:ValueDateTime/udt:DateTimeString')
  ]
  return {
    kind: textAt(node, 'ram:TypeCode') ?? '',
    ...texts(node, { of: 'ram:ID', name: 'ram:Name', amount: 'ram:ValueAmount' }),
    ...(currency === undefined ? {} : { currency }),
    ...texts(node, { rate: 'ram:ValuePercent' }),
    ...(date === undefined ? {} : { date }),
    ...(textAt(node, 'ram:ValueChangedIndicator/udt:IndicatorString') === 'true' ? { isChanged: true } : {})
  }
}

function partyIn (node: XmlNode | undefined): StatusParty {
  if (node === undefined) return { role: '' }
  const [id, address] = [identifierAt(node, 'ram:GlobalID'), identifierAt(node, 'ram:URIUniversalCommunication/ram:URIID')]
  return {
    role: textAt(node, 'ram:RoleCode') ?? '',
    ...(id === undefined ? {} : { id }),
    ...texts(node, { name: 'ram:Name' }),
    ...(address === undefined ? {} : { address })
  }
}

function textAt (node: XmlNode, path: string): string | undefined {
  const text = nodesAt(node, path)[0]?.text.trim()
  return text === '' ? undefined : text
}

/** The texts that are there. */
function texts<Name extends string> (node: XmlNode, paths: Readonly<Record<Name, string>>): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {}
  for (const name in paths) {
    const text = textAt(node, paths[name])
    if (text !== undefined) found[name] = text
  }
  return found
}

function identifierAt (node: XmlNode, path: string): { id: string, scheme: string } | undefined {
  const [found] = nodesAt(node, path)
  const id = found?.text.trim()
  return id === undefined || id === '' ? undefined : { id, scheme: found?.attributes.get('schemeID') ?? '' }
}

function dayAt (node: XmlNode, path: string): string | undefined {
  return textAt(node, path)?.replace(/^(\d{4})(\d{2})(\d{2}).*$/, '$1-$2-$3')
}

/** Format 204, or 102 for a day alone. */
function timeAt (node: XmlNode, path: string): string | undefined {
  return textAt(node, path)?.padEnd(14, '0').replace(/^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})$/, '$1-$2-$3T$4:$5:$6')
}

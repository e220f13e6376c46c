import { isRecord, type Json, type JsonObject, listOf } from '@dispatch/common'
import { parseXml } from '../http/xml.ts'
import { participantScheme } from './name.ts'

/** The answer of an SMP has not the form that Peppol specifies. */
export class NotReadable extends Error {
  override name = 'NotReadable'
}

/** The invoices of EN 16931: UBL, and CII. */
const invoices = [
  'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##',
  'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100::CrossIndustryInvoice##'
]
/** The invoice that everybody who receives in Peppol takes. */
const usual = 'urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::'

/** What suppliers receive: bills that their customers write in their place. */
const selfBilling = /selfbilling/i

/** The transport of today's access points. */
const as4 = 'peppol-transport-as4-v2_0'

/** The invoices that a service group names, the usual one first: ids of document types with their scheme. */
export function invoicesIn (serviceGroup: string): string[] {
  const group = childOf(parse(serviceGroup), 'ServiceGroup')
  const references = childrenOf(fieldOf(group, 'ServiceMetadataReferenceCollection'), 'ServiceMetadataReference')
  const types = references.flatMap((reference) => {
    const href = textOf(fieldOf(reference, '@href'))
    const at = href.lastIndexOf('/services/')
    return at < 0 ? [] : [decoded(href.slice(at + '/services/'.length))]
  })
  const found = types.filter((type) => !selfBilling.test(type) && invoices.some((invoice) => type.includes(`::${invoice}`)))
  return found.toSorted((one, other) => Number(other.includes(usual)) - Number(one.includes(usual)))
}

/**
 * Whether an access point receives by signed metadata: `active` now, `upcoming` from a later day on, or `inactive`. Throws
 * {@link NotReadable} for the metadata of somebody else, and for those that lead elsewhere.
 */
export function statusIn (metadata: string, participant: string, at: Date): 'active' | 'upcoming' | 'inactive' {
  const service = fieldOf(childOf(parse(metadata), 'SignedServiceMetadata'), 'ServiceMetadata')
  if (fieldOf(service, 'Redirect') !== undefined) throw new NotReadable('The metadata lead to another publisher, which is not followed.')
  const information = fieldOf(service, 'ServiceInformation')
  const named = fieldOf(information, 'ParticipantIdentifier')
  if (textOf(fieldOf(named, '@scheme')) !== participantScheme || textOf(fieldOf(named, '#text')).toLowerCase() !== participant) {
    throw new NotReadable('The metadata are those of somebody else.')
  }
  const endpoints = childrenOf(fieldOf(information, 'ProcessList'), 'Process')
    .flatMap((process) => childrenOf(fieldOf(process, 'ServiceEndpointList'), 'Endpoint'))
    .filter((endpoint) => textOf(fieldOf(endpoint, '@transportProfile')) === as4)
  const spans = endpoints.map((endpoint) => ({
    from: timeOf(textOf(fieldOf(endpoint, 'ServiceActivationDate')), -Infinity),
    until: timeOf(textOf(fieldOf(endpoint, 'ServiceExpirationDate')), Infinity)
  }))
  const open = spans.filter(({ until }) => at.getTime() < until)
  if (open.length === 0) return 'inactive'
  return open.some(({ from }) => from <= at.getTime()) ? 'active' : 'upcoming'
}

function parse (xml: string): Json {
  try {
    return parseXml(xml)
  } catch (cause) {
    throw new NotReadable('The answer is no XML.', { cause })
  }
}

function childOf (value: Json, name: string): Json {
  const child = fieldOf(value, name)
  if (child === undefined) throw new NotReadable(`The answer is no ${name}.`)
  return child
}

function fieldOf (value: Json | undefined, name: string): Json | undefined {
  return isRecord(value) ? (value as JsonObject)[name] : undefined
}

function childrenOf (value: Json | undefined, name: string): Json[] {
  const found = fieldOf(value, name)
  return found === undefined ? [] : listOf(found) as Json[]
}

function textOf (value: Json | undefined): string {
  return typeof value === 'string' ? value.trim() : ''
}

function decoded (text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Milliseconds; what is no time does not limit. */
function timeOf (text: string, none: number): number {
  const time = text === '' ? NaN : Date.parse(text)
  return Number.isNaN(time) ? none : time
}

import { isGreekSeller } from '../model/country.ts'
import type { EInvoiceModel, Party, PartyAddress, Text } from '../model/model.ts'
import { schemed, vat } from './ubl-parts.ts'
import { group, value, type XmlFragment } from './xml.ts'

/**
 * The facts that are stated for the seller only: `creditorId` of its direct debits (BT-90), its tax number other than for VAT (BT-32), its
 * legal form (BT-33).
 */
type OfSeller = Partial<Pick<Party, 'taxId' | 'legalForm'>> & { creditorId?: Text }

/** A seller or customer of an invoice. */
export function ublParty (party: Party, invoice: EInvoiceModel, { creditorId, taxId, legalForm }: OfSeller = {}): XmlFragment {
  const { name, tradingName, address, vatId, contact, registration } = party
  // Greek rules require the name of both here too (GR-R-002, GR-R-005).
  const shown = tradingName ?? (isGreekSeller(invoice) ? name : undefined)
  return group('cac:Party', [
    schemed('cbc:EndpointID', party.electronicAddress),
    ...party.ids.map((id) => group('cac:PartyIdentification', [schemed('cbc:ID', id)])),
    creditor(creditorId),
    group('cac:PartyName', [value('cbc:Name', shown)]),
    ublAddress('cac:PostalAddress', address),
    taxScheme(vatId, vat),
    taxScheme(taxId, group('cac:TaxScheme', [value('cbc:ID', 'TAX')])),
    group('cac:PartyLegalEntity', [
      value('cbc:RegistrationName', name),
      schemed('cbc:CompanyID', registration),
      value('cbc:CompanyLegalForm', legalForm)
    ]),
    group('cac:Contact', [
      value('cbc:Name', contact?.name),
      value('cbc:Telephone', contact?.phone),
      value('cbc:ElectronicMail', contact?.email)
    ])
  ])
}

function creditor (id: Text): XmlFragment {
  return group('cac:PartyIdentification', [value('cbc:ID', id, { schemeID: 'SEPA' })])
}

function taxScheme (id: Text, scheme: XmlFragment): XmlFragment {
  return id === undefined ? '' : group('cac:PartyTaxScheme', [value('cbc:CompanyID', id), scheme])
}

function ublAddress (name: string, { line1, line2, line3, city, postalCode, region, country }: PartyAddress): XmlFragment {
  return group(name, [
    value('cbc:StreetName', line1),
    value('cbc:AdditionalStreetName', line2),
    value('cbc:CityName', city),
    value('cbc:PostalZone', postalCode),
    value('cbc:CountrySubentity', region),
    group('cac:AddressLine', [value('cbc:Line', line3)]),
    group('cac:Country', [value('cbc:IdentificationCode', country)])
  ])
}

export function ublPayee ({ payee, payment }: EInvoiceModel): XmlFragment {
  if (payee === undefined) return ''
  return group('cac:PayeeParty', [
    group('cac:PartyIdentification', [schemed('cbc:ID', payee.id)]),
    creditor(payment?.mandate?.creditorId),
    group('cac:PartyName', [value('cbc:Name', payee.name)]),
    group('cac:PartyLegalEntity', [schemed('cbc:CompanyID', payee.registration)])
  ])
}

export function ublRepresentative ({ taxRepresentative: given }: EInvoiceModel): XmlFragment {
  if (given === undefined) return ''
  return group('cac:TaxRepresentativeParty', [
    group('cac:PartyName', [value('cbc:Name', given.name)]),
    ublAddress('cac:PostalAddress', given.address),
    taxScheme(given.vatId, vat)
  ])
}

export function ublDelivery (delivery: EInvoiceModel['delivery']): XmlFragment {
  if (delivery === undefined) return ''
  return group('cac:Delivery', [
    value('cbc:ActualDeliveryDate', delivery.date),
    group('cac:DeliveryLocation', [schemed('cbc:ID', delivery.location), ublAddress('cac:Address', delivery.address)]),
    group('cac:DeliveryParty', [group('cac:PartyName', [value('cbc:Name', delivery.name)])])
  ])
}

import type { EInvoiceModel, Party, PartyAddress, Text } from '../model/model.ts'
import { ciiIdentifier } from './cii-parts.ts'
import { group, value, type XmlFragment } from './xml.ts'

/** A seller or customer. The tax number other than for VAT (BT-32) and the legal form (BT-33) are stated for the seller only. */
export function ciiParty (
  element: string,
  party: Party,
  { taxId, legalForm }: Partial<Pick<Party, 'taxId' | 'legalForm'>> = {}
): XmlFragment {
  const { name, tradingName, registration, contact, electronicAddress, vatId } = party
  return group(element, [
    // Those without a scheme come first.
    ...party.ids.filter(({ scheme }) => scheme === undefined).map(ciiIdentifier),
    ...party.ids.filter(({ scheme }) => scheme !== undefined).map(ciiIdentifier),
    value('ram:Name', name),
    value('ram:Description', legalForm),
    group('ram:SpecifiedLegalOrganization', [
      value('ram:ID', registration?.id, { schemeID: registration?.scheme }),
      value('ram:TradingBusinessName', tradingName)
    ]),
    group('ram:DefinedTradeContact', [
      value('ram:PersonName', contact?.name),
      group('ram:TelephoneUniversalCommunication', [value('ram:CompleteNumber', contact?.phone)]),
      group('ram:EmailURIUniversalCommunication', [value('ram:URIID', contact?.email)])
    ]),
    ciiAddress(party.address),
    group('ram:URIUniversalCommunication', [value('ram:URIID', electronicAddress?.id, { schemeID: electronicAddress?.scheme })]),
    taxRegistration(vatId, 'VA'),
    taxRegistration(taxId, 'FC')
  ])
}

function taxRegistration (id: Text, schemeID: 'VA' | 'FC'): XmlFragment {
  return group('ram:SpecifiedTaxRegistration', [value('ram:ID', id, { schemeID })])
}

function ciiAddress ({ line1, line2, line3, city, postalCode, region, country }: PartyAddress): XmlFragment {
  return group('ram:PostalTradeAddress', [
    value('ram:PostcodeCode', postalCode),
    value('ram:LineOne', line1),
    value('ram:LineTwo', line2),
    value('ram:LineThree', line3),
    value('ram:CityName', city),
    value('ram:CountryID', country),
    value('ram:CountrySubDivisionName', region)
  ])
}

export function ciiRepresentative ({ taxRepresentative: given }: EInvoiceModel): XmlFragment {
  return given === undefined ? '' : group('ram:SellerTaxRepresentativeTradeParty', [
    value('ram:Name', given.name),
    ciiAddress(given.address),
    taxRegistration(given.vatId, 'VA')
  ])
}

export function ciiPayee ({ payee }: EInvoiceModel): XmlFragment {
  if (payee === undefined) return ''
  const { name, id, registration } = payee
  return group('ram:PayeeTradeParty', [
    ciiIdentifier(id),
    value('ram:Name', name),
    group('ram:SpecifiedLegalOrganization', [value('ram:ID', registration?.id, { schemeID: registration?.scheme })])
  ])
}

export function ciiShipTo ({ delivery }: EInvoiceModel): XmlFragment {
  return delivery === undefined
    ? ''
    : group('ram:ShipToTradeParty', [ciiIdentifier(delivery.location), value('ram:Name', delivery.name), ciiAddress(delivery.address)])
}

import type { JsonObject } from '@dispatch/common'
import { addressSchemes, peppolAddressSchemes, vatSchemes } from '../model/codes.ts'
import { compact, identifierField, known, textField } from '../model/fields.ts'
import type { EInvoiceFormat, Identifier, Party, PartyAddress } from '../model/model.ts'

/** A seller or customer. Only UBL, which is sent through Peppol, requires an electronic address. */
export function readParty (data: JsonObject, format: EInvoiceFormat): Party {
  const party = {
    name: textField(data, 'name'),
    tradingName: textField(data, 'tradingName'),
    vatId: compact(data, 'vatId'),
    taxId: textField(data, 'taxId'),
    legalForm: textField(data, 'legalForm'),
    address: readAddress(data),
    contact: known({ name: textField(data, 'contact'), phone: textField(data, 'phone'), email: textField(data, 'email') }),
    id: identifierField(data, 'id'),
    registration: identifierField(data, 'registration')
  }
  return {
    ...party,
    electronicAddress: identifierField(data, 'electronicAddress') ?? (format === 'UBL' ? derivedAddress(party) : undefined)
  }
}

export function readAddress (data: JsonObject): PartyAddress {
  return {
    line1: textField(data, 'address'),
    line2: textField(data, 'addressLine2'),
    line3: textField(data, 'addressLine3'),
    city: textField(data, 'city'),
    postalCode: textField(data, 'postalCode'),
    region: textField(data, 'region'),
    country: textField(data, 'country')
  }
}

/** Peppol identifies companies by their registration or VAT number, if its scheme is on Peppol's list. */
function derivedAddress ({ registration, id, vatId }: Pick<Party, 'registration' | 'id' | 'vatId'>): Identifier | undefined {
  const registered = [registration, id].find((given) =>
    given?.scheme !== undefined && peppolAddressSchemes.has(given.scheme) && addressSchemes.has(given.scheme)
  )
  if (registered !== undefined) return registered
  const scheme = vatId === undefined ? undefined : vatSchemes[vatId.slice(0, 2)]
  return vatId === undefined || scheme === undefined ? undefined : { id: vatId, scheme }
}

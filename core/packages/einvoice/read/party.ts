import type { JsonObject } from '@dispatch/common'
import { addressSchemes, peppolAddressSchemes, vatSchemes } from '../model/codes.ts'
import { compact, identifier, known, text } from '../model/fields.ts'
import type { Address, EInvoiceFormat, Identifier, Party } from '../model/model.ts'

/** A seller or customer. Only UBL, which goes through Peppol, cannot do without an electronic address. */
export function readParty (data: JsonObject, format: EInvoiceFormat): Party {
  const party = {
    name: text(data, 'name'),
    tradingName: text(data, 'tradingName'),
    vatId: compact(data, 'vatId'),
    taxId: text(data, 'taxId'),
    legalForm: text(data, 'legalForm'),
    address: readAddress(data),
    contact: known({ name: text(data, 'contact'), phone: text(data, 'phone'), email: text(data, 'email') }),
    id: identifier(data, 'id'),
    registration: identifier(data, 'registration')
  }
  return { ...party, electronicAddress: identifier(data, 'electronicAddress') ?? (format === 'UBL' ? derivedAddress(party) : undefined) }
}

export function readAddress (data: JsonObject): Address {
  return {
    line1: text(data, 'address'),
    line2: text(data, 'addressLine2'),
    line3: text(data, 'addressLine3'),
    city: text(data, 'city'),
    postalCode: text(data, 'postalCode'),
    region: text(data, 'region'),
    country: text(data, 'country')
  }
}

/** Peppol knows companies by their registration or VAT number, where its scheme is one of theirs. */
function derivedAddress ({ registration, id, vatId }: Pick<Party, 'registration' | 'id' | 'vatId'>): Identifier | undefined {
  const registered = [registration, id].find((given) => given?.scheme !== undefined && peppolAddressSchemes.has(given.scheme) && addressSchemes.has(given.scheme))
  if (registered !== undefined) return registered
  const scheme = vatId === undefined ? undefined : vatSchemes[vatId.slice(0, 2)]
  return vatId === undefined || scheme === undefined ? undefined : { id: vatId, scheme }
}

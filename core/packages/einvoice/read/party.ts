import type { JsonObject } from '@dispatch/common'
import { addressSchemes, peppolAddressSchemes, vatSchemes } from '../model/codes.ts'
import { compact, identifierField, identifiersField, known, textField } from '../model/fields.ts'
import type { Identifier, Party, PartyAddress } from '../model/model.ts'
import type { ProfileFacts } from '../model/profiles.ts'

/** A seller or customer. Some profiles require an electronic address, which is then made of its numbers. */
export function readParty (data: JsonObject, addresses: ProfileFacts['addresses']): Party {
  const party = {
    name: textField(data, 'name'),
    tradingName: textField(data, 'tradingName'),
    vatId: compact(data, 'vatId'),
    taxId: textField(data, 'taxId'),
    legalForm: textField(data, 'legalForm'),
    address: readAddress(data),
    contact: known({ name: textField(data, 'contact'), phone: textField(data, 'phone'), email: textField(data, 'email') }),
    ids: identifiersField(data, 'id'),
    registration: identifierField(data, 'registration')
  }
  return {
    ...party,
    electronicAddress: identifierField(data, 'electronicAddress') ?? derivedAddress(party, addresses)
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

/**
 * Peppol identifies companies by their registration or VAT number, if its scheme is on Peppol's list. The French directory has an address
 * for each SIREN.
 */
function derivedAddress (party: Pick<Party, 'registration' | 'ids' | 'vatId'>, by: ProfileFacts['addresses']): Identifier | undefined {
  const { registration, ids: [id], vatId } = party
  if (by === undefined) return undefined
  if (by === 'France') return registration?.scheme === '0002' ? { id: registration.id, scheme: '0225' } : undefined
  const registered = [registration, id].find((given) =>
    given?.scheme !== undefined && peppolAddressSchemes.has(given.scheme) && addressSchemes.has(given.scheme)
  )
  if (registered !== undefined) return { id: registered.id, scheme: registered.scheme }
  const scheme = vatId === undefined ? undefined : vatSchemes[vatId.slice(0, 2)]
  return vatId === undefined || scheme === undefined ? undefined : { id: vatId, scheme }
}

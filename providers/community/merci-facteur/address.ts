import { refused } from '@dispatch/core/provider'
import type { Call, Recipient } from './settings.ts'

const at = '/postal/recipient'
/** https://github.com/MerciFacteur/Merci-facteur-API: how many characters each field has. */
const longest: Readonly<Record<string, number>> = {
  nom: 70,
  societe: 90,
  adresse1: 90,
  adresse2: 90,
  adresse3: 90,
  cp: 12,
  ville: 70,
  pays: 70
}
const maxLines = 3

/** Merci Facteur wants the name of the country in French. */
const countryNames = new Intl.DisplayNames(['fr'], { type: 'region' })

/** The address of the recipient. Refuses one that would not be printed completely. */
export function recipientOf ({ name, company = '', address, postalCode = '', city, country }: Recipient): Record<string, string> {
  const lines = address.split('\n').map((text) => text.trim()).filter((text) => text !== '')
  if (lines.length > maxLines) {
    throw refused('too_many_address_lines', `Merci Facteur prints ${maxLines} lines of an address, and this has ${lines.length}.`,
      `${at}/address`)
  }
  const [adresse1 = '', adresse2 = '', adresse3 = ''] = lines
  const fields = addressOf({ nom: name, societe: company, adresse1, adresse2, adresse3, cp: postalCode, ville: city, pays: country })
  for (const [field, text] of Object.entries(fields)) {
    const { length } = Array.from(text)
    if (length > (longest[field] ?? length)) {
      throw refused('address_too_long', `"${text}" (${field}) has ${length} characters: at most ${longest[field]} are printed.`, at)
    }
  }
  return fields
}

export function senderOf ({ senderName, senderAddress, senderPostalCode, senderCity }: Call['settings']): Record<string, string> {
  return addressOf({ societe: senderName, adresse1: senderAddress, cp: senderPostalCode, ville: senderCity, pays: 'FR' })
}

/** Merci Facteur wants each field, an empty one as an empty text. */
function addressOf (fields: { adresse1: string, cp: string, ville: string, pays: string } & Record<string, string>): Record<
  string,
  string
> {
  const none = { civilite: '', nom: '', prenom: '', societe: '', adresse1: '', adresse2: '', adresse3: '' }
  return { ...none, ...fields, pays: countryNames.of(fields.pays) ?? fields.pays }
}

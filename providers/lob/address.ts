import { refused, type ServiceContracts } from '@dispatch/core/provider'
import { stateOf, states } from './states.ts'

type Recipient = ServiceContracts['postal']['dispatch']['postal']['recipient']

/** An address in Lob's format: https://docs.lob.com/#tag/Addresses. */
export type Address =
  & Record<'name' | 'address_line1' | 'address_city' | 'address_country', string>
  & Partial<Record<'company' | 'address_line2' | 'address_state' | 'address_zip', string>>

/** Countries in ISO 3166-1 that are states for the USPS. */
const usTerritories = ['AS', 'FM', 'GU', 'MH', 'MP', 'PR', 'PW', 'VI']

/** The countries to which Lob sends letters (its `country_extended`, and the United States), as current ISO 3166-1 codes. */
export const countries: string[] = [
  'US',
  ...usTerritories,
  ...`
  AD AE AF AG AI AL AO AQ AR AT AU AW AZ BA BB BD BE BF BG BH BI BJ BM BN BO BQ BR BS BT BW BY BZ CA CD CG CH CI CK CL CM CN CO CR CU CV
  CW CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FO FR GA GB GD GE GH GI GL GM GN GQ GR GS GT GW GY HK HN HR HT HU ID IE IL IN IO
  IQ IR IS IT JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MG MK ML MM MN MO MR MS MT MU MV MW MX
  MY MZ NA NE NF NG NI NL NO NP NR NU NZ OM PA PE PG PH PK PL PN PT PY QA RO RS RU RW SA SB SC SD SE SG SH SI SK SL SM SN SO SR SS ST SV SX
  SY SZ TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UY UZ VA VC VE VG VN VU WS YE ZA ZM ZW
`.trim().split(/\s+/)
]

/** The most characters that Lob prints, in the United States and elsewhere. */
const longest = { name: 40, company: 40, address_line1: 64, address_line2: 64 }
const longestAbroad = { ...longest, address_line1: 200, address_line2: 200 }

/** The recipient in Lob's format. Refuses an address that Lob would not print completely, and one whose state is unknown. */
export function addressOf ({ name, company, address, city, state, postalCode, country }: Recipient): Address {
  const [line = '', ...lines] = address.split('\n').map((text) => text.trim()).filter((text) => text !== '')
  const isDomestic = country === 'US' || usTerritories.includes(country)
  const whole: Address = {
    name,
    ...(company !== undefined && { company }),
    address_line1: line,
    ...(lines.length > 0 && { address_line2: lines.join(', ') }),
    ...(isDomestic ? domesticPlace({ city, state, zip: postalCode ?? '', country }) : foreignPlace({ city, state, postalCode, country }))
  }
  for (const [field, max] of Object.entries(isDomestic ? longest : longestAbroad)) {
    const { length } = whole[field as keyof Address] ?? ''
    const message = `Lob prints at most ${max} characters of ${field}, and this has ${length}.`
    const at = `/postal/recipient/${field.startsWith('address') ? 'address' : field}`
    if (length > max) throw refused('address_length_exceeds_limit', message, at)
  }
  return whole
}

/** The return address of the settings. */
export function returnAddressOf (settings: Record<
  'senderName' | 'senderAddress' | 'senderCity' | 'senderState' | 'senderZip',
  string
>): Address {
  return {
    name: settings.senderName,
    address_line1: settings.senderAddress,
    address_city: settings.senderCity,
    address_state: settings.senderState,
    address_zip: settings.senderZip,
    address_country: 'US'
  }
}

const zipForm = /^\d{5}(-\d{4})?$/

type Place = Pick<Address, 'address_city' | 'address_state' | 'address_zip' | 'address_country'>

/**
 * The given state. Without one, the state after the city: with a comma as Americans write it, or without a comma if the ZIP code confirms
 * it. Else the state of the ZIP code.
 */
function domesticPlace ({ city: text, state: given, zip, country }: {
  city: string
  state: string | undefined
  zip: string
  country: string
}): Place {
  if (!zipForm.test(zip)) {
    throw refused('invalid_zip', 'A ZIP code has five digits, or nine: 94107 or 94107-1234.', '/postal/recipient/postalCode')
  }
  const ofZip = country === 'US' ? stateOf(zip) : country
  if (given !== undefined && !(country === 'US' ? states.has(given) : given === country)) {
    const right = country === 'US' ? `such as ${ofZip ?? 'CA'}` : `${country} here, or leave it out`
    throw refused('unknown_state', `"${given}" is no state there: give its two letters, ${right}.`, '/postal/recipient/state')
  }
  const [, written = '', comma, code = ''] = /^(.+?)(,)?\s+([A-Z]{2})$/.exec(text) ?? []
  const isState = given === undefined && country === 'US'
    ? states.has(code) && (comma !== undefined || code === ofZip)
    : code === (given ?? country)
  const state = given ?? (isState ? code : ofZip)
  if (state === undefined) {
    throw refused('unknown_state', `The ZIP code ${zip} is in no state: give the state of the recipient.`, '/postal/recipient/state')
  }
  return { address_city: isState ? written : text, address_state: state, address_zip: zip, address_country: 'US' }
}

/** Lob requires a postal code, or a city and a state. For a country without postal codes, the city is used as the state. */
function foreignPlace ({ city, state, postalCode, country }: {
  city: string
  state: string | undefined
  postalCode: string | undefined
  country: string
}): Place {
  const region = state ?? (postalCode === undefined ? city : undefined)
  return {
    address_city: city,
    ...(region !== undefined && { address_state: region }),
    ...(postalCode !== undefined && { address_zip: postalCode }),
    address_country: country
  }
}

import { comparablePostalCode, isRecord, type Json, type JsonObject, type Problem, textOf } from '@dispatch/common'
import { areNamed, wordsOf } from '../same-name.ts'
import type { SharedFact } from '../service.ts'

/** The recipient of a letter, as the fields of the service have it. */
export type Recipient = {
  name: string
  company?: string
  address: string
  city: string
  state?: string
  postalCode?: string
  country: string
}
type Fields = { recipient: Recipient }

/** The recipient of a letter, as its template prints it. */
export function recipientData ({ recipient }: Fields): JsonObject {
  const { address, ...rest } = recipient
  const [line = '', ...lines] = address.split('\n').map((text) => text.trim()).filter((text) => text !== '')
  return { recipient: { ...rest, address: line, ...(lines.length === 0 ? {} : { address2: lines.join(', ') }) } }
}

/** The same the other way: the recipient whom a page names. */
export function printedRecipient (stated: Json): Json {
  if (!isRecord(stated)) return stated
  const printed = (name: string): string => textOf(stated, `/${name}`)?.trim() ?? ''
  const all = ['name', 'company', 'city', 'state', 'postalCode'].map((name) => [name, printed(name)])
  const address = [printed('address'), printed('address2')].filter((line) => line !== '').join('\n')
  const country = countryOf(printed('country')) ?? printed('country')
  return Object.fromEntries([...all, ['address', address], ['country', country]].filter(([, text]) => text !== '')) as JsonObject
}

/** What a letter's page states about its recipient. */
export const recipientFacts: readonly SharedFact<Fields>[] = [
  fact('name',
    ({ name, company = '' }, printed) =>
      !areNamed(printed('name'), `${name} ${company}`) && !areNamed(name, `${printed('name')} ${printed('company')}`)),
  fact('company', ({ company = '' }, printed) => !areNamed(printed('company'), company) && !areNamed(company, printed('company'))),
  fact('address', ({ address }, printed) => isElsewhere(address, `${printed('address')} ${printed('address2')}`)),
  // One postal code is one city, however its name is written.
  fact('city',
    ({ city, postalCode }, printed) =>
      (postalCode === undefined || printed('postalCode') === '') && !areNamed(city, printed('city')) && !areNamed(printed('city'), city)),
  fact('state', ({ state = '' }, printed) => isOtherState(state, printed('state'))),
  fact('postalCode', ({ postalCode = '', country }, printed) => {
    const there = countryOf(printed('country')) ?? country
    return comparablePostalCode(postalCode, country) !== comparablePostalCode(printed('postalCode'), there)
  }),
  fact('country', ({ country }, printed) => (countryOf(printed('country')) ?? country) !== (countryOf(country) ?? country))
]

/** `printed`: a field of the recipient in the data; '' where there is none. Only what both say can differ. */
function fact (
  name: keyof Recipient,
  differ: (recipient: Recipient, printed: (name: string) => string) => boolean
): SharedFact<Fields> {
  return {
    field: `/recipient/${name}`,
    data: `/recipient/${name}`,
    differ ({ recipient }, data) {
      const printed = (field: string): string => textOf(data, `/recipient/${field}`)?.trim() ?? ''
      return (recipient[name] ?? '').trim() !== '' && printed(name) !== '' && differ(recipient, printed)
    },
    isRecipient: true
  }
}

/** A code and a name are not compared: no two of a kind are one. */
function isOtherState (one: string, other: string): boolean {
  const isCode = (text: string): boolean => wordsOf(text).join('').length <= 3
  return isCode(one) === isCode(other) && !areNamed(one, other) && !areNamed(other, one)
}

/** Whether two streets have other numbers, or no word in common: "1 Main St" and "1 Main Street" may be one. */
function isElsewhere (one: string, other: string): boolean {
  const [here, there] = [wordsOf(one), wordsOf(other)]
  const common = here.filter((word) => there.includes(word))
  const hasNumber = (words: readonly string[]): boolean => words.some((word) => /\p{N}/u.test(word))
  return common.length === 0 || (hasNumber(here) && hasNumber(there) && !hasNumber(common))
}

/** A country by its code; one in words is not compared. */
function countryOf (country: string): string | undefined {
  const code = country.toUpperCase()
  return /^[A-Z]{2}$/.test(code) ? sameCountry[code] ?? code : undefined
}

const sameCountry: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' }

/** Warns of a page that is made out to a customer who is not the recipient of the letter. */
export function checkNamed (data: JsonObject, { name, company = '' }: Recipient): Problem[] {
  const customer = textOf(data, '/customer/name')
  const known = [customer ?? '', textOf(data, '/customer/contact') ?? ''].join(' ')
  if (customer === undefined || areNamed(customer, `${name} ${company}`) || areNamed(name, known)) return []
  return [{
    path: '/template/data/customer/name',
    code: 'other_recipient',
    message: 'The page is made out to somebody else than the recipient of the letter.'
  }]
}

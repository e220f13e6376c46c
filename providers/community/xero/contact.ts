import { failureOf, type Invoice, invoiceOf, type JsonObject, refused, type Static, Type } from '@dispatch/core/provider'
import { type Request, said, taken } from './api.ts'
import { ask, type Call, send } from './request.ts'

const Contact = Type.Object({
  ContactID: Type.String({ minLength: 1 }),
  Name: Type.Optional(Type.String()),
  EmailAddress: Type.Optional(Type.String()),
  ...said
})
type Contact = Static<typeof Contact>
const Contacts = Type.Object({ Contacts: Type.Array(Contact) })

/** A customer in Xero's words. Refuses what Xero does not take. */
export function contactFields ({ customer }: Invoice): JsonObject & { Name: string, EmailAddress?: string } {
  const { name = '', email, vatId, contact, address, addressLine2, addressLine3, city, region, postalCode, country } = customer
  if (country !== undefined && !/^[A-Za-z]{1,50}$/.test(country)) {
    throw refused('country_in_letters', 'Xero takes letters alone for a country: give the two letters of ISO 3166.',
      '/data/customer/country')
  }
  if (email !== undefined && /[^\0-\x7f]/.test(email)) {
    throw refused('email_in_ascii', 'Xero takes no address with letters beyond ASCII before the @.', '/data/customer/email')
  }
  const written = given({
    AttentionTo: contact,
    AddressLine1: address,
    AddressLine2: addressLine2,
    AddressLine3: addressLine3,
    City: city,
    Region: region,
    PostalCode: postalCode,
    Country: country
  })
  return {
    Name: name,
    ...(email !== undefined && { EmailAddress: email }),
    ...given({ TaxNumber: vatId }),
    ...(Object.keys(written).length > 0 && { Addresses: [{ AddressType: 'POBOX', ...written }] })
  }
}

function given (fields: Readonly<Record<string, string | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const]))
}

/**
 * The ContactID of the customer: of the request, of the contact that Xero has, or of a new one. A contact that is there is never changed:
 * Xero would overwrite it with what an invoice says of it.
 */
export async function contactOf ({ invoicing, data }: Request, call: Call): Promise<string> {
  if (invoicing.customerId !== undefined) return invoicing.customerId
  const wanted = contactFields(invoiceOf(data))
  const known = await find(wanted, call) ?? await create(wanted, call)
  return known.ContactID
}

type Wanted = Pick<ReturnType<typeof contactFields>, 'Name' | 'EmailAddress'>

/** The contact of this name and e-mail address; one without an address is only known by its name. Xero takes each name once. */
async function find (wanted: Wanted, call: Call): Promise<Contact | undefined> {
  const { Contacts: found } = await call.http.get(...await ask(call, 'Contacts', { query: queryFor(wanted) }), Contacts)
  const named = found.filter(({ Name }) => isSame(Name, wanted.Name))
  const [first] = named
  const known = named.find(({ EmailAddress: email = '' }) => isSame(email, wanted.EmailAddress)) ??
    named.find(({ EmailAddress: email = '' }) => email === '' || wanted.EmailAddress === undefined)
  if (known !== undefined || first === undefined) return known
  throw refused('other_contact',
    `Xero has a contact "${wanted.Name}" with another e-mail address, and takes each name once. If it is this ` +
      `customer, give its id as "customerId": ${first.ContactID}. If it is not, give this one a name of its own.`, '/data/customer/name')
}

function isSame (text = '', other = ''): boolean {
  return text.trim().toLowerCase() === other.trim().toLowerCase()
}

/**
 * Xero's filter cannot express a quote or a backslash (https://github.com/XeroAPI/Xero-Java/issues/347). A text with one is left out; where
 * there is no other, the search in all texts finds it.
 */
function queryFor ({ Name, EmailAddress = '' }: Wanted): { where: string } | { searchTerm: string } {
  const usable = Object.entries({ EmailAddress, Name }).filter(([, text]) => text !== '' && !/["\\\p{Cc}]/u.test(text))
  const where = usable.map(([field, text]) => `${field}=="${text}"`).join(' OR ')
  return where === '' ? { searchTerm: Name } : { where }
}

/** Makes a contact, which Xero refuses if it has one of that name: another dispatch may have made it in the meantime. */
async function create (wanted: Wanted, call: Call): Promise<Contact> {
  try {
    const made = await call.http.put(...await send(call, 'contact', 'Contacts', { json: { Contacts: [wanted] } }), Contacts)
    return taken(made.Contacts, ({ ContactID: id }) => id)
  } catch (error) {
    const known = failureOf(error)?.code === 'ValidationException' ? await find(wanted, call) : undefined
    if (known === undefined) throw error
    return known
  }
}

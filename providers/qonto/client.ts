import { type Invoice, invoiceOf, type JsonObject, type Static, Type } from '@dispatch/core/provider'
import { ask } from './api.ts'
import type { Call, Request } from './settings.ts'

const Client = Type.Object({ id: Type.String({ minLength: 1 }), name: Type.Optional(Type.Union([Type.String(), Type.Null()])) })
const Clients = Type.Object({ clients: Type.Array(Client) })
const Made = Type.Object({ client: Client, errors: Type.Optional(Type.Null()) })

/** The client of the request, the one of this name and e-mail address, or a new one. One that is there is never changed. */
export async function clientOf ({ invoicing, data }: Request, call: Call): Promise<string> {
  if (invoicing.customerId !== undefined) return invoicing.customerId
  const { customer, currency = '' } = invoiceOf(data)
  const { name = '', email } = customer
  const query = email === undefined ? { 'filter[name]': name } : { 'filter[email]': email }
  const { clients } = await call.http.get(...ask(call, 'clients', { query }), Clients)
  return (clients.find((client) => isNamed(client, name)) ?? await create(fieldsOf(customer, currency), call)).id
}

function isNamed ({ name: own }: Static<typeof Client>, name: string): boolean {
  return typeof own === 'string' && own.trim().toLowerCase() === name.trim().toLowerCase()
}

async function create (json: JsonObject, call: Call): Promise<Static<typeof Client>> {
  return (await call.http.post(...ask(call, 'clients', { json }), Made)).client
}

function fieldsOf (customer: Invoice['customer'], currency: string): JsonObject {
  const { name = '', email, vatId, address, addressLine2, addressLine3, city, postalCode, country } = customer
  const street = [address, addressLine2, addressLine3].filter((line) => line !== undefined).join(', ')
  const written = given({ street_address: street === '' ? undefined : street, city, zip_code: postalCode, country_code: country })
  return {
    kind: 'company',
    name,
    currency,
    ...given({ email, vat_number: vatId }),
    ...(Object.keys(written).length > 0 && { billing_address: written })
  }
}

function given (fields: Readonly<Record<string, string | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const]))
}

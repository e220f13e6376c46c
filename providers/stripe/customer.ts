import { at, type Invoice, type JsonObject, lookupLanguage, textOf, Type } from '@dispatch/core/provider'
import { ask, Created, send } from './api.ts'
import { joined } from './data.ts'
import type { Call } from './settings.ts'

type Customer = JsonObject & { id: string }
const Customers = Type.Object({ data: Type.Array(Type.Unsafe<Customer>(Created)) })

/**
 * The customer of a document: one whom Stripe has just as the data say, else a new one. A customer is never changed, nor deleted after a
 * refusal: another document may be theirs by then. A repeated attempt comes to the same one.
 */
export async function customerOf (invoice: Invoice, call: Call): Promise<string> {
  const wanted = wantedOf(invoice)
  const known = await knownAs(wanted, invoice, call)
  if (known !== undefined) return known.id
  const made = { ...wanted, metadata: { dispatch_reference: call.reference } }
  return (await call.http.post(...send(call, 'customer', 'customers', made), Created)).id
}

function wantedOf ({ customer, language }: Invoice) {
  const { name, email, address: line1, addressLine2, addressLine3, city, postalCode: postal_code, region: state, country } = customer
  const locale = language === undefined ? undefined : lookupLanguage(language, locales)
  return {
    name,
    email,
    address: { line1, line2: joined(addressLine2, addressLine3), city, postal_code, state, country },
    preferred_locales: locale === undefined ? undefined : [locale]
  }
}

type Wanted = ReturnType<typeof wantedOf>

/** The one that an earlier attempt has made, else the oldest: it is the same however many follow. Stripe lists the newest first. */
async function knownAs (wanted: Wanted, invoice: Invoice, call: Call): Promise<Customer | undefined> {
  const { email } = wanted
  if (email === undefined) return undefined
  const { data: found } = await call.http.get(...ask(call, 'customers', { query: { email, limit: 100 } }), Customers)
  return found.find((one) => textOf(one, '/metadata/dispatch_reference') === call.reference) ??
    found.findLast((one) => isAs(wanted, one) && isPlain(one, invoice))
}

function isAs ({ name, email, address, preferred_locales: [locale] = [] }: Wanted, customer: Customer): boolean {
  const texts = { name, email, ...under('address/', address), 'preferred_locales/0': locale, 'preferred_locales/1': undefined }
  return Object.entries(texts).every(([place, text = '']) => (textOf(customer, `/${place}`) ?? '') === text.trim())
}

function under<Value> (path: string, fields: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [path + name, value]))
}

/** What Stripe would add to a document of a customer, or change in it: https://docs.stripe.com/api/customers/object. */
const additions = ['discount', 'phone', 'shipping', 'test_clock',
  ...['custom_fields', 'footer', 'rendering_options'].map((name) => `invoice_settings/${name}`)]

/** Whether a document of the customer is made of its own fields alone, and in its own currency. */
function isPlain (customer: Customer, { currency = '' }: Invoice): boolean {
  return additions.every((place) => (at(customer, `/${place}`) ?? null) === null) && (at(customer, '/balance') ?? 0) === 0 &&
    (textOf(customer, '/tax_exempt') ?? 'none') === 'none' && (textOf(customer, '/currency') ?? currency).toUpperCase() === currency
}

/** The languages of Stripe's documents: https://docs.stripe.com/invoicing/customize#customer-language. */
const locales = `ar bg cs da de el en en-GB es es-419 et fi fil fr fr-CA hr hu id it ja ko lt lv ms mt nb nl pl pt pt-BR ro ru sk sl sv th
  tr vi zh zh-HK zh-TW`.split(/\s+/)

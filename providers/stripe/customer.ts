import { type Invoice, lookupLanguage } from '@dispatch/core/provider'
import { ask, Created, send } from './api.ts'
import { joined } from './data.ts'
import type { Call } from './settings.ts'

/** A customer for this document only. */
export async function newCustomer ({ customer, language }: Invoice, call: Call): Promise<string> {
  const { name, email, address: line1, addressLine2, addressLine3, city, postalCode: postal_code, region: state, country } = customer
  const locale = language === undefined ? undefined : lookupLanguage(language, locales)
  const { id } = await call.http.post(
    ...send(call, 'customer', 'customers', {
      name,
      email,
      address: { line1, line2: joined(addressLine2, addressLine3), city, postal_code, state, country },
      preferred_locales: locale === undefined ? undefined : [locale]
    }),
    Created
  )
  call.onRefusal((http) => http.delete(...ask(call, `customers/${encodeURIComponent(id)}`), Created))
  return id
}

/** The languages of Stripe's documents: https://docs.stripe.com/invoicing/customize#customer-language. */
const locales = `ar bg cs da de el en en-GB es es-419 et fi fil fr fr-CA hr hu id it ja ko lt lv ms mt nb nl pl pt pt-BR ro ru sk sl sv th
  tr vi zh zh-HK zh-TW`.split(/\s+/)

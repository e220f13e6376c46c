import { comparable, type Json, type JsonObject } from '@dispatch/common'
import { isObject } from '../form/schema.ts'
import { consoleParts, templatedServices } from '../session/services.ts'
import { datedToday } from './sample-dates.ts'

/** The shared template for invoices, with data that it accepts. */
const template = {
  id: 1,
  data: {
    number: 'TEST-1',
    date: '2026-03-14',
    currency: 'EUR',
    customer: { name: 'Ada Lovelace', email: 'ada@example.com', city: 'London', country: 'GB' },
    lines: [{ description: 'Consulting', quantity: 2, unitPrice: 450, total: 900 }],
    subtotal: 900,
    taxRate: 20,
    taxAmount: 180,
    total: 1080
  }
}

/** The services of a provider that can be tried with a request in JSON: an upload needs a file. */
export function triedOf ({ services = {} }: { services?: object }): string[] {
  return Object.keys(services).filter((service) => consoleParts[service]?.sample !== undefined)
}

/** A small request of a service, to begin with. A message comes from `sender`. */
export function sampleOf (service: string, sender?: string): JsonObject {
  const { sample = {}, sender: said } = consoleParts[service] ?? {}
  const whole: JsonObject = templatedServices.includes(service)
    ? { template: { ...template, data: datedToday(template.data) }, ...sample }
    : sample
  const own = whole[service]
  return said === undefined || sender === undefined || !isObject(own) ? whole : { ...whole, [service]: { ...own, [said.field]: sender } }
}

/** Somebody whom the settings of a provider permit to send e-mails: the reader, where they may; a made-up one where nobody is named. */
export function senderAmong (permitted: Json | undefined, reader: string): string | undefined {
  const found = ownSenderAmong(permitted, [reader])
  const [first] = sendersIn(permitted)
  return found ?? (first === undefined ? undefined : `hello${first}`)
}

/** The first of some addresses that the settings of a provider permit, or one that they name; undefined where they permit domains alone. */
export function ownSenderAmong (permitted: Json | undefined, addresses: readonly string[]): string | undefined {
  const all = sendersIn(permitted)
  const permits = (address: string): boolean =>
    all.map(comparable).some((sender) => sender.startsWith('@') ? comparable(address).endsWith(sender) : comparable(address) === sender)
  return addresses.find(permits) ?? all.find((sender) => !sender.startsWith('@'))
}

/** The addresses, and `@domain` for whole domains, that a setting names. */
export function sendersIn (permitted: Json | undefined): string[] {
  return Array.isArray(permitted) ? permitted.filter((sender) => typeof sender === 'string') : []
}

import type { Json, JsonObject } from '@dispatch/common'
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

/** Somebody whom the settings of a provider permit to send e-mails: the reader, where they may. */
export function senderAmong (permitted: Json | undefined, reader: string): string | undefined {
  const all = Array.isArray(permitted) ? permitted.filter((sender) => typeof sender === 'string') : []
  if (all.some((sender) => reader === sender || (sender.startsWith('@') && reader.endsWith(sender)))) return reader
  const [first] = all
  return first?.startsWith('@') === true ? `hello${first}` : first
}

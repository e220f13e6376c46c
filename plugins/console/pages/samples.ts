import type { Json, JsonObject } from '@dispatch/common'

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

const recipient = { name: 'Ada Lovelace', address: '1 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' }

const samples: Readonly<Record<string, JsonObject>> = {
  invoicing: { documentType: 'INVOICE', template },
  esign: {
    template,
    signers: [
      { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' },
      { email: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper' }
    ]
  },
  postal: { template, postal: { recipient } },
  sms: { sms: { phoneNumber: '+33612345678', message: 'Hello' } },
  email: { email: { from: 'demo@example.com', to: ['ada@example.com'], subject: 'Hello', body: 'Hello, Ada.' } },
  file: { template }
}

/** The services of a provider that can be tried with a request in JSON: an upload needs a file. */
export function triedOf ({ services = {} }: { services?: object }): string[] {
  return Object.keys(services).filter((service) => Object.hasOwn(samples, service))
}

/** A small request of a service, to begin with. An e-mail comes from `sender`. */
export function sampleOf (service: string, sender?: string): JsonObject {
  const sample = samples[service] ?? {}
  return service === 'email' && sender !== undefined ? { email: { ...sample['email'] as JsonObject, from: sender } } : sample
}

/** Somebody whom the settings of a provider permit to send e-mails: the reader, where they may. */
export function senderAmong (permitted: Json | undefined, reader: string): string | undefined {
  const all = Array.isArray(permitted) ? permitted.filter((sender) => typeof sender === 'string') : []
  if (all.some((sender) => reader === sender || (sender.startsWith('@') && reader.endsWith(sender)))) return reader
  const [first] = all
  return first?.startsWith('@') === true ? `hello${first}` : first
}

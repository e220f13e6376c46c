import { defineProvider, type HttpCall, refused, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'
import { type Call, Settings } from './settings.ts'

const Letter = Type.Object({
  id: Type.String({ minLength: 1 }),
  status: Type.String({ minLength: 1 }),
  metadata: Type.Optional(Type.Union([Type.Object({ dispatch_reference: Type.Optional(Type.String()) }), Type.Null()]))
})
const Letters = Type.Object({ data: Type.Array(Letter) })

/** https://docs.postgrid.com/ */
const Event = Type.Object({
  id: Type.String({ minLength: 1 }),
  type: Type.String({ minLength: 1 }),
  data: Type.Object({ id: Type.String({ minLength: 1 }) })
})

/** The lines of a street. */
const maxLines = 2
const hour = 3600

export default defineProvider({
  code: 'postgrid',
  name: 'PostGrid',
  docs: 'https://docs.postgrid.com/',
  hosts: ['api.postgrid.com'],
  sandbox: { kind: 'configuration', key: { setting: 'apiKey', test: '^test_' } },
  settings: Settings,
  errors: { at: '/error/type', message: '/error/message' },
  check: (call) => call.http.get(...ask(call, '', { query: { limit: 1 } }), Letters),
  services: {
    postal: {
      mailTypes: ['SIMPLE'],
      papers: ['A4', 'Letter'],
      color: true,
      duplex: true,
      // A letter is found by what its metadata says. A request that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 300 },
      statuses: { ready: 'accepted', printing: 'printed', processed_for_delivery: 'mailed', cancelled: 'cancelled' },
      poll: { after: 6 * hour, every: 12 * hour, until: 60 * 24 * hour },

      check ({ postal: { recipient } }) {
        addressOf(recipient)
        return []
      },

      async dispatch ({ postal: { recipient, color, duplex }, document }, call) {
        const { size, addressPlacement = 'insert_blank_page' } = call.settings
        const letter = await call.http.post(...ask(call, '', {
          multipart: {
            ...under('to', addressOf(recipient)),
            ...under('from', returnAddressOf(call.settings)),
            pdf: document,
            color: String(color),
            doubleSided: String(duplex),
            addressPlacement,
            ...(size !== undefined && { size }),
            'metadata[dispatch_reference]': call.reference
          }
        }), Letter)
        return answer(letter)
      },

      async lookup ({ reference }, call) {
        const { data } = await call.http.get(...ask(call, '', { query: { search: `"${reference}"` } }), Letters)
        const letter = data.find(({ metadata }) => metadata?.dispatch_reference === reference)
        return letter === undefined ? { found: 'absent' } : { found: 'accepted', response: answer(letter) }
      },

      status: async ({ id }, call) => ({ status: (await call.http.get(...ask(call, pathOf(id)), Letter)).status }),

      cancel: async ({ id }, call) => ({ status: (await call.http.delete(...ask(call, pathOf(id)), Letter)).status })
    }
  },
  webhooks: {
    postal: {
      verify: { kind: 'stamped', header: 'PostGrid-Signature', secret: 'webhookSecret' },
      body: Event,
      read: ({ id: eventId, type, data: { id: remoteId } }) => ({ eventId, type, remoteId }),
      events: {},
      // An event says that a letter has changed.
      confirm: true
    }
  }
})

function ask ({ settings: { apiKey } }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://api.postgrid.com/print-mail/v1/letters${path}`, { apiKey: { header: 'x-api-key', value: apiKey }, ...more }]
}

function pathOf (id: string): string {
  return `/${encodeURIComponent(id)}`
}

function under (name: string, fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([field, text]) => [`${name}[${field}]`, text]))
}

function addressOf (recipient: ServiceContracts['postal']['dispatch']['postal']['recipient']): Record<string, string> {
  const { name, company, address, city, state, postalCode, country } = recipient
  const [addressLine1 = '', addressLine2, ...rest] = address.split('\n')
  if (rest.length > 0) {
    throw refused('too_many_lines', `PostGrid prints ${maxLines} lines of a street, and this has ${rest.length + maxLines}.`,
      '/postal/recipient/address')
  }
  return {
    firstName: name,
    ...(company !== undefined && { companyName: company }),
    addressLine1,
    ...(addressLine2 !== undefined && { addressLine2 }),
    city,
    ...(state !== undefined && { provinceOrState: state }),
    ...(postalCode !== undefined && { postalOrZip: postalCode }),
    countryCode: country
  }
}

function returnAddressOf ({ senderState, ...sender }: Call['settings']): Record<string, string> {
  return {
    companyName: sender.senderName,
    addressLine1: sender.senderAddress,
    city: sender.senderCity,
    ...(senderState !== undefined && { provinceOrState: senderState }),
    postalOrZip: sender.senderPostalCode,
    countryCode: sender.senderCountry
  }
}

function answer ({ id, status }: Static<typeof Letter>): { id: string, status: string } {
  return { id, status }
}

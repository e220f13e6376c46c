import { defineProvider, type HttpCall, type Static, Type } from '@dispatch/core/provider'
import { countryOf, recipientOf } from './address.ts'
import { type Call, Settings } from './settings.ts'

const Named = Type.Object({ name: Type.String({ minLength: 1 }) })
/** A letter has the name of its last event as its status, or the list of its events. */
const Letter = Type.Object({
  _id: Type.String({ minLength: 1 }),
  status: Type.Optional(Named),
  events: Type.Optional(Type.Array(Named)),
  tracking_number: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()]))
})
/** The list has the name `letters`, or `data` where other public code reads it. */
const Letters = Type.Union([Type.Object({ letters: Type.Array(Type.Unknown()) }), Type.Object({ data: Type.Array(Type.Unknown()) })])
const Event = Type.Object({
  event: Type.Object({ _id: Type.String({ minLength: 1 }), name: Type.String({ minLength: 1 }) }),
  letter: Type.Object({ _id: Type.String({ minLength: 1 }) })
})

/** https://docs.mysendingbox.fr: the names of events, which are those of a letter's status, too. */
const statuses = {
  'letter.created': 'accepted',
  'letter.accepted': 'accepted',
  'letter.filing_proof': 'mailed',
  'letter.sent': 'mailed',
  'letter.in_transit': 'in_transit',
  'letter.waiting_to_be_withdrawn': 'in_transit',
  'letter.distributed': 'delivered',
  'letter.delivery_proof': 'delivered',
  'letter.returned_to_sender': 'returned',
  'letter.return_to_sender_proof': 'returned',
  'letter.wrong_address': 'returned',
  'letter.lost': 'failed',
  'letter.error': 'failed',
  'letter.canceled': 'cancelled'
} as const

const hour = 3600

export default defineProvider({
  code: 'mysendingbox',
  name: 'MySendingBox',
  docs: 'https://docs.mysendingbox.fr',
  hosts: ['api.mysendingbox.fr'],
  sandbox: { kind: 'configuration', key: { setting: 'apiKey', test: '^test_' } },
  settings: Settings,
  errors: { at: '/error/code', message: ['/error/message', '/message'], map: { 401: 'authentication_error', 403: 'authentication_error' } },
  check: (call) => call.http.get(...ask(call, '/letters'), Letters),
  services: {
    postal: {
      mailTypes: ['SIMPLE', 'REGISTERED'],
      papers: ['A4'],
      color: true,
      duplex: true,
      limits: [{ at: '/postal/recipient/state', fits: false, because: 'MySendingBox has no field for a state: it would not be printed.' }],
      idempotency: { kind: 'none' },
      statuses,
      poll: { after: 6 * hour, every: 12 * hour, until: 60 * 24 * hour },

      check ({ postal: { recipient } }) {
        recipientOf(recipient)
        return []
      },

      async dispatch ({ postal: { recipient, mailType, color, duplex }, document }, call) {
        const { senderName, senderAddress, senderPostalCode, senderCity, postage, addressPlacement } = call.settings
        const letter = await call.http.post(...ask(call, '/letters', {
          multipart: {
            ...under('to', recipientOf(recipient)),
            ...under('from', {
              name: senderName,
              address_line1: senderAddress,
              address_postalcode: senderPostalCode,
              address_city: senderCity,
              address_country: countryOf('FR')
            }),
            source_file: document,
            source_file_type: 'file',
            color: color ? 'color' : 'bw',
            both_sides: String(duplex),
            postage_type: mailType === 'REGISTERED' ? 'lrar' : postage ?? 'prioritaire',
            address_placement: addressPlacement ?? 'insert_blank_page',
            description: call.reference
          }
        }), Letter)
        return { id: letter._id, status: wordOf(letter) }
      },

      async status ({ id }, call) {
        const letter = await call.http.get(...ask(call, pathOf(id)), Letter)
        const { tracking_number: number } = letter
        return { status: wordOf(letter), ...(number !== undefined && number !== null && { trackingNumber: String(number) }) }
      },

      async cancel ({ id }, call) {
        await call.http.delete(...ask(call, pathOf(id)), Type.Unknown())
        return { status: 'letter.canceled' }
      }
    }
  },
  webhooks: {
    postal: {
      // Nobody signs: the address that is entered at MySendingBox has the credentials of the server.
      verify: { kind: 'basic' },
      body: Event,
      read: ({ event: { _id: eventId, name: type }, letter: { _id: remoteId } }) => ({ eventId, remoteId, type }),
      events: statuses
    }
  }
})

function ask ({ settings: { apiKey } }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://api.mysendingbox.fr${path}`, { basic: [apiKey, ''], ...more }]
}

const pathOf = (id: string): string => `/letters/${encodeURIComponent(id)}`

function under (name: string, fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([field, text]) => [`${name}[${field}]`, text]))
}

function wordOf ({ status, events = [] }: Static<typeof Letter>): string {
  return status?.name ?? events.at(-1)?.name ?? 'letter.created'
}

import { defineProvider, draftFirst, Type } from '@dispatch/core/provider'
import { fieldsOf, linesOf } from './address.ts'
import { ask, find, optionsOf, pathOf, prepare, products, read, type Request, Sendings, withdraw } from './api.ts'
import { becameOf } from './delivery.ts'
import { Settings } from './settings.ts'

const hour = 3600

export default defineProvider({
  code: 'maileva',
  name: 'Maileva',
  docs: 'https://www.maileva.com/developpeur',
  hosts: ['api.maileva.com', 'connexion.maileva.com', 'api.sandbox.maileva.net', 'connexion.sandbox.maileva.net'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  errors: {
    at: ['/errors/0/code', '/code', '/error'],
    message: ['/errors/0/message', '/message', '/error_description'],
    // Codes of the token endpoint (RFC 6749, 5.2). For other codes the status of the answer decides.
    map: {
      invalid_grant: 'authentication_error',
      invalid_client: 'authentication_error',
      unauthorized_client: 'authentication_error'
    }
  },
  check: (call) => call.http.get(...ask(call, products.SIMPLE, '', { query: { start_index: 1, count: 1 } }), Sendings),
  services: {
    postal: {
      mailTypes: ['SIMPLE', 'REGISTERED'],
      papers: ['A4'],
      color: true,
      duplex: true,
      check ({ postal: { recipient, mailType } }, { settings }) {
        fieldsOf(linesOf(recipient))
        optionsOf(mailType, { settings })
        return []
      },
      // A sending can be read by its id at once. A submission that was cut off may still run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      timeLimit: 100,
      // A sending has one recipient. A sending with errors was not printed.
      statuses: {
        PENDING: 'accepted',
        ACCEPTED: 'accepted',
        PROCESSED: 'printed',
        REJECTED: 'failed',
        PROCESSED_WITH_ERRORS: 'failed',
        DELETED: 'cancelled',
        // The statuses of the recipient, after printing.
        DELIVERING: 'in_transit',
        FIRST_PRESENTATION: 'in_transit',
        DELIVERED: 'delivered',
        UNDELIVERED: 'returned'
      },
      poll: { after: 6 * hour, every: 12 * hour, until: 60 * 24 * hour },

      // A draft is never printed before it is submitted.
      ...draftFirst({
        prepare,
        find,
        async issue (id, { postal: { mailType } }: Request, call) {
          await call.http.post(...ask(call, products[mailType], `${pathOf(id)}/submit`), Type.Unknown())
          return { id, status: 'PENDING' }
        },
        withdraw: (draft, { postal: { mailType } }, call, http) => withdraw(draft, products[mailType], call, http)
      }),

      async status ({ id }, call) {
        const { product, status } = await read(id, call)
        return status === 'PROCESSED' ? await becameOf(id, product, call) : { status }
      }
    }
  },
  webhooks: {
    postal: {
      verify: { kind: 'basic', user: 'webhookUser', password: 'webhookPassword' },
      body: Type.Object({
        event_type: Type.String({ minLength: 1 }),
        event_date: Type.String({ minLength: 1 }),
        resource_type: Type.String({ pattern: '^(registered_)?mail/' }),
        resource_id: Type.String({ minLength: 1 }),
        resource_location: Type.Optional(Type.Union([Type.String(), Type.Null()]))
      }),
      // An event of a recipient names its sending in the URL only.
      read: ({ event_type: type, event_date: date, resource_id: id, resource_location: location }) => ({
        eventId: `${type}:${id}:${date}`,
        remoteId: /\/sendings\/([^/?#]+)/.exec(location ?? '')?.[1] ?? id,
        type
      }),
      events: {
        ON_STATUS_ACCEPTED: 'accepted',
        ON_STATUS_PROCESSED: 'printed',
        ON_STATUS_REJECTED: 'failed',
        ON_STATUS_PROCESSED_WITH_ERRORS: 'failed',
        ON_DEPOSIT_PROOF_RECEIVED: 'mailed',
        ON_GLOBAL_DEPOSIT_PROOF_RECEIVED: 'mailed',
        ON_MAIN_DELIVERY_STATUS_FIRST_PRESENTATION: 'in_transit',
        ON_MAIN_DELIVERY_STATUS_DELIVERED: 'delivered',
        ON_MAIN_DELIVERY_STATUS_UNDELIVERED: 'returned',
        ON_UNDELIVERED_MAIL_RECEIVED: 'returned'
      }
    }
  }
})

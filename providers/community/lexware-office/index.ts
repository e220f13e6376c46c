import { defineProvider, type HttpCall, invoiceOf, requireAsWanted, type Static, Type, withoutErrors } from '@dispatch/core/provider'
import { carries, invoiceFields, limits } from './invoice.ts'
import { type Call, Settings } from './settings.ts'

const Id = Type.String({ pattern: '^(?=.*[1-9a-f])[0-9a-f-]{36}$' })
const Made = Type.Object({ ...withoutErrors, id: Id })
const Invoice = Type.Object({
  ...withoutErrors,
  voucherStatus: Type.String(),
  voucherNumber: Type.String(),
  totalPrice: Type.Object({ totalGrossAmount: Type.Number() })
})
const Subscribed = Type.Object({
  content: Type.Array(Type.Object({ subscriptionId: Id, eventType: Type.String(), callbackUrl: Type.String() }))
})

const changed = 'invoice.status.changed'
const day = 24 * 3600

export default defineProvider({
  code: 'lexware-office',
  name: 'Lexware Office',
  docs: 'https://developers.lexware.io/docs/',
  hosts: ['api.lexware.io'],
  settings: Settings,
  errors: {
    at: ['/IssueList/0/i18nKey', '/details/0/violation', '/error'],
    message: ['/details/0/message', '/IssueList/0/source', '/message']
  },
  check: (call) => call.http.get(...ask(call, 'profile'), Type.Object({ organizationId: Type.String() })),
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      requires: ['/number', '/date', '/currency', '/customer/name', '/lines/0/quantity', '/lines/0/unitPrice', '/total'],
      limits,
      carries,
      // Nothing of ours can be searched for, no draft can be finalized by the API, and none deleted.
      idempotency: { kind: 'none' },
      statuses: { open: 'open', overdue: 'open', paid: 'paid', voided: 'void' },
      poll: { until: 120 * day },

      check (request, { settings }) {
        invoiceFields(request, settings)
        return []
      },

      async dispatch (request, call) {
        const json = invoiceFields(request, call.settings)
        const { id } = await call.http.post(...ask(call, 'invoices', { query: { finalize: true }, json }), Made)
        const { voucherStatus: status, voucherNumber: number, totalPrice: { totalGrossAmount: total } } = await read(id, call)
        // It is issued already.
        requireAsWanted({ total, isDraft: false }, invoiceOf(request.data), 'Lexware Office')
        return { id, status, number }
      },

      async status ({ id }, call) {
        const { voucherStatus: status, voucherNumber: number } = await read(id, call)
        return { status, number }
      },

      async document ({ id }, call) {
        const { voucherNumber } = await read(id, call)
        const [url, request] = ask(call, `${pathOf(id)}/file`, { headers: { accept: 'application/pdf' } })
        return await call.http.download(url, { ...request, filename: `${voucherNumber}.pdf` })
      },

      async subscribe ({ url: callbackUrl }, call) {
        const { content } = await call.http.get(...ask(call, 'event-subscriptions'), Subscribed)
        const known = content.find((one) => one.callbackUrl === callbackUrl && one.eventType === changed)
        // A subscription has no fields that could be changed.
        if (known !== undefined) await call.http.delete(...ask(call, subscriptionOf(known.subscriptionId)), Type.Null())
        const { id } = await call.http.post(...ask(call, 'event-subscriptions', { json: { eventType: changed, callbackUrl } }), Made)
        return { id }
      },

      unsubscribe: ({ id }, call) => call.http.delete(...ask(call, subscriptionOf(id)), Type.Null())
    }
  },
  webhooks: {
    invoicing: {
      // An event only says that the status of an invoice has changed.
      verify: { kind: 'hint' },
      confirm: true,
      body: Type.Object({ eventType: Type.String(), resourceId: Type.String() }),
      read: ({ eventType, resourceId: remoteId }) => ({ remoteId, type: eventType }),
      events: {}
    }
  }
})

function ask ({ settings: { apiKey } }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://api.lexware.io/v1/${path}`, { bearer: apiKey, ...more }]
}

function pathOf (id: string): string {
  return `invoices/${encodeURIComponent(id)}`
}

function subscriptionOf (id: string): string {
  return `event-subscriptions/${encodeURIComponent(id)}`
}

async function read (id: string, call: Pick<Call, 'http' | 'settings'>): Promise<Static<typeof Invoice>> {
  return await call.http.get(...ask(call, pathOf(id)), Invoice)
}

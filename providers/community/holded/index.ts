import { defineProvider, given, type HttpCall, invoiceOf, requireAsWanted, Type, withoutErrors } from '@dispatch/core/provider'
import { carries, invoiceFields, limits } from './invoice.ts'
import { type Call, Settings } from './settings.ts'

/** 1 stands in every answer that did something. */
const done = { ...withoutErrors, status: Type.Literal(1) }
const Made = Type.Object({
  ...done,
  id: Type.String({ pattern: '^(?=.*[1-9a-f])[0-9a-f]{24}$' })
})
const Invoice = Type.Object({ ...withoutErrors, status: Type.Integer(), docNumber: Type.Optional(Type.String()), total: Type.Number() })
const Pdf = Type.Object({ ...done, data: Type.String() })

const day = 24 * 3600

export default defineProvider({
  code: 'holded',
  name: 'Holded',
  docs: 'https://developers.holded.com',
  hosts: ['api.holded.com'],
  settings: Settings,
  errors: { message: ['/info', '/message'] },
  check: (call) => call.http.get(...ask(call, 'taxes'), Type.Array(Type.Object({ key: Type.String() }))),
  services: {
    invoicing: {
      documentTypes: ['INVOICE'],
      requires: ['/number', '/date', '/currency', '/customer/name', '/lines/0/quantity', '/lines/0/unitPrice', '/total'],
      limits,
      carries,
      // Nothing of ours can be searched for, and no draft approved by the API.
      idempotency: { kind: 'none' },
      statuses: { 0: 'open', 1: 'paid', 2: 'partly_paid' },
      poll: { until: 120 * day },

      check (request) {
        invoiceFields(request)
        return []
      },

      async dispatch (request, call) {
        const { id } = await call.http.post(...ask(call, 'documents/invoice', { json: invoiceFields(request) }), Made)
        const { status, docNumber: number, total } = await call.http.get(...ask(call, pathOf(id)), Invoice)
        requireAsWanted({ total, number, isDraft: false }, invoiceOf(request.data), 'Holded')
        return { id, status: String(status), ...given({ number }) }
      },

      async status ({ id }, call) {
        const { status, docNumber } = await call.http.get(...ask(call, pathOf(id)), Invoice)
        return { status: String(status), ...given({ number: docNumber }) }
      },

      async document ({ id }, call) {
        const { data } = await call.http.get(...ask(call, `${pathOf(id)}/pdf`), Pdf)
        return await call.documents.keep({ base64: data, filename: `${id}.pdf`, contentType: 'application/pdf' })
      }
    }
  }
})

function ask ({ settings: { apiKey } }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://api.holded.com/api/invoicing/v1/${path}`, { apiKey: { header: 'key', value: apiKey }, ...more }]
}

function pathOf (id: string): string {
  return `documents/invoice/${encodeURIComponent(id)}`
}

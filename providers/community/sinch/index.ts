import { defineProvider, type HttpCall, inFrench, Secret, type Static, textMessagePoll, TextSender, Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  servicePlanId: Type.String({
    title: 'Service plan ID',
    ...inFrench('Service plan ID', 'celui du service de SMS, dans le tableau de bord'),
    description: 'that of the SMS service, in the dashboard',
    pattern: '^[\\w-]{8,64}$'
  }),
  apiToken: Secret({
    title: 'API token',
    ...inFrench('Jeton d’API', 'le jeton de ce service'),
    description: 'the token of that service',
    pattern: '^\\w{16,}$'
  }),
  region: Type.Union([
    Type.Literal('eu', { title: 'Europe', ...inFrench('Europe') }),
    Type.Literal('us', { title: 'United States', ...inFrench('États-Unis') }),
    Type.Literal('br', { title: 'Brazil', ...inFrench('Brésil') }),
    Type.Literal('au', { title: 'Australia', ...inFrench('Australie') }),
    Type.Literal('ca', { title: 'Canada', ...inFrench('Canada') })
  ], { title: 'Region', ...inFrench('Région', 'celle du service'), description: 'that of the service' }),
  from: TextSender()
})
type Call = { settings: Static<typeof Settings> }

const Batch = Type.Object({ id: Type.String({ minLength: 1 }) })
const Batches = Type.Object({ batches: Type.Array(Batch) })
/** https://developers.sinch.com/docs/sms/api-reference/sms/delivery-reports: with one recipient there is one status. */
const Report = Type.Object({ statuses: Type.Array(Type.Object({ status: Type.String({ minLength: 1 }), code: Type.Integer() })) })

const statuses = {
  Queued: 'queued',
  Dispatched: 'sent',
  Delivered: 'delivered',
  Aborted: 'failed',
  Rejected: 'failed',
  Deleted: 'failed',
  Failed: 'failed',
  Expired: 'failed',
  Cancelled: 'failed'
} as const

const minute = 60

export default defineProvider({
  code: 'sinch',
  name: 'Sinch',
  docs: 'https://developers.sinch.com/docs/sms/api-reference/sms/batches/sendsms',
  hosts: ['eu', 'us', 'br', 'au', 'ca'].map((region) => `${region}.sms.api.sinch.com`),
  settings: Settings,
  errors: { at: '/code', message: '/text', map: { unauthorized: 'authentication_error', syntax_constraint_violation: 'provider_error' } },
  check: (call) => call.http.get(...ask(call, '', { query: { page_size: 1 } }), Batches),
  services: {
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'lookup', visibleAfter: 10 * minute },
      statuses,
      poll: textMessagePoll,

      async dispatch ({ sms: { phoneNumber, message, sender } }, call) {
        const { reference, webhookUrl } = call
        const { id } = await call.http.post(...ask(call, '', {
          json: {
            type: 'mt_text',
            from: sender ?? call.settings.from,
            to: [phoneNumber],
            body: message,
            client_reference: reference,
            ...(webhookUrl !== undefined && { delivery_report: 'per_recipient', callback_url: webhookUrl })
          }
        }), Batch)
        return { id, status: 'Queued' }
      },

      async lookup ({ reference }, call) {
        const { batches: [found] } = await call.http.get(...ask(call, '', { query: { client_reference: reference } }), Batches)
        return found === undefined ? { found: 'absent' } : { found: 'accepted', response: { id: found.id, status: 'Queued' } }
      },

      async status ({ id }, call) {
        const path = `/${encodeURIComponent(id)}/delivery_report`
        const { statuses: [one] } = await call.http.get(...ask(call, path, { query: { type: 'full' } }), Report)
        const { status = 'Queued', code = 0 } = one ?? {}
        return { status, ...(code >= 402 && { reason: `code ${code}` }) }
      }
    }
  },
  webhooks: {
    sms: {
      // Signed by arrangement only: it says that Sinch is to be asked.
      verify: { kind: 'hint' },
      confirm: true,
      body: Type.Object({ batch_id: Type.String({ minLength: 1 }), status: Type.String({ minLength: 1 }) }),
      read: ({ batch_id: remoteId, status: type }) => ({ remoteId, type }),
      events: statuses
    }
  }
})

function ask ({ settings: { servicePlanId, apiToken, region } }: Call, path: string, more: HttpCall): [url: string, call: HttpCall] {
  return [`https://${region}.sms.api.sinch.com/xms/v1/${servicePlanId}/batches${path}`, { bearer: apiToken, ...more }]
}

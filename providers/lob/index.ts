import { at, defineProvider, refused, Secret, Type, type Context, type HttpCall, type Json, type ServiceContracts, type Static } from '@dispatch/core/provider'
import { addressOf, countries, returnAddressOf, type Address } from './address.ts'
import { events, statuses, wordOf } from './tracking.ts'

type MailType = ServiceContracts['postal']['dispatch']['postal']['mailType']

const letters = 'https://api.lob.com/v1/letters'
/** Under which our reference of a step stands in the metadata of its letter. */
const referenceKey = 'dispatch_reference'

const Settings = Type.Object({
  apiKey: Secret({ title: 'API key', description: 'a secret key of Lob, which begins with live_, or with test_ for a sandbox', pattern: '^(live|test)_\\w+$' }),
  senderName: Type.String({ title: 'Sender', description: 'Who the letter is from: the name of the return address.', minLength: 1, maxLength: 40 }),
  senderAddress: Type.String({ title: 'Street', description: 'The street of the return address, which lies in the United States.', minLength: 1, maxLength: 64 }),
  senderCity: Type.String({ title: 'City', description: 'The city of the return address.', minLength: 1, maxLength: 200 }),
  senderState: Type.String({ title: 'State', description: 'two letters, such as CA', pattern: '^[A-Z]{2}$' }),
  senderZip: Type.String({ title: 'ZIP code', description: 'five digits, or nine as 94107-1234', pattern: '^\\d{5}(-\\d{4})?$' }),
  useType: Type.Optional(Type.Enum(['operational', 'marketing'], {
    title: 'Use', description: 'What the letters are, which Lob asks for; operational unless set.'
  })),
  addressPlacement: Type.Optional(Type.Enum(['insert_blank_page', 'top_first_page', 'bottom_first_page'], {
    title: 'Address', description: 'Where Lob prints the addresses: on a page of its own before the first (unless set), or over the first page.'
  })),
  webhookSecret: Type.Optional(Secret({ title: 'Webhook secret', description: 'The secret that Lob shows for the webhook.' }))
})

/** Why Lob could not make a letter of what it had accepted: `failure_reason` and `remediation`, both texts. */
const FailureReason = Type.Optional(Type.Unsafe<Json>({}))

const RequestSettings = Type.Object({
  addressId: Type.Optional(Type.String({
    title: 'Address', description: 'An address kept at Lob (adr_…), which the letter goes to in place of the recipient\'s.', pattern: '^adr_[a-zA-Z0-9]+$'
  })),
  returnReceipt: Type.Optional(Type.Boolean({ title: 'Return receipt', description: 'A registered letter within the United States comes with a return receipt.' })),
  returnEnvelope: Type.Optional(Type.Boolean({ title: 'Return envelope', description: 'An envelope for the answer lies in the letter.' })),
  perforatedPage: Type.Optional(Type.Integer({ title: 'Perforated page', description: 'The page that is sent back in the return envelope; 1 unless set.', minimum: 1, maximum: 60 }))
})

type RequestSettings = Static<typeof RequestSettings>

const Letter = Type.Object({
  id: Type.String(),
  status: Type.Optional(Type.String()),
  deleted: Type.Optional(Type.Boolean()),
  expected_delivery_date: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  tracking_number: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  failure_reason: FailureReason,
  tracking_events: Type.Optional(Type.Union([Type.Array(Type.Object({ name: Type.String() })), Type.Null()]))
})
const Letters = Type.Object({ data: Type.Array(Letter) })
const Deleted = Type.Object({ deleted: Type.Optional(Type.Boolean()) })

type Call = Context<Static<typeof Settings>, RequestSettings>

export default defineProvider({
  code: 'lob', name: 'Lob', docs: 'https://docs.lob.com/#tag/Letters',
  hosts: ['api.lob.com'],
  sandbox: { kind: 'configuration', key: { setting: 'apiKey', test: '^test_' } },
  settings: Settings,
  requestSettings: RequestSettings,
  errors: {
    at: '/error/code',
    message: '/error/message',
    map: {
      // Said of a key whose first request is still at work, too.
      conflict: 'outcome_unknown',
      request_timeout: 'outcome_unknown',
      // Of the account, answered with 401 and 403: the key is right. https://help.lob.com/developer-docs/error-reference
      billing_address_required: 'provider_error',
      payment_method_unverified: 'provider_error',
      email_required: 'provider_error',
      feature_limit_reached: 'provider_error'
    }
  },
  services: {
    postal: {
      mailTypes: ['SIMPLE', 'REGISTERED'],
      countries,
      color: true,
      duplex: true,
      // Of Lob's 60, two are kept for the page of the addresses and the sheet of a certified letter.
      maxPages: 58,
      idempotency: { kind: 'key', ttl: 24 * 3600 },
      statuses,

      check ({ postal: { recipient, mailType } }, { requestSettings }) {
        extraService(mailType, addressOf(recipient), requestSettings)
        return []
      },

      async dispatch ({ postal: { recipient, mailType, color, duplex }, document }, call) {
        const { addressId, returnEnvelope = false, perforatedPage = 1 } = call.requestSettings
        const to = addressOf(recipient)
        const { useType = 'operational', addressPlacement = 'insert_blank_page' } = call.settings
        const letter = await call.http.post(...ask(call, {
          headers: { 'idempotency-key': call.idempotencyKey },
          multipart: {
            ...(addressId === undefined ? bracketed('to', to) : { to: addressId }),
            ...bracketed('from', returnAddressOf(call.settings)),
            color,
            double_sided: duplex,
            ...extraService(mailType, to, call.requestSettings),
            ...(returnEnvelope && { return_envelope: true, perforated_page: perforatedPage }),
            address_placement: addressPlacement,
            use_type: useType,
            ...bracketed('metadata', { [referenceKey]: call.reference }),
            file: document
          }
        }), Letter)
        return answer(letter)
      },

      async lookup ({ reference }, call) {
        const query = { metadata: { [referenceKey]: reference }, limit: 1 }
        const { data: [letter] } = await call.http.get(...ask(call, { query }), Letters)
        return letter === undefined ? { found: 'absent' } : { found: 'accepted', response: answer(letter) }
      },

      async status ({ id }, call) {
        const letter = await call.http.get(...ask(call, {}, pathOf(id)), Letter)
        return { ...facts(letter), status: wordOf(letter) }
      },

      async cancel ({ id }, call) {
        const { deleted = true } = await call.http.delete(...ask(call, {}, pathOf(id)), Deleted)
        if (!deleted) throw refused('not_deletable', 'Lob has not cancelled the letter.')
        return { status: 'deleted' }
      }
    }
  },
  webhooks: {
    postal: {
      verify: {
        kind: 'hmac', header: 'Lob-Signature', algorithm: 'sha256', encoding: 'hex', secret: 'webhookSecret',
        timestamp: { header: 'Lob-Signature-Timestamp', unit: 'milliseconds' }
      },
      body: Type.Object({ id: Type.String(), reference_id: Type.String(), event_type: Type.Object({ id: Type.String() }), body: Type.Optional(Type.Object({ failure_reason: FailureReason })) }),
      read: ({ id, reference_id: remoteId, event_type: { id: type }, body: letter }) => ({ eventId: id, remoteId, type, ...reasonOf(letter?.failure_reason) }),
      events
    }
  }
})

/** A request: the key says which of Lob's two environments is meant, and nothing is printed in that of test keys. */
function ask (call: Call, more: HttpCall = {}, path = ''): [url: string, call: HttpCall] {
  return [letters + path, { basic: [call.settings.apiKey, ''], ...more, headers: { 'lob-version': '2020-02-11', ...more.headers } }]
}

/** Throws a refusal where there are no return receipts. */
function extraService (mailType: MailType, { address_country: country }: Address, { returnReceipt = false }: RequestSettings): { extra_service?: string } {
  if (mailType === 'REGISTERED' && country === 'US') return { extra_service: returnReceipt ? 'certified_return_receipt' : 'certified' }
  if (returnReceipt) throw refused('no_return_receipt', 'Lob has return receipts for registered letters within the United States alone.', '/settings/returnReceipt')
  return mailType === 'REGISTERED' ? { extra_service: 'registered' } : {}
}

const pathOf = (id: string): string => `/${encodeURIComponent(id)}`

function bracketed (name: string, fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [`${name}[${field}]`, value]))
}

function answer (letter: Static<typeof Letter>): { id: string, status: string } {
  return { id: letter.id, status: letter.status ?? 'processed', ...facts(letter) }
}

function facts ({ expected_delivery_date: date, tracking_number: number, failure_reason: failure }: Static<typeof Letter>): { expectedDeliveryDate?: string, trackingNumber?: string, reason?: string } {
  return { ...(typeof date === 'string' && { expectedDeliveryDate: date }), ...(typeof number === 'string' && { trackingNumber: number }), ...reasonOf(failure) }
}

function reasonOf (failure: Json = null): { reason?: string } {
  const reason = ['/failure_reason', '/remediation'].map((pointer) => at(failure, pointer)).filter((text) => typeof text === 'string').join(' ')
  return reason === '' ? {} : { reason }
}

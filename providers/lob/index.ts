import { defineProvider, type HttpCall, refused, type ServiceContracts } from '@dispatch/core/provider'
import { type Address, addressOf, countries, returnAddressOf } from './address.ts'
import { answer, Deleted, Event, facts, Letter, Letters, reasonOf } from './letter.ts'
import { type Call, RequestSettings, Settings } from './settings.ts'
import { events, statuses, wordOf } from './tracking.ts'

type MailType = ServiceContracts['postal']['dispatch']['postal']['mailType']

const letters = 'https://api.lob.com/v1/letters'
/** The metadata key of a letter under which Lob stores our reference of the step. */
const referenceKey = 'dispatch_reference'

export default defineProvider({
  code: 'lob',
  name: 'Lob',
  docs: 'https://docs.lob.com/#tag/Letters',
  hosts: ['api.lob.com'],
  sandbox: { kind: 'configuration', key: { setting: 'apiKey', test: '^test_' } },
  settings: Settings,
  requestSettings: RequestSettings,
  errors: {
    at: '/error/code',
    message: '/error/message',
    map: {
      // Lob also gives this answer for a key whose first request is still running.
      conflict: 'outcome_unknown',
      request_timeout: 'outcome_unknown',
      // Errors of the account with status 401 and 403, although the key is valid. https://help.lob.com/developer-docs/error-reference
      billing_address_required: 'provider_error',
      payment_method_unverified: 'provider_error',
      email_required: 'provider_error',
      feature_limit_reached: 'provider_error'
    }
  },
  check: (call) => call.http.get(...ask(call, { query: { limit: 1 } }), Letters),
  services: {
    postal: {
      mailTypes: ['SIMPLE', 'REGISTERED'],
      countries,
      papers: ['Letter'],
      color: true,
      duplex: true,
      // Of Lob's 60 pages, two are reserved: for the page of the addresses, and for the sheet of a certified letter.
      maxPages: 58,
      idempotency: { kind: 'key', ttl: 24 * 3600 },
      statuses,
      ignores: [{
        at: ['/settings/perforatedPage'],
        when: { '/settings/returnEnvelope': false },
        because: 'Lob perforates a page for a return envelope alone.'
      }],

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
        kind: 'hmac',
        header: 'Lob-Signature',
        algorithm: 'sha256',
        encoding: 'hex',
        secret: 'webhookSecret',
        timestamp: { header: 'Lob-Signature-Timestamp', unit: 'milliseconds' }
      },
      body: Event,
      read: ({ id, reference_id: remoteId, event_type: { id: type }, body: letter }) => ({
        eventId: id,
        remoteId,
        type,
        ...reasonOf(letter?.failure_reason)
      }),
      events
    }
  }
})

/** A request. The key selects one of Lob's two environments; with a test key, nothing is printed. */
function ask (call: Pick<Call, 'settings'>, more: HttpCall = {}, path = ''): [url: string, call: HttpCall] {
  return [letters + path, { basic: [call.settings.apiKey, ''], ...more, headers: { 'lob-version': '2020-02-11', ...more.headers } }]
}

/** Refuses a return receipt where Lob has none. */
function extraService (
  mailType: MailType,
  { address_country: country }: Address,
  { returnReceipt = false }: RequestSettings
): { extra_service?: string } {
  if (mailType === 'REGISTERED' && country === 'US') return { extra_service: returnReceipt ? 'certified_return_receipt' : 'certified' }
  if (returnReceipt) {
    throw refused('no_return_receipt', 'Lob has return receipts for registered letters within the United States alone.',
      '/settings/returnReceipt')
  }
  return mailType === 'REGISTERED' ? { extra_service: 'registered' } : {}
}

const pathOf = (id: string): string => `/${encodeURIComponent(id)}`

function bracketed (name: string, fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [`${name}[${field}]`, value]))
}

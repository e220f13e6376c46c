import { defineProvider, draftFirst, refused, Type, unavailable } from '@dispatch/core/provider'
import { ask, Letter, letter, Letters, pathOf, settled, Upload } from './api.ts'
import { RequestSettings, Settings } from './settings.ts'

/** https://github.com/pingencom/pingen2-sdk-php, tests/IncomingWebhook */
const Event = Type.Object({
  data: Type.Object({
    id: Type.String({ minLength: 1 }),
    type: Type.String({ minLength: 1 }),
    attributes: Type.Object({ reason: Type.Optional(Type.Union([Type.String(), Type.Null()])) }),
    relationships: Type.Object({ letter: Type.Object({ data: Type.Object({ id: Type.String({ minLength: 1 }) }) }) })
  })
})

/** Until they have been sent. */
const drafts = ['validating', 'fixing', 'valid', 'action_required']
const reading = ['validating', 'fixing']
const invalid = 'Pingen cannot post the letter as it is: its page there says why.'
const because = 'Pingen reads the address in the window of the letter.'
const hour = 3600

export default defineProvider({
  code: 'pingen',
  name: 'Pingen',
  docs: 'https://api.pingen.com/documentation',
  hosts: ['api.pingen.com', 'identity.pingen.com', 'api-staging.pingen.com', 'identity-staging.pingen.com', 'named *.amazonaws.com'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  requestSettings: RequestSettings,
  errors: {
    at: ['/errors/0/code', '/error'],
    message: ['/errors/0/title', '/error_description'],
    map: { invalid_client: 'authentication_error' }
  },
  check: (call) => call.http.get(...ask(call, pathOf(call), { query: { 'page[limit]': 1 } }), Letters),
  services: {
    postal: {
      mailTypes: ['SIMPLE', 'REGISTERED'],
      papers: ['A4'],
      color: true,
      duplex: true,
      addressPage: {
        when: { '/settings/addressPage': { const: true } },
        window: { left: 22, top: 50, width: 80, height: 28 },
        windows: { setting: 'addressPosition', places: { right: { left: 118, top: 50, width: 80, height: 28 } } }
      },
      ignores: [
        { at: ['/postal/recipient'], when: { '/settings/addressPage': false }, because },
        { at: ['/postal/recipient'], when: { '/settings/addressPage': Type.Literal(false) }, because }
      ],
      // A letter can be read by its id at once. A request that was cut off may still run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },
      timeLimit: 100,
      statuses: {
        submitted: 'accepted',
        accepted: 'accepted',
        transferring: 'accepted',
        processing: 'accepted',
        printing: 'printed',
        sent: 'mailed',
        undeliverable: 'returned',
        unprintable: 'failed',
        rejected: 'failed',
        expired: 'failed',
        cancelled: 'cancelled'
      },
      poll: { after: 6 * hour, every: 12 * hour, until: 60 * 24 * hour },

      // A draft is never printed before it is sent.
      ...draftFirst<'postal', typeof Settings, typeof RequestSettings>({
        async prepare ({ document }, call) {
          const { data: { attributes: { url, url_signature: signature } } } = await call.http.get(...ask(call, 'file-upload'), Upload)
          await call.http.put(url, { document }, Type.Unknown())
          const attributes = {
            file_original_name: `${call.reference} ${document.filename}`,
            file_url: url,
            file_url_signature: signature,
            address_position: call.settings.addressPosition,
            auto_send: false
          }
          const { data: { id } } = await call.http.post(...ask(call, pathOf(call), letter(attributes)), Letter)
          call.onRefusal((http) => http.delete(...ask(call, pathOf(call, id)), Type.Unknown()))
          return id
        },

        async find (draft, call) {
          const { data: { id, attributes: { status } } } = await call.http.get(...ask(call, pathOf(call, draft)), Letter)
          if (drafts.includes(status)) return { found: 'draft' }
          return status === 'invalid'
            ? { found: 'rejected', code: status, message: invalid }
            : { found: 'accepted', response: { id, status } }
        },

        async issue (draft, { postal: { mailType, duplex, color } }, call) {
          const found = await settled(draft, reading, call)
          if (reading.includes(found)) throw unavailable('Pingen is still reading the letter.')
          if (found !== 'valid') throw refused(found, invalid)
          const attributes = {
            delivery_product: mailType === 'REGISTERED' ? 'registered' : call.settings.speed ?? 'cheap',
            print_mode: duplex ? 'duplex' : 'simplex',
            print_spectrum: color ? 'color' : 'grayscale'
          }
          const { headers, json } = letter(attributes, draft)
          const keyed = { headers: { ...headers, 'Idempotency-Key': call.idempotencyKey }, json }
          const { data: { id, attributes: { status } } } = await call.http.patch(...ask(call, pathOf(call, draft, '/send'), keyed), Letter)
          return { id, status }
        },

        withdraw: (draft, _, call, http) => http.delete(...ask(call, pathOf(call, draft)), Type.Unknown())
      }),

      status: async ({ id }, call) => ({ status: await settled(id, [], call) }),

      async cancel ({ id }, call) {
        await call.http.patch(...ask(call, pathOf(call, id, '/cancel'), letter(undefined, id)), Type.Unknown())
        return { status: await settled(id, ['cancelling'], call) }
      }
    }
  },
  webhooks: {
    postal: {
      verify: { kind: 'hmac', header: 'Signature', algorithm: 'sha256', encoding: 'hex', secret: 'signingKey' },
      body: Event,
      read: ({ data: { id: eventId, type, attributes: { reason }, relationships: { letter: { data: { id: remoteId } } } } }) => ({
        eventId,
        remoteId,
        type,
        ...(typeof reason === 'string' && { reason })
      }),
      events: { webhook_sent: 'mailed', webhook_delivered: 'delivered', webhook_undeliverable: 'returned', webhook_issues: 'failed' },
      // An issue may be mended: only the letter tells whether it has ended.
      confirm: ['webhook_issues']
    }
  }
})

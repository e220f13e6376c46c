import { type Context, defineProvider, type HttpCall, inFrench, refused, Secret, type Static, Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'celle du compte, dans les paramètres'),
    description: 'that of the account, from its settings',
    pattern: '^\\S{8,}$'
  }),
  region: Type.Union([
    Type.Literal('eu1', { title: 'United Kingdom and Europe', ...inFrench('Royaume-Uni et Europe') }),
    Type.Literal('us1', { title: 'North America', ...inFrench('Amérique du Nord') })
  ], {
    title: 'Region',
    ...inFrench('Région', 'celle du compte : ses lettres y sont imprimées'),
    description: 'that of the account: its letters are printed there'
  }),
  webhookSecret: Type.Optional(Secret({
    title: 'Webhook secret',
    ...inFrench('Secret du webhook', 'un long texte au choix, saisi aussi chez Stannp'),
    description: 'a long text of your choice, entered at Stannp, too',
    pattern: '^\\S{16,200}$'
  }))
})
const RequestSettings = Type.Object({
  addressPage: Type.Optional(Type.Boolean({
    title: 'Page with the address',
    ...inFrench('Page avec l’adresse', 'une page qui porte l’adresse précède la lettre : le modèle n’a pas besoin de la montrer'),
    description: 'a page with the address comes before the letter: its template need not show it'
  }))
})
type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>

/** A refusal may be a 200 that says so. */
const said = { success: Type.Boolean(), error: Type.Optional(Type.String()) }
const Letter = Type.Object({
  ...said,
  data: Type.Optional(Type.Object({ id: Type.Integer({ minimum: 1 }), status: Type.String({ minLength: 1 }) }))
})
const Done = Type.Object(said)

/** https://www.stannp.com/us/direct-mail-api/webhooks */
const Event = Type.Object({
  event: Type.String({ minLength: 1 }),
  created: Type.String(),
  mailpieces: Type.Optional(Type.Array(Type.Object({ id: Type.Integer({ minimum: 1 }), status: Type.String({ minLength: 1 }) })))
})

const hour = 3600
const recipient = ['name', 'company', 'address', 'city', 'state', 'postalCode'].map((field) => `/postal/recipient/${field}`)
const because = 'Stannp reads the address in the window of the letter.'

export default defineProvider({
  code: 'stannp',
  name: 'Stannp',
  docs: 'https://www.stannp.com/us/direct-mail-api/letters',
  hosts: ['api-eu1.stannp.com', 'api-us1.stannp.com'],
  sandbox: { kind: 'flag' },
  settings: Settings,
  requestSettings: RequestSettings,
  errors: { message: '/error' },
  check: (call) => call.http.get(...ask(call, 'users/me'), Done),
  services: {
    postal: {
      mailTypes: ['SIMPLE'],
      maxPages: 25,
      addressPage: {
        when: { '/settings/addressPage': { const: true } },
        window: { left: 22, top: 50, width: 80, height: 28 },
        windows: { setting: 'region', places: { us1: { left: 24, top: 54, width: 85, height: 24 } } }
      },
      ignores: [
        { at: recipient, when: { '/settings/addressPage': false }, because },
        { at: recipient, when: { '/settings/addressPage': Type.Literal(false) }, because }
      ],
      // Stannp has keys for letters that it makes itself, and none for those that are complete.
      idempotency: { kind: 'none' },
      statuses: {
        received: 'accepted',
        producing: 'printed',
        handed_over: 'mailed',
        local_delivery: 'in_transit',
        delivered: 'delivered',
        returned: 'returned',
        cancelled: 'cancelled'
      },
      poll: { after: 6 * hour, every: 12 * hour, until: 60 * 24 * hour },

      async dispatch ({ postal: { recipient: { country } }, document }, call) {
        const multipart = { test: String(call.sandbox), country, pdf: document }
        return letterOf(await call.http.post(...ask(call, 'letters/post', { multipart }), Letter))
      },

      status: async ({ id }, call) => ({
        status: letterOf(await call.http.get(...ask(call, `letters/get/${encodeURIComponent(id)}`), Letter)).status
      }),

      async cancel ({ id }, call) {
        const { success, error = 'Stannp has not cancelled the letter.' } = await call.http.post(
          ...ask(call, 'letters/cancel', { form: { id } }),
          Done
        )
        if (!success) throw refused('not_cancelled', error)
        return { status: 'cancelled' }
      }
    }
  },
  webhooks: {
    postal: {
      verify: { kind: 'hmac', header: 'X-Stannp-Signature', algorithm: 'sha256', encoding: 'hex', secret: 'webhookSecret' },
      body: Event,
      read: ({ created, mailpieces = [] }) =>
        mailpieces.map(({ id, status: type }) => ({ eventId: `${id} ${type} ${created}`, remoteId: String(id), type })),
      events: {
        printing: 'printed',
        dispatched: 'mailed',
        local_delivery: 'in_transit',
        delivered: 'delivered',
        returned: 'returned',
        cancelled: 'cancelled'
      }
    }
  }
})

function ask ({ settings: { apiKey, region } }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://api-${region}.stannp.com/v1/${path}`, { basic: [apiKey, ''], ...more }]
}

function letterOf ({ success, error, data }: Static<typeof Letter>): { id: string, status: string } {
  if (!success || error !== undefined || data === undefined) throw refused('not_accepted', error ?? 'Stannp has not taken the letter.')
  return { id: String(data.id), status: data.status }
}

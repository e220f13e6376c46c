import { defineProvider, given, type HttpCall, refused, Type } from '@dispatch/core/provider'
import { recipientOf, senderOf } from './address.ts'
import { type Call, Settings } from './settings.ts'

const api = 'https://www.merci-facteur.com/api/1.2/prod/service'

/** A token lives for 24 hours, and somebody else may have asked for it before. */
const lifetime = 6 * 3600

const Id = Type.Union([Type.Integer({ minimum: 1 }), Type.String({ minLength: 1 })])
const Failure = Type.Optional(
  Type.Union([Type.String(), Type.Null(), Type.Object({ code: Type.String(), text: Type.Optional(Type.String()) })])
)
const Sent = Type.Object({
  success: Type.Boolean(),
  error: Failure,
  envoi_id: Type.Optional(Type.Union([Id, Type.Array(Id, { minItems: 1 }), Type.Null()]))
})

const Event = Type.Object({
  event: Type.Object({ date_event: Type.Union([Type.Integer(), Type.String()]) }),
  detail: Type.Array(Type.Object({
    id_envoi: Id,
    ref_courrier: Type.String(),
    statut_courrier: Type.String({ minLength: 1 }),
    statut_description: Type.Optional(Type.String())
  }))
})

/** Those of a letter that did not arrive, with a reason. */
const returned = {
  non_distribuable: 'returned',
  retour_expediteur: 'returned',
  distribue_expediteur: 'returned',
  archivage_pnd: 'returned'
} as const

export default defineProvider({
  code: 'merci-facteur',
  name: 'Merci Facteur',
  docs: 'https://www.merci-facteur.com/api/1.2/doc.php',
  hosts: ['www.merci-facteur.com'],
  settings: Settings,
  errors: {
    at: ['/error/code', '/error'],
    message: ['/error/text', '/error'],
    map: { 401: 'authentication_error', 403: 'authentication_error' }
  },
  check: (call) => call.http.get(...ask(call, 'getQuotaCompte'), Type.Object({ success: Type.Literal(true) })),
  services: {
    postal: {
      mailTypes: ['SIMPLE', 'REGISTERED'],
      papers: ['A4'],
      color: true,
      duplex: true,
      ignores: [{ at: ['/postal/color'], because: 'Merci Facteur prints a file in the colours that it has.' }],
      limits: [{ at: '/postal/recipient/state', fits: false, because: 'Merci Facteur has no field for a state: it would not be printed.' }],
      // It refuses a letter with the same reference for 30 days, and does not say which one it has taken.
      idempotency: { kind: 'none' },

      check ({ postal: { recipient } }) {
        recipientOf(recipient)
        return []
      },

      async dispatch ({ postal: { recipient, mailType, duplex }, document }, call) {
        const { userId, receipt = 'lrar' } = call.settings
        const letter = { base64files: [document], final_filename: document.filename, print_sides: duplex ? 'rectoverso' : 'recto' }
        const { success, error, envoi_id: id } = await call.http.post(...ask(call, 'sendCourrier', {
          form: {
            idUser: userId,
            modeEnvoi: mailType === 'REGISTERED' ? receipt : 'normal',
            adress: { json: { exp: senderOf(call.settings), dest: [recipientOf(recipient)] } },
            content: { json: { letter } },
            antidoublon: call.reference
          }
        }), Sent)
        const made = Array.isArray(id) ? id[0] : id
        if (!success || made === undefined || made === null) {
          const { code, text } = typeof error === 'object' && error !== null ? error : { code: error ?? 'not_accepted', text: undefined }
          throw refused(code, text ?? `Merci Facteur has refused the letter: ${code}.`)
        }
        return { id: String(made), status: 'wait' }
      }
    }
  },
  webhooks: {
    postal: {
      verify: { kind: 'secret', at: { header: 'X-Mf-Webhook-Secret-Key' }, secret: 'webhookSecret' },
      form: 'form',
      json: ['/event', '/detail'],
      body: Event,
      read: ({ event: { date_event: time }, detail }) =>
        detail.map(({ id_envoi: id, ref_courrier: letter, statut_courrier: type, statut_description: reason }) => ({
          remoteId: String(id),
          type,
          eventId: `${letter} ${type} ${time}`,
          ...given({ reason: Object.hasOwn(returned, type) ? reason : undefined })
        })),
      events: {
        wait: 'accepted',
        imprime: 'printed',
        pris_en_charge: 'mailed',
        traitement: 'in_transit',
        attente_presentation: 'in_transit',
        distribution_en_cours: 'in_transit',
        attente_au_guichet: 'in_transit',
        distribue: 'delivered',
        retour_are: 'delivered',
        ...returned
      }
    }
  }
})

function ask ({ settings }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  const { serviceId, secretKey, addresses } = settings
  const service = { 'ww-service-id': serviceId }
  return [`${api}/${path}`, {
    session: {
      url: `${api}/getToken`,
      form: { timeLimit: 1 },
      headers: { ...service, ...given({ 'ww-authorized-ip': addresses }) },
      signature: { key: secretKey, text: serviceId, header: 'ww-service-signature', time: 'ww-timestamp' },
      token: '/token',
      lifetime,
      header: 'ww-access-token'
    },
    headers: service,
    ...more
  }]
}

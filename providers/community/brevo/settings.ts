import { AllowedSenders, type Http, type HttpCall, Secret, type Static, type Suggestion, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    'x-texts': { fr: { title: 'Clé d’API', description: 'Une clé de l’API v3, qui commence par xkeysib-.' } },
    description: 'A key of the API v3, which begins with xkeysib-.',
    pattern: '^xkeysib-[\\w-]+$'
  }),
  allowedSenders: AllowedSenders({
    'x-texts': {
      fr: {
        title: 'Expéditeurs autorisés',
        description: 'd’où les e-mails peuvent venir : des adresses entières, ou @example.com pour tout le domaine'
      }
    }
  }),
  webhookToken: Type.Optional(Secret({
    title: 'Token of the webhook',
    'x-texts': {
      fr: {
        title: 'Jeton du webhook',
        description: 'fait et enregistré chez Brevo avec ces paramètres ; à saisir seulement pour un webhook fait à la main'
      }
    },
    description: 'made and registered at Brevo when the settings are saved; enter one only for a webhook that you made by hand',
    pattern: '^[\\w.~+/=-]{16,200}$'
  })),
  smsSender: Type.Optional(Type.String({
    title: 'SMS sender',
    'x-texts': {
      fr: {
        title: 'Expéditeur des SMS',
        description: 'l’expéditeur habituel des SMS : jusqu’à 11 lettres et chiffres, ou jusqu’à 15 chiffres'
      }
    },
    description: 'the usual sender of text messages: up to 11 letters and digits, or up to 15 digits',
    pattern: '^([A-Za-z0-9]{1,11}|[0-9]{1,15})$',
    default: 'Info'
  }))
})
export type Call = { settings: Static<typeof Settings> }

export function ask ({ settings: { apiKey } }: Call, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://api.brevo.com/v3${path}`, { headers: { 'api-key': apiKey }, ...more }]
}

const Senders = Type.Object({
  senders: Type.Optional(Type.Array(Type.Object({ name: Type.String(), email: Type.String(), active: Type.Boolean() })))
})

/** The addresses that Brevo has confirmed. */
export async function senders (call: Call & { http: Pick<Http, 'get'> }): Promise<Suggestion[]> {
  const { senders: all = [] } = await call.http.get(...ask(call, '/senders'), Senders)
  return all.filter(({ active }) => active).map(({ email: value, name: title }) => ({ value, title }))
}

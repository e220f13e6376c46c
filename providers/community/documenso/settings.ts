import { type Context, inFrench, Paper, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API token',
    ...inFrench('Jeton d’API', 'celui de l’équipe, qui commence par api_'),
    description: 'that of the team, which begins with api_',
    pattern: '^api_\\S{8,}$'
  }),
  paper: Paper(),
  webhookSecret: Type.Optional(Secret({
    title: 'Webhook secret',
    ...inFrench('Secret du webhook', 'un long texte au choix, saisi aussi chez Documenso'),
    description: 'a long text of your choice, entered at Documenso, too',
    pattern: '^[\\w.~+/=-]{16,200}$'
  }))
})

export type Call = Context<Static<typeof Settings>, unknown>
export type Request = ServiceContracts['esign']['dispatch']

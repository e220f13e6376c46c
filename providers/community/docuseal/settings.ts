import { type Context, inFrench, Paper, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'celle du compte, dans les paramètres'),
    description: 'that of the account, from its settings',
    pattern: '^\\S{20,}$'
  }),
  region: Type.Optional(Type.Union([
    Type.Literal('com', { title: 'Global', ...inFrench('Monde') }),
    Type.Literal('eu', { title: 'European Union', ...inFrench('Union européenne') })
  ], {
    title: 'Region',
    ...inFrench('Région', 'où le compte a été ouvert ; le monde par défaut'),
    description: 'where the account was opened; global unless set'
  })),
  paper: Paper(),
  webhookSecret: Type.Optional(Secret({
    title: 'Signing secret',
    ...inFrench('Secret de signature', 'celui du webhook, qui commence par whsec_'),
    description: 'that of the webhook, which begins with whsec_',
    pattern: '^whsec_\\S{8,}$'
  }))
})

export type Call = Context<Static<typeof Settings>, unknown>
export type Request = ServiceContracts['esign']['dispatch']

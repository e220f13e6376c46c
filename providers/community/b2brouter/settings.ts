import { type Context, inFrench, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'celle de l’entreprise ; pour un environnement de test, celle de l’environnement de test de B2Brouter'),
    description: 'that of the company; for a sandbox that of B2Brouter\'s test environment',
    pattern: '^\\S{8,}$'
  }),
  account: Type.String({
    title: 'Account',
    ...inFrench('Compte', 'le numéro du compte de l’émetteur'),
    description: 'the number of the account of the sender',
    pattern: '^\\w{1,64}$',
    examples: ['211162']
  }),
  webhookSecret: Type.Optional(Secret({
    title: 'Webhook secret',
    ...inFrench('Secret du webhook', 'celui du webhook, affiché par B2Brouter'),
    description: 'that of the webhook, which B2Brouter shows',
    pattern: '^\\S{8,}$'
  }))
})

export type Call = Context<Static<typeof Settings>, unknown>
export type Request = ServiceContracts['invoicing']['dispatch']

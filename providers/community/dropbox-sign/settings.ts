import { type Context, inFrench, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'celle du compte, dans les paramètres de l’API'),
    description: 'that of the account, under "API" of the settings',
    pattern: '^\\w{20,}$'
  }),
  clientId: Type.Optional(Type.String({
    title: 'Client ID',
    ...inFrench('Identifiant client',
      'de l’application d’API dont la marque et l’adresse des événements servent ; celles du compte par défaut'),
    description: 'of the API app whose branding and address for events are used; those of the account unless set',
    pattern: '^\\w{8,64}$'
  }))
})

export type Call = Context<Static<typeof Settings>, unknown>
export type Request = ServiceContracts['esign']['dispatch']

import { inFrench, Secret, TextSender, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'une clé du compte, sous Développeurs'),
    description: 'a key of the account, from the page for developers',
    pattern: '^\\w{16,}$'
  }),
  from: TextSender({ pattern: '^(\\+?[1-9]\\d{6,14}|[A-Za-z0-9 .-]{1,11})$', examples: ['ACME'] }),
  signingKey: Type.Optional(Secret({
    title: 'Signing key',
    ...inFrench('Clé de signature', 'celle avec laquelle seven signe ses webhooks'),
    description: 'the one with which seven signs its webhooks',
    pattern: '^\\S{8,}$'
  }))
})

import { type Context, inFrench, Secret, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'celle de l’entreprise, dans la configuration des développeurs'),
    description: 'that of the company, in the settings for developers',
    pattern: '^\\S{16,}$'
  })
})

export type Call = Context<Static<typeof Settings>, unknown>

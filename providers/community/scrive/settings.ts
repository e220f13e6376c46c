import { type Context, inFrench, Paper, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

const description = 'that of the page "Integration settings"'
const french = 'celui de la page « Paramètres d’intégration »'
const pattern = '^\\w{8,100}$'

export const Settings = Type.Object({
  apiToken: Type.String({
    title: 'Client credentials identifier',
    ...inFrench('Identifiant client', french),
    description,
    pattern
  }),
  apiSecret: Secret({ title: 'Client credentials secret', ...inFrench('Secret client', french), description, pattern }),
  accessToken: Type.String({
    title: 'Token credentials identifier',
    ...inFrench('Identifiant du jeton', french),
    description,
    pattern
  }),
  accessSecret: Secret({ title: 'Token credentials secret', ...inFrench('Secret du jeton', french), description, pattern }),
  paper: Paper()
})

export type Call = Context<Static<typeof Settings>, unknown>
export type Request = ServiceContracts['esign']['dispatch']

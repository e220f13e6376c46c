import { type Context, inFrench, Paper, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  token: Secret({
    title: 'Access token',
    ...inFrench('Jeton d’accès', 'celui du compte ; pour un environnement de test, celui d’un compte du bac à sable'),
    description: 'that of the account; for a sandbox that of an account of Signaturit\'s sandbox',
    pattern: '^\\S{20,}$'
  }),
  paper: Paper(),
  brandingId: Type.Optional(Type.String({
    title: 'Branding',
    ...inFrench('Charte', 'l’identifiant de la charte graphique des messages aux signataires ; celle du compte par défaut'),
    description: 'the id of the branding of messages to signers; that of the account unless set',
    pattern: '^[\\w-]{1,64}$'
  }))
})

export type Call = Context<Static<typeof Settings>, unknown>
export type Request = ServiceContracts['esign']['dispatch']

import { type Context, inFrench, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

const line = { minLength: 1, maxLength: 70 }

export const Settings = Type.Object({
  serviceId: Type.String({
    title: 'Service ID',
    ...inFrench('Service ID', 'celui de l’onglet « API » de votre compte'),
    description: 'that of the tab "API" of your account',
    pattern: '^[\\w-]{4,100}$'
  }),
  secretKey: Secret({
    title: 'Secret key',
    ...inFrench('Secret key', 'celle du même onglet'),
    description: 'that of the same tab',
    pattern: '^\\S{8,}$'
  }),
  addresses: Type.Optional(Type.String({
    title: 'IP addresses',
    ...inFrench('Adresses IP', 'celles de ce service, séparées par des points-virgules ; inutile si Merci Facteur a levé la restriction'),
    description: 'those of this service, with semicolons between them; not needed where Merci Facteur has lifted the restriction',
    pattern: '^[0-9a-f.:]{7,39}(;[0-9a-f.:]{7,39}){0,9}$',
    examples: ['203.0.113.7']
  })),
  userId: Type.String({
    title: 'User ID',
    ...inFrench('ID de l’utilisateur', 'l’utilisateur au nom duquel les courriers partent'),
    description: 'the user in whose name letters are sent',
    pattern: '^\\d{1,12}$'
  }),
  senderName: Type.String({
    title: 'Sender',
    ...inFrench('Expéditeur', 'la société, première ligne de l’adresse de retour'),
    description: 'the company: the first line of the return address',
    examples: ['ACME'],
    ...line
  }),
  senderAddress: Type.String({
    title: 'Street',
    ...inFrench('Rue', 'celle de l’adresse de retour, en France'),
    description: 'that of the return address, which lies in France',
    examples: ['12 rue de la Paix'],
    ...line
  }),
  senderPostalCode: Type.String({
    title: 'Postal code',
    ...inFrench('Code postal', 'celui de l’adresse de retour'),
    description: 'that of the return address',
    examples: ['75002'],
    pattern: '^\\d{5}$'
  }),
  senderCity: Type.String({
    title: 'City',
    ...inFrench('Ville', 'celle de l’adresse de retour'),
    description: 'that of the return address',
    examples: ['Paris'],
    ...line
  }),
  receipt: Type.Optional(Type.Union([
    Type.Literal('lrar', { title: 'On paper', ...inFrench('Sur papier') }),
    Type.Literal('lrare', { title: 'Scanned by Merci Facteur', ...inFrench('Numérisé par Merci Facteur') })
  ], {
    title: 'Acknowledgement of receipt',
    ...inFrench('Avis de réception', 'des lettres recommandées ; sur papier par défaut'),
    description: 'of registered letters; on paper unless set'
  })),
  webhookSecret: Type.Optional(Secret({
    title: 'Webhook secret key',
    ...inFrench('Webhook secret key', 'celle du même onglet ; sans elle aucun événement ne compte'),
    description: 'that of the same tab; without it no event counts',
    pattern: '^\\S{8,}$'
  }))
})

export type Call = Context<Static<typeof Settings>, unknown>
export type Recipient = ServiceContracts['postal']['dispatch']['postal']['recipient']

import { type Context, inFrench, Secret, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  applicationKey: Type.String({
    title: 'Application key',
    ...inFrench('Clé d’application', 'affichée à la création du jeton (application key)'),
    description: 'shown when the token is made',
    pattern: '^[A-Za-z0-9]{16}$',
    examples: ['7kbG7Bk7S9Nt7ZSV']
  }),
  applicationSecret: Secret({
    title: 'Application secret',
    ...inFrench('Secret d’application', 'affiché à la création du jeton (application secret)'),
    description: 'shown when the token is made',
    pattern: '^[A-Za-z0-9]{32}$',
    // It signs in a way that the host does not know.
    'x-computed': true
  }),
  consumerKey: Secret({
    title: 'Consumer key',
    ...inFrench('Clé de consommateur', 'affichée à la création du jeton (consumer key)'),
    description: 'shown when the token is made',
    pattern: '^[A-Za-z0-9]{32}$',
    'x-computed': true
  }),
  account: Type.String({
    title: 'SMS account',
    ...inFrench('Compte SMS', 'le nom du service, par exemple sms-ab12345-1'),
    description: 'the name of the service, such as sms-ab12345-1',
    pattern: '^sms-[A-Za-z0-9]+-\\d+$',
    examples: ['sms-ab12345-1']
  }),
  sender: Type.Optional(Type.String({
    title: 'Sender',
    ...inFrench('Expéditeur',
      'un expéditeur validé par OVHcloud : un nom de 11 caractères au plus, ou un numéro ; un numéro court par défaut'),
    description: 'a sender that OVHcloud has validated: a name of at most 11 characters, or a number; a short code unless set',
    pattern: '^(\\+[1-9]\\d{6,14}|[A-Za-z0-9 ]{1,11})$'
  })),
  region: Type.Optional(Type.Union([
    Type.Literal('eu', { title: 'Europe', ...inFrench('Europe') }),
    Type.Literal('ca', { title: 'Canada', ...inFrench('Canada') })
  ], {
    title: 'Region',
    ...inFrench('Région', 'où se trouve le compte ; Europe par défaut'),
    description: 'where the account is; Europe unless set'
  }))
})

export type Call = Context<Static<typeof Settings>, unknown>

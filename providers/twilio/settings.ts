import { type Context, inFrench, type Limit, Secret, type Static, Type } from '@dispatch/core/provider'

const sid = { pattern: '^AC[0-9a-fA-F]{32}$' }
const service = 'MG[0-9a-fA-F]{32}'
export const messagingService = new RegExp(`^${service}$`)
/** A text that begins like a messaging service id is not a name. */
const serviceLike = 'MG(?=[a-fA-F]*[0-9])[0-9a-fA-F]+$'
/** A number (E.164), a short code, a messaging service, or a name. */
const senders = `^(\\+[1-9][0-9]{6,14}|[0-9]{3,8}|${service}|(?!${serviceLike})(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11})$`

export const limits: readonly Limit[] = [{
  at: '/sms/sender',
  fits: Type.Unsafe({
    not: { pattern: `^${serviceLike}` },
    description: 'a name; a messaging service (MG and 32 hexadecimal digits) stands in "settings.messagingService"'
  })
}]

const validityPeriod = Type.Optional(Type.Integer({
  title: 'Validity',
  ...inFrench('Validité', 'Secondes après lesquelles un message encore en attente n’est plus envoyé : de 1 à 36000 (10 heures, ' +
    'par défaut).'),
  examples: [36000],
  description: 'Seconds after which a message that still waits is not sent any more: 1 to 36000 (10 hours, unless set).',
  minimum: 1,
  maximum: 36_000
}))

export const Settings = Type.Object({
  accountSid: Type.String({
    ...sid,
    title: 'Account SID',
    examples: ['AC00000000000000000000000000000000'],
    ...inFrench('SID du compte', 'AC et 32 chiffres hexadécimaux, dans la console'),
    description: 'AC and 32 hexadecimal digits, from the console'
  }),
  authToken: Secret({
    title: 'Auth token',
    pattern: '^\\S+$',
    ...inFrench('Jeton d’authentification', 'Le jeton principal du compte (Auth token).'),
    description: 'The primary auth token of the account.'
  }),
  from: Type.String({
    title: 'Sender',
    examples: ['+15005550006'],
    ...inFrench('Expéditeur', 'un numéro du compte (E.164), un numéro court, un nom de 1 à 11 lettres et chiffres, ou un service de ' +
      'messagerie (MG et 32 chiffres hexadécimaux)'),
    description: 'a number of the account (E.164), a short code, a name of 1 to 11 letters and digits, or a messaging service (MG and 32 ' +
      'hexadecimal digits)',
    pattern: senders
  }),
  validityPeriod,
  testAccountSid: Type.Optional(
    Type.String({
      ...sid,
      title: 'Test account SID',
      ...inFrench('SID du compte de test', 'le SID des identifiants de l’environnement de test'),
      description: 'the SID of the test credentials: what a sandbox configuration sends with'
    })
  ),
  testAuthToken: Type.Optional(Secret({
    title: 'Test auth token',
    pattern: '^\\S+$',
    ...inFrench('Jeton de test', 'Le jeton des identifiants de test.'),
    description: 'The token of the test credentials.'
  }))
})

export const RequestSettings = Type.Object({
  messagingService: Type.Optional(Type.String({
    title: 'Messaging service',
    ...inFrench('Service de messagerie',
      'MG et 32 chiffres hexadécimaux : le service par lequel passe ce message, à la place de l’expéditeur ' +
        'de la configuration.'),
    description: 'MG and 32 hexadecimal digits: the service that this message goes through, in place of the sender of the configuration.',
    pattern: messagingService.source
  })),
  validityPeriod
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>

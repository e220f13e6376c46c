import { AllowedSenders, allowedSendersInFrench, inFrench, Secret, Type, webhookCredentials } from '@dispatch/core/provider'

export const Settings = Type.Object({
  serverToken: Secret({
    title: 'Server token',
    ...inFrench('Jeton du serveur', 'celui du serveur d’envoi de Postmark'),
    description: 'that of the sending server at Postmark',
    pattern: '^[\\w-]{8,}$'
  }),
  allowedSenders: AllowedSenders(allowedSendersInFrench),
  stream: Type.Optional(Type.String({
    title: 'Message stream',
    ...inFrench('Flux', 'le flux des messages ; « outbound » par défaut'),
    description: 'the stream of the messages; "outbound" unless set',
    pattern: '^[a-z0-9-]{1,30}$',
    examples: ['outbound']
  })),
  ...webhookCredentials('Postmark')
})

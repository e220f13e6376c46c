import { AllowedSenders, allowedSendersInFrench, awsCredentials, inFrench, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  ...awsCredentials(),
  allowedSenders: AllowedSenders(allowedSendersInFrench),
  configurationSet: Type.Optional(Type.String({
    title: 'Configuration set',
    ...inFrench('Jeu de configuration', 'celui dont les événements vont à la rubrique SNS'),
    description: 'the one whose events go to the SNS topic',
    pattern: '^[\\w-]{1,64}$'
  })),
  topic: Type.Optional(Type.String({
    title: 'SNS topic',
    ...inFrench('Rubrique SNS', 'l’ARN de la rubrique ; d’aucune autre les événements ne comptent'),
    description: 'the ARN of the topic; events of no other one count',
    pattern: '^arn:aws[a-z-]*:sns:[a-z0-9-]+:\\d{12}:[\\w-]{1,256}$',
    examples: ['arn:aws:sns:eu-west-3:123456789012:mail-events']
  }))
})

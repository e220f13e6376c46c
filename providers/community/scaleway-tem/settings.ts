import { AllowedSenders, allowedSendersInFrench, inFrench, Secret, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  secretKey: Secret({
    title: 'Secret key',
    ...inFrench('Clé secrète', 'celle d’une clé d’API qui peut envoyer des e-mails'),
    description: 'that of an API key that may send e-mails',
    pattern: '^[0-9a-f-]{36}$'
  }),
  projectId: Type.String({
    title: 'Project ID',
    ...inFrench('ID du projet', 'le projet dans lequel est votre domaine'),
    description: 'the project that has your domain',
    pattern: '^[0-9a-f-]{36}$',
    examples: ['5f2b8c91-d04e-4a63-81d4-e2fa6b093571']
  }),
  allowedSenders: AllowedSenders(allowedSendersInFrench),
  topic: Type.Optional(Type.String({
    title: 'Topic',
    ...inFrench('Rubrique', 'l’ARN de la rubrique (Topics and Events) ; d’aucune autre les événements ne comptent'),
    description: 'the ARN of the topic (Topics and Events); events of no other one count',
    pattern: '^arn:scw:sns:[a-z0-9-]+:[\\w-]{1,80}:[\\w-]{1,256}$',
    examples: ['arn:scw:sns:fr-par:project-5f2b8c91-d04e-4a63-81d4-e2fa6b093571:mail']
  }))
})

import { inFrench, Secret, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  baseHost: Type.String({
    title: 'Host',
    ...inFrench('Hôte',
      'où se trouve le compte, par exemple eu.docusign.net : l’URI de base que Docusign affiche à côté de l’identifiant du compte, sans https://'),
    description: 'where the account is, such as eu.docusign.net: the base URI that Docusign shows beside the account ID, without https://',
    pattern: '^[a-z0-9][a-z0-9-]*\\.docusign\\.net$'
  }),
  accountId: Type.String({
    title: 'Account ID',
    ...inFrench('Identifiant du compte', 'l’identifiant du compte d’API'),
    description: 'the API account ID',
    pattern: '^[0-9A-Za-z-]{1,50}$'
  }),
  integrationKey: Type.String({
    title: 'Integration key',
    ...inFrench('Clé d’intégration', 'L’identifiant client de l’application créée chez Docusign.'),
    description: 'The client ID of the app that was made at Docusign.',
    minLength: 1,
    maxLength: 100
  }),
  userId: Type.String({
    title: 'User ID',
    ...inFrench('Identifiant de l’utilisateur',
      'L’identifiant d’API de la personne pour qui l’on envoie ; elle doit avoir donné son accord à l’application.'),
    description: 'The API user name of whom it sends for; they must have consented to the app.',
    minLength: 1,
    maxLength: 100
  }),
  privateKey: Secret({
    title: 'Private key',
    ...inFrench('Clé privée', 'la clé RSA de l’application, en PEM'),
    description: 'the RSA key of the app, in PEM',
    pattern: '^\\s*-----BEGIN (RSA )?PRIVATE KEY-----'
  }),
  emailSubject: Type.Optional(
    Type.String({
      title: 'Subject',
      ...inFrench('Objet', 'des e-mails aux signataires ; le nom du document par défaut'),
      description: 'of the e-mails to signers; the name of the document unless set',
      minLength: 1,
      maxLength: 100
    })
  ),
  phoneAuthentication: Type.Optional(
    Type.Boolean({
      title: 'Phone authentication',
      ...inFrench('Authentification par téléphone',
        'Un signataire dont le numéro est donné reçoit un code par SMS ou par appel, sans lequel il n’ouvre pas le document. Le compte ' +
          'doit avoir cette option de Docusign, qui est payante.'),
      description: 'A signer whose number is given gets a code by text message or call, and cannot open the document without it. The ' +
        'account must have this option of Docusign, which costs extra.'
    })
  ),
  webhookUser: Type.Optional(
    Type.String({
      title: 'Webhook user',
      ...inFrench('Utilisateur des notifications', 'Le nom d’utilisateur avec lequel Connect s’identifie.'),
      description: 'The user name that Connect signs in with.',
      minLength: 1,
      maxLength: 100
    })
  ),
  webhookPassword: Type.Optional(
    Secret({
      title: 'Webhook password',
      ...inFrench('Mot de passe des notifications', 'Le mot de passe avec lequel Connect s’identifie.'),
      description: 'The password that Connect signs in with.',
      maxLength: 100
    })
  ),
  webhookSecret: Type.Optional(
    Secret({
      title: 'Connect key',
      pattern: '^\\S+$',
      ...inFrench('Clé de Connect', 'La clé HMAC avec laquelle Connect signe les événements.'),
      description: 'The HMAC key that Connect signs events with.',
      maxLength: 500
    })
  )
})

export type Settings = Static<typeof Settings>

import { type Context, inFrench, Secret, type Static, Type } from '@dispatch/core/provider'
import { longestLine } from './address.ts'

const line = { minLength: 1, maxLength: longestLine, pattern: '^[^\\p{Cc}]+$' }

export const Settings = Type.Object({
  clientId: Type.String({
    title: 'Client ID',
    ...inFrench('Identifiant client', 'l’identifiant de l’application que Maileva a enregistrée pour vous'),
    description: 'the identifier of the application that Maileva registered for you',
    minLength: 1
  }),
  clientSecret: Secret({
    title: 'Client secret',
    pattern: '^\\S+$',
    ...inFrench('Secret client', 'le secret de l’application'),
    description: 'the secret of the application'
  }),
  username: Type.String({
    title: 'User',
    ...inFrench('Utilisateur', 'Le compte Maileva qui envoie et paie ; l’environnement de test a ses propres comptes.'),
    description: 'The Maileva account that sends and pays; a sandbox has accounts of its own.',
    minLength: 1
  }),
  password: Secret({
    title: 'Password',
    ...inFrench('Mot de passe', 'le mot de passe de ce compte'),
    description: 'the password of that account'
  }),
  postageType: Type.Optional(
    Type.Union([
      Type.Literal('ECONOMIC', { title: 'Economic', ...inFrench('Économique') }),
      Type.Literal('FAST', { title: 'Fast', ...inFrench('Rapide') })
    ], {
      title: 'Postage',
      ...inFrench('Affranchissement', 'À quelle vitesse partent les lettres simples ; économique par défaut.'),
      description: 'How fast simple letters go; economic unless set.'
    })
  ),
  addressSheet: Type.Optional(Type.Boolean({
    title: 'Address sheet',
    ...inFrench('Feuille d’adresse',
      'Imprime l’adresse sur une feuille à part avant la première page (par défaut), car les documents lui ' +
        'laissent rarement une place.'),
    description:
      'Prints the address on a sheet of its own before the first page (unless set to false), as documents seldom leave room for it.'
  })),
  acknowledgement: Type.Optional(Type.Boolean({
    title: 'Acknowledgement of receipt',
    ...inFrench('Avis de réception', 'Les lettres recommandées sont envoyées avec un avis de réception, sauf si la valeur est « non ».'),
    description: 'Registered letters come with an acknowledgement of receipt, unless set to false.'
  })),
  printSender: Type.Optional(Type.Boolean({
    title: 'Printed sender',
    ...inFrench('Expéditeur imprimé', 'Imprime l’adresse de l’expéditeur sur chaque lettre ; une lettre simple part alors dans une ' +
      'enveloppe à deux fenêtres.'),
    description: 'Prints the address of the sender on every letter; a simple one goes in an envelope with two windows.'
  })),
  undeliveredMail: Type.Optional(Type.String({
    title: 'Undelivered mail',
    examples: ['courrier@example.com'],
    ...inFrench('Plis non distribués', 'L’adresse e-mail à laquelle Maileva signale les plis non distribués au lieu de les renvoyer ; ' +
      'pas avec un expéditeur imprimé sur les lettres simples.'),
    description:
      'The e-mail address to which Maileva reports letters that cannot be delivered, in place of sending them back; not with a ' +
      'printed sender on simple ones.',
    maxLength: 254,
    format: 'mail-address'
  })),
  senderName: Type.Optional(
    Type.String({
      title: 'Sender',
      examples: ['ACME'],
      ...inFrench('Expéditeur', 'Première ligne de l’adresse ; obligatoire pour les lettres recommandées et si l’expéditeur est imprimé.'),
      description: 'Registered letters, and a sender that is printed, need one: the first line of the address.',
      ...line
    })
  ),
  senderDetails: Type.Optional(
    Type.String({
      title: 'Sender, second line',
      ...inFrench('Expéditeur, deuxième ligne', 'Un service ou une personne, s’il y en a.'),
      description: 'A department or a person, where there is one.',
      ...line
    })
  ),
  senderStreet: Type.Optional(Type.String({
    title: 'Street of the sender',
    examples: ['12 rue de la Paix'],
    ...inFrench('Rue de l’expéditeur', 'Le numéro et la rue.'),
    description: 'The number and the street.',
    ...line
  })),
  senderCity: Type.Optional(
    Type.String({
      title: 'City of the sender',
      examples: ['75002 Paris'],
      ...inFrench('Ville de l’expéditeur', 'Le code postal et la ville, par exemple 75002 Paris.'),
      description: 'The postal code and the city, such as 75002 Paris.',
      ...line
    })
  ),
  senderCountry: Type.Optional(
    Type.String({
      title: 'Country of the sender',
      examples: ['FR'],
      ...inFrench('Pays de l’expéditeur', 'deux lettres ; FR par défaut'),
      description: 'two letters; FR unless set',
      pattern: '^[A-Z]{2}$'
    })
  ),
  webhookUser: Type.Optional(Type.String({
    title: 'Webhook user',
    ...inFrench('Utilisateur des notifications', 'L’identifiant des abonnements ; à défaut, celui de la configuration du serveur.'),
    description: 'The login of the subscriptions; unset, that of the server\'s configuration.',
    minLength: 1,
    pattern: '^[^:]+$'
  })),
  webhookPassword: Type.Optional(Secret({
    title: 'Webhook password',
    ...inFrench('Mot de passe des notifications', 'Le mot de passe des abonnements.'),
    description: 'The password of the subscriptions.'
  }))
})

export type Call = Context<Static<typeof Settings>, object>

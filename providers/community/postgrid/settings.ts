import { type Context, inFrench, Secret, type Static, Type } from '@dispatch/core/provider'

const line = { minLength: 1, maxLength: 100 }

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'une clé qui commence par live_sk_, ou par test_sk_ pour un environnement de test'),
    description: 'a key that begins with live_sk_, or with test_sk_ for a sandbox',
    pattern: '^(live|test)_sk_\\w{8,}$'
  }),
  senderName: Type.String({
    title: 'Sender',
    ...inFrench('Expéditeur', 'L’entreprise de l’adresse de retour.'),
    description: 'The company of the return address.',
    examples: ['ACME'],
    ...line
  }),
  senderAddress: Type.String({
    title: 'Street',
    ...inFrench('Rue', 'La rue de l’adresse de retour.'),
    description: 'The street of the return address.',
    examples: ['90 Canal St'],
    ...line
  }),
  senderCity: Type.String({
    title: 'City',
    ...inFrench('Ville', 'La ville de l’adresse de retour.'),
    description: 'The city of the return address.',
    examples: ['Boston'],
    ...line
  }),
  senderState: Type.Optional(Type.String({
    title: 'State or province',
    ...inFrench('État ou province', 'de l’adresse de retour, là où le pays en a'),
    description: 'of the return address, where the country has them',
    examples: ['MA'],
    ...line
  })),
  senderPostalCode: Type.String({
    title: 'Postal code',
    ...inFrench('Code postal', 'Le code postal de l’adresse de retour.'),
    description: 'The postal code of the return address.',
    examples: ['02114'],
    ...line
  }),
  senderCountry: Type.String({
    title: 'Country',
    ...inFrench('Pays', 'de l’adresse de retour, en deux lettres'),
    description: 'of the return address, in two letters',
    examples: ['US'],
    pattern: '^[A-Z]{2}$'
  }),
  size: Type.Optional(Type.Union([
    Type.Literal('us_letter', { title: 'Letter', ...inFrench('Letter') }),
    Type.Literal('a4', { title: 'A4', ...inFrench('A4') })
  ], {
    title: 'Paper',
    ...inFrench('Papier', 'le format des lettres ; celui du pays du destinataire par défaut'),
    description: 'the size of the letters; that of the country of the recipient unless set'
  })),
  addressPlacement: Type.Optional(Type.Union([
    Type.Literal('insert_blank_page', { title: 'On a page of its own', ...inFrench('Sur une page à part') }),
    Type.Literal('top_first_page', { title: 'At the top of the first page', ...inFrench('En haut de la première page') })
  ], {
    title: 'Place of the address',
    ...inFrench('Place de l’adresse', 'où PostGrid imprime l’adresse ; sur une page à part par défaut'),
    description: 'where PostGrid prints the address; on a page of its own unless set'
  })),
  webhookSecret: Type.Optional(Secret({
    title: 'Webhook secret',
    ...inFrench('Secret du webhook', 'celui du webhook, qui envoie du JSON'),
    description: 'that of the webhook, which sends JSON',
    pattern: '^\\S{8,}$'
  }))
})

export type Call = Context<Static<typeof Settings>, unknown>

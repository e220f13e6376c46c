import { type Context, inFrench, Secret, type Static, Type } from '@dispatch/core/provider'

/** The most characters of a line of an address. */
export const longestLine = 45

const line = { minLength: 1, maxLength: longestLine }

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'une clé qui commence par live_, ou par test_ pour un environnement de test'),
    description: 'a key that begins with live_, or with test_ for a sandbox',
    pattern: '^(live|test)_\\w{8,}$'
  }),
  senderName: Type.String({
    title: 'Sender',
    ...inFrench('Expéditeur', 'De qui vient la lettre : la première ligne de l’adresse de retour.'),
    description: 'Who the letter is from: the first line of the return address.',
    examples: ['ACME'],
    ...line
  }),
  senderAddress: Type.String({
    title: 'Street',
    ...inFrench('Rue', 'La rue de l’adresse de retour.'),
    description: 'The street of the return address.',
    examples: ['12 rue de la Paix'],
    ...line
  }),
  senderPostalCode: Type.String({
    title: 'Postal code',
    ...inFrench('Code postal', 'Le code postal de l’adresse de retour, en France.'),
    description: 'The postal code of the return address, which lies in France.',
    examples: ['75002'],
    pattern: '^\\d{5}$'
  }),
  senderCity: Type.String({
    title: 'City',
    ...inFrench('Ville', 'La ville de l’adresse de retour.'),
    description: 'The city of the return address.',
    examples: ['Paris'],
    ...line
  }),
  postage: Type.Optional(Type.Union([
    Type.Literal('prioritaire', { title: 'Priority', ...inFrench('Prioritaire') }),
    Type.Literal('verte', { title: 'Green', ...inFrench('Verte') }),
    Type.Literal('ecopli', { title: 'Economy', ...inFrench('Écopli') })
  ], {
    title: 'Postage',
    ...inFrench('Affranchissement', 'des lettres simples ; prioritaire par défaut'),
    description: 'of simple letters; priority unless set'
  })),
  addressPlacement: Type.Optional(Type.Union([
    Type.Literal('insert_blank_page', { title: 'On a page of its own', ...inFrench('Sur une page à part') }),
    Type.Literal('first_page', { title: 'On the first page', ...inFrench('Sur la première page') })
  ], {
    title: 'Place of the address',
    ...inFrench('Place de l’adresse', 'où MySendingBox imprime l’adresse ; sur une page à part par défaut'),
    description: 'where MySendingBox prints the address; on a page of its own unless set'
  }))
})

export type Call = Context<Static<typeof Settings>, unknown>

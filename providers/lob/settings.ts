import { type Context, inFrench, Secret, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'une clé secrète de Lob, qui commence par live_, ou par test_ pour un environnement de test'),
    description: 'a secret key of Lob, which begins with live_, or with test_ for a sandbox',
    pattern: '^(live|test)_\\w+$'
  }),
  senderName: Type.String({
    title: 'Sender',
    ...inFrench('Expéditeur', 'De qui vient la lettre : le nom de l’adresse de retour.'),
    examples: ['ACME'],
    description: 'Who the letter is from: the name of the return address.',
    minLength: 1,
    maxLength: 40
  }),
  senderAddress: Type.String({
    title: 'Street',
    ...inFrench('Rue', 'La rue de l’adresse de retour, aux États-Unis.'),
    examples: ['185 Berry St'],
    description: 'The street of the return address, which lies in the United States.',
    minLength: 1,
    maxLength: 64
  }),
  senderCity: Type.String({
    title: 'City',
    ...inFrench('Ville', 'La ville de l’adresse de retour.'),
    examples: ['San Francisco'],
    description: 'The city of the return address.',
    minLength: 1,
    maxLength: 200
  }),
  senderState: Type.String({
    title: 'State',
    ...inFrench('État', 'deux lettres, par exemple CA'),
    examples: ['CA'],
    description: 'two letters, such as CA',
    pattern: '^[A-Z]{2}$'
  }),
  senderZip: Type.String({
    title: 'ZIP code',
    ...inFrench('Code postal', 'cinq chiffres, ou neuf comme 94107-1234'),
    examples: ['94107-1234'],
    description: 'five digits, or nine as 94107-1234',
    pattern: '^\\d{5}(-\\d{4})?$'
  }),
  useType: Type.Optional(Type.Union([
    Type.Literal('operational', { title: 'Operational', ...inFrench('Opérationnel') }),
    Type.Literal('marketing', { title: 'Marketing', ...inFrench('Marketing') })
  ], {
    title: 'Use',
    ...inFrench('Usage', 'La nature des lettres, que Lob exige ; opérationnel par défaut.'),
    description: 'What the letters are, which Lob asks for; operational unless set.'
  })),
  addressPlacement: Type.Optional(Type.Union([
    Type.Literal('insert_blank_page', { title: 'On a page of its own', ...inFrench('Sur une page à part') }),
    Type.Literal('top_first_page', { title: 'At the top of the first page', ...inFrench('En haut de la première page') }),
    Type.Literal('bottom_first_page', { title: 'At the bottom of the first page', ...inFrench('En bas de la première page') })
  ], {
    title: 'Address',
    ...inFrench('Adresse', 'Où Lob imprime les adresses : sur une page à part avant la première (par défaut), ou sur la première page.'),
    description: 'Where Lob prints the addresses: on a page of its own before the first (unless set), or over the first page.'
  })),
  webhookSecret: Type.Optional(
    Secret({
      title: 'Webhook secret',
      pattern: '^\\S+$',
      ...inFrench('Secret du webhook', 'Le secret que Lob affiche pour le webhook.'),
      description: 'The secret that Lob shows for the webhook.'
    })
  )
})

export const RequestSettings = Type.Object({
  addressId: Type.Optional(Type.String({
    title: 'Address',
    ...inFrench('Adresse', 'Une adresse enregistrée chez Lob (adr_…), à laquelle la lettre part au lieu de celle du destinataire.'),
    description: 'An address kept at Lob (adr_…), which the letter goes to in place of the recipient\'s.',
    pattern: '^adr_[a-zA-Z0-9]+$'
  })),
  returnReceipt: Type.Optional(
    Type.Boolean({
      title: 'Return receipt',
      ...inFrench('Avis de réception', 'Une lettre recommandée aux États-Unis est envoyée avec un avis de réception.'),
      description: 'A registered letter within the United States comes with a return receipt.'
    })
  ),
  returnEnvelope: Type.Optional(
    Type.Boolean({
      title: 'Return envelope',
      ...inFrench('Enveloppe-réponse', 'Une enveloppe pour la réponse est jointe à la lettre.'),
      description: 'An envelope for the answer lies in the letter.'
    })
  ),
  perforatedPage: Type.Optional(Type.Integer({
    title: 'Perforated page',
    ...inFrench('Page perforée', 'La page à renvoyer dans l’enveloppe-réponse ; 1 par défaut.'),
    description: 'The page that is sent back in the return envelope; 1 unless set.',
    minimum: 1,
    maximum: 60
  }))
})

export type RequestSettings = Static<typeof RequestSettings>

export type Call = Context<Static<typeof Settings>, RequestSettings>

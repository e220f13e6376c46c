import { type Context, inFrench, PaymentCollection, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  login: Type.String({
    title: 'Login',
    ...inFrench('Identifiant', 'celui de la clé d’API, dans les paramètres d’intégration'),
    description: 'that of the API key, under "Integrations" of the settings',
    pattern: '^[\\w.-]{3,100}$',
    examples: ['acme-1234']
  }),
  secretKey: Secret({
    title: 'Secret key',
    ...inFrench('Clé secrète', 'la clé secrète de l’API'),
    description: 'the secret key of the API',
    pattern: '^\\S+$'
  }),
  iban: Type.String({
    title: 'IBAN',
    ...inFrench('IBAN', 'le compte de l’organisation où les clients paient'),
    description: 'the account of the organisation to which customers pay',
    pattern: '^[A-Z]{2}\\d{2}[A-Z0-9]{11,30}$',
    examples: ['FR7616958000013234567890141']
  }),
  webhookSecret: Type.Optional(Secret({
    title: 'Webhook secret',
    ...inFrench('Secret du webhook', 'un long texte au choix, donné aussi à Qonto comme secret de l’abonnement'),
    description: 'a long text of your choice, which you give to Qonto as the secret of the subscription, too',
    pattern: '^\\S{16,200}$'
  })),
  stagingToken: Type.Optional(Secret({
    title: 'Staging token',
    ...inFrench('Jeton de test', 'le jeton de l’environnement de test, depuis le portail des développeurs'),
    description: 'the token of the sandbox, from the developer portal',
    pattern: '^\\S+$'
  }))
})

export const RequestSettings = PaymentCollection({
  link: [
    'adds the page where the invoice can be read and paid, as "paymentUrl"',
    'ajoute la page où la facture se lit et se paie (« paymentUrl »)'
  ],
  label: ['what is paid for: the header of the invoice', 'ce qui est payé : l’en-tête de la facture'],
  noBeneficiary: ['none: Qonto names the holder of the account', 'aucun : Qonto nomme le titulaire du compte']
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>
export type Request = ServiceContracts['invoicing']['dispatch']

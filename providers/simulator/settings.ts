import { AllowedSenders, type Context, inFrench, Secret, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  allowedSenders: Type.Optional(
    AllowedSenders(
      inFrench('Expéditeurs autorisés', 'd’où les e-mails peuvent venir : des adresses entières, ou @example.com pour tout le domaine')
    )
  ),
  slowSeconds: Type.Optional(Type.Number({
    title: 'Seconds of a slow answer',
    ...inFrench('Secondes d’une réponse lente', 'La durée d’une requête avec le mot magique « slow » ; 5 par défaut.'),
    description: 'How long a request with the magic word "slow" takes; 5 unless set.',
    minimum: 0,
    maximum: 30
  })),
  webhookUser: Type.Optional(Type.String({
    title: 'Webhook user',
    ...inFrench('Utilisateur des notifications',
      'L’utilisateur avec lequel arrivent les événements des lettres et des e-mails ; à défaut, celui de la configuration du serveur.'),
    description: 'The user name with which events of letters and e-mails come; unset, that of the server\'s configuration.',
    minLength: 1,
    pattern: '^[^:]+$'
  })),
  webhookPassword: Type.Optional(
    Secret({
      title: 'Webhook password',
      ...inFrench('Mot de passe des notifications', 'Le mot de passe avec lequel arrivent les événements des lettres et des e-mails.'),
      description: 'The password with which events of letters and e-mails come.'
    })
  )
})

/** This version of the API added the collection of payments, which invoices have. */
const ofInvoices = { 'x-since': '1.0.1', 'x-services': ['invoicing'] }

export const RequestSettings = Type.Object({
  includePaymentCollectionLink: Type.Optional(Type.Boolean({
    ...ofInvoices,
    title: 'Payment link',
    ...inFrench('Lien de paiement', 'Ajoute la page où le document peut être payé : « paymentUrl » dans la réponse.'),
    description: 'Adds the page where the document can be paid: "paymentUrl" in the answer.'
  })),
  paymentCollectionBeneficiaryName: Type.Optional(Type.String({
    ...ofInvoices,
    title: 'Beneficiary',
    ...inFrench('Bénéficiaire', 'Qui la page de paiement nomme comme bénéficiaire de l’argent.'),
    description: 'Whom the payment page names as the receiver of the money.',
    minLength: 1,
    maxLength: 70
  })),
  paymentCollectionLabel: Type.Optional(Type.String({
    ...ofInvoices,
    title: 'Label',
    ...inFrench('Libellé', 'Ce que la page de paiement dit du motif du paiement.'),
    description: 'What the payment page says the payment is for.',
    minLength: 1,
    maxLength: 140
  }))
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>

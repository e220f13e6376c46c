import { type Context, inFrench, PaymentCollection, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

const TaxRate = Type.Object({
  percent: Type.Number({
    title: 'Percentage',
    ...inFrench('Pourcentage', 'par exemple 20'),
    description: 'such as 20',
    exclusiveMinimum: 0,
    maximum: 100
  }),
  id: Type.String({
    title: 'Tax rate',
    ...inFrench('Taux de taxe', 'son identifiant chez Stripe (txr_…)'),
    description: 'its id at Stripe (txr_…)',
    pattern: '^txr_\\w+$'
  })
}, { additionalProperties: false })

export const Settings = Type.Object({
  secretKey: Secret({
    title: 'Secret key',
    ...inFrench('Clé secrète', 'secrète ou restreinte : sk_live_…, rk_live_… ; pour un environnement de test sk_test_…, rk_test_…'),
    description: 'secret or restricted: sk_live_…, rk_live_…; for a sandbox sk_test_…, rk_test_…',
    pattern: '^(sk|rk)_(live|test)_\\w+$'
  }),
  webhookSecret: Type.Optional(Secret({
    title: 'Webhook secret',
    ...inFrench('Secret du webhook',
      'Le secret de signature du point de terminaison (whsec_…) : avec lui, Stripe signale ce que deviennent factures et devis.'),
    description: 'The signing secret of the endpoint (whsec_…): with it Stripe tells what becomes of invoices and quotes.',
    pattern: '^whsec_\\w+$'
  })),
  taxRates: Type.Optional(
    Type.Array(TaxRate, {
      title: 'Tax rates',
      ...inFrench('Taux de taxe', 'Les taux du compte qui s’ajoutent au prix (txr_…), par pourcentage.'),
      description: 'The exclusive tax rates of the account (txr_…), by their percentages.'
    })
  ),
  timezone: Type.Optional(Type.String({
    title: 'Time zone',
    ...inFrench('Fuseau horaire',
      'celui du compte, par son nom, par exemple Europe/Paris : une journée y finit quand elle finit là-bas ; UTC par défaut'),
    examples: ['Europe/Paris'],
    description: 'that of the account, by its name, such as Europe/Paris: a day ends when it ends there; UTC unless set',
    format: 'time-zone'
  })),
  prepaidText: Type.Optional(Type.String({
    title: 'Word for prepayments',
    ...inFrench('Mot pour les acomptes', 'ce que dit la ligne qui déduit ce qui est déjà payé ; « Already paid » par défaut'),
    examples: ['Already paid'],
    description: 'what the line says that takes off what has been paid already; "Already paid" unless set',
    minLength: 1,
    maxLength: 100
  })),
  quoteProduct: Type.Optional(
    Type.String({
      title: 'Product of quotes',
      ...inFrench('Produit des devis', 'le produit (prod_…) auquel appartiennent les prix des lignes de devis'),
      examples: ['prod_Nabc123'],
      description: 'the product (prod_…) that the lines of quotes are prices of',
      pattern: '^prod_\\w+$'
    })
  )
})

export const RequestSettings = PaymentCollection({
  link: ['adds the page where the invoice can be paid, as "paymentUrl"', 'ajoute la page où la facture peut être payée (« paymentUrl »)'],
  label: ['what is paid for: the memo of the invoice', 'ce qui est payé : le mémo de la facture'],
  noBeneficiary: ['none: Stripe names the business of the account', 'aucun : Stripe nomme l’entreprise du compte']
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>
export type Request = ServiceContracts['invoicing']['dispatch']

import { Secret, type Static, Type } from '@dispatch/core/provider'

const TaxType = Type.Object({
  percent: Type.Number({
    title: 'Percentage',
    'x-texts': { fr: { title: 'Pourcentage', description: 'par exemple 20' } },
    description: 'such as 20',
    minimum: 0,
    maximum: 100
  }),
  type: Type.String({
    title: 'Tax type',
    'x-texts': { fr: { title: 'Type de taxe', description: 'son TaxType chez Xero, par exemple OUTPUT2' } },
    description: 'its TaxType at Xero, such as OUTPUT2',
    pattern: '^[A-Z0-9]{1,50}$'
  })
}, { additionalProperties: false })

export const Settings = Type.Object({
  clientId: Type.String({
    title: 'Client ID',
    'x-texts': { fr: { title: 'Identifiant client', description: 'de l’application chez Xero' } },
    description: 'of the app at Xero',
    minLength: 1,
    maxLength: 100
  }),
  clientSecret: Secret({
    title: 'Client secret',
    pattern: '^\\S+$',
    'x-texts': { fr: { title: 'Secret client', description: 'de l’application chez Xero' } },
    description: 'of the app at Xero',
    minLength: 1,
    maxLength: 200
  }),
  webhookKey: Type.Optional(Secret({
    title: 'Webhooks key',
    pattern: '^\\S+$',
    'x-texts': { fr: { title: 'Clé des webhooks', description: 'la clé qui signe les événements de l’application chez Xero' } },
    description: 'the key that signs the events of the app at Xero',
    maxLength: 200
  })),
  tenantId: Type.Optional(Type.String({
    title: 'Organisation',
    'x-texts': {
      fr: {
        title: 'Organisation',
        description: 'l’identifiant du locataire (tenant ID) chez Xero ; nécessaire si la connexion a plusieurs organisations'
      }
    },
    description: 'the tenant ID at Xero; needed where the connection has several organisations',
    format: 'uuid'
  })),
  accountCode: Type.String({
    title: 'Account',
    'x-texts': { fr: { title: 'Compte', description: 'le code du compte de produits de toutes les lignes, par exemple 200' } },
    description: 'the code of the revenue account of all lines, such as 200',
    pattern: '^[^\\s]{1,10}$'
  }),
  taxTypes: Type.Array(TaxType, {
    title: 'Tax types',
    'x-texts': { fr: { title: 'Types de taxe', description: 'les taux de taxe de l’organisation, par pourcentage' } },
    description: 'the tax rates of the organisation, by their percentages',
    minItems: 1
  })
})

export type Settings = Static<typeof Settings>

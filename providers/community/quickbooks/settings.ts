import { appCredentials, type Context, inFrench, Secret, type ServiceContracts, type Static, TaxCodes, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  ...appCredentials('Intuit'),
  itemId: Type.String({
    title: 'Product or service',
    ...inFrench('Produit ou service', 'le numéro de celui que portent toutes les lignes'),
    description: 'the number of the one that all lines bear',
    pattern: '^\\d{1,20}$',
    examples: ['1']
  }),
  taxCodes: TaxCodes({
    code: '6',
    words: 'each rate in percent, with the number of its tax code at QuickBooks; 0 % needs one as well',
    french: 'chaque taux en pour cent, avec le numéro de son code de taxe chez QuickBooks ; 0 % en a besoin aussi'
  }),
  verifierToken: Type.Optional(Secret({
    title: 'Verifier token',
    ...inFrench('Jeton de vérification', 'celui des webhooks de l’application'),
    description: 'that of the webhooks of the app',
    pattern: '^\\S{8,}$'
  }))
})

/** `realmId` is the company that a person has connected. */
export type Call = Context<Static<typeof Settings>, unknown, 'realmId'>
export type Request = ServiceContracts['invoicing']['dispatch']

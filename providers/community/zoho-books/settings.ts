import { appCredentials, type Context, inFrench, type ServiceContracts, type Static, TaxCodes, Type } from '@dispatch/core/provider'

const number = '^\\d{1,24}$'

export const Settings = Type.Object({
  centre: Type.Union([
    Type.Literal('com', { title: 'United States', ...inFrench('États-Unis') }),
    Type.Literal('eu', { title: 'European Union', ...inFrench('Union européenne') }),
    Type.Literal('in', { title: 'India', ...inFrench('Inde') }),
    Type.Literal('com.au', { title: 'Australia', ...inFrench('Australie') }),
    Type.Literal('jp', { title: 'Japan', ...inFrench('Japon') })
  ], {
    title: 'Data centre',
    ...inFrench('Centre de données', 'celui du compte, que l’adresse de Zoho Books nomme'),
    description: 'that of the account, which the address of Zoho Books names'
  }),
  ...appCredentials('Zoho'),
  organizationId: Type.String({
    title: 'Organization',
    ...inFrench('Organisation', 'son numéro, dans les paramètres de Zoho Books'),
    description: 'its number, in the settings of Zoho Books',
    pattern: number,
    examples: ['10234695']
  }),
  itemId: Type.String({
    title: 'Item',
    ...inFrench('Article', 'le numéro de celui que portent toutes les lignes'),
    description: 'the number of the one that all lines bear',
    pattern: number,
    examples: ['982000000030049']
  }),
  currency: Type.String({
    title: 'Currency',
    ...inFrench('Devise', 'celle des clients, en trois lettres ; une facture dans une autre est refusée'),
    description: 'that of the customers, in three letters; an invoice in another one is refused',
    pattern: '^[A-Z]{3}$',
    examples: ['EUR']
  }),
  taxCodes: TaxCodes({
    code: '982000000557028',
    words: 'each rate in percent, with the number of its tax at Zoho Books; 0 % needs one as well',
    french: 'chaque taux en pour cent, avec le numéro de sa taxe chez Zoho Books ; 0 % en a besoin aussi'
  })
})

export type Call = Context<Static<typeof Settings>, unknown>
export type Request = ServiceContracts['invoicing']['dispatch']

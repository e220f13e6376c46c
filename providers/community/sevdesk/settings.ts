import { type Context, inFrench, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  token: Secret({
    title: 'API token',
    ...inFrench('Jeton d’API', 'celui d’un administrateur, dans les paramètres de son compte'),
    description: 'that of an administrator, in the settings of the user',
    pattern: '^[0-9a-f]{32}$'
  }),
  userId: Type.String({
    title: 'Contact person',
    ...inFrench('Interlocuteur', 'l’identifiant de l’utilisateur de sevdesk que les factures nomment'),
    description: 'the id of the sevdesk user whom invoices name',
    pattern: '^\\d{1,20}$',
    examples: ['152045']
  }),
  taxRule: Type.String({
    title: 'Tax rule',
    ...inFrench('Règle de TVA',
      'le numéro de la règle de sevdesk, par exemple 1 pour des ventes soumises à la TVA, 11 pour une petite entreprise'),
    description: 'the number of sevdesk\'s rule, such as 1 for taxable sales, 11 for a small business',
    pattern: '^\\d{1,3}$',
    examples: ['1']
  }),
  taxText: Type.String({
    title: 'Tax text',
    ...inFrench('Texte de la TVA', 'ce que les factures disent de la taxe'),
    description: 'what invoices say of the tax',
    minLength: 1,
    maxLength: 200,
    examples: ['zzgl. Umsatzsteuer 19%']
  })
})

export type Call = Context<Static<typeof Settings>, unknown>
export type Request = ServiceContracts['invoicing']['dispatch']

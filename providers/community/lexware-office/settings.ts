import { type Context, inFrench, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'celle de l’organisation ; elle vaut 24 mois'),
    description: 'that of the organization; it lives for 24 months',
    pattern: '^\\S{20,}$'
  }),
  unitName: Type.String({
    title: 'Unit',
    ...inFrench('Unité', 'ce que les lignes comptent, par exemple Stück'),
    description: 'what lines count, such as Stück',
    minLength: 1,
    maxLength: 30,
    examples: ['Stück']
  }),
  taxType: Type.Optional(Type.Union([
    Type.Literal('net', { title: 'Net prices with tax', ...inFrench('Prix nets, avec la TVA') }),
    Type.Literal('vatfree', { title: 'Free of tax', ...inFrench('Sans TVA') })
  ], {
    title: 'Tax',
    ...inFrench('TVA', 'celle de toutes les factures ; avec la TVA par défaut'),
    description: 'that of all invoices; with tax unless set'
  }))
})

export type Call = Context<Static<typeof Settings>, unknown>
export type Request = ServiceContracts['invoicing']['dispatch']

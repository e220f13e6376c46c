import { type Context, inFrench, PaymentCollection, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  token: Secret({
    title: 'API token',
    ...inFrench('Jeton d’API', 'celui de l’entreprise, qui permet les factures et les clients'),
    description: 'that of the company, with access to customer invoices and customers',
    pattern: '^\\S{8,}$'
  }),
  template: Type.Optional(Type.Integer({
    title: 'Template',
    ...inFrench('Modèle', 'le numéro du modèle de facture ; celui de l’entreprise par défaut'),
    description: 'the number of the template of invoices; that of the company unless set',
    minimum: 1
  }))
})

export const RequestSettings = PaymentCollection({
  noLink: ['no: the API of Pennylane tells no page for payments', 'non : l’API de Pennylane ne donne pas de page de paiement'],
  label: ['what is paid for: the subject of the invoice', 'ce qui est payé : l’objet de la facture'],
  noBeneficiary: ['none: Pennylane names the company', 'aucun : Pennylane nomme l’entreprise']
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>
export type Request = ServiceContracts['invoicing']['dispatch']

import { type Context, inFrench, PaymentCollection, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  token: Secret({
    title: 'API token',
    ...inFrench('Jeton d’API', 'celui du compte, dans les paramètres d’iPaidThat'),
    description: 'that of the account, from the settings of iPaidThat',
    pattern: '^\\S{8,}$'
  }),
  sender: Type.Integer({
    title: 'Sender profile',
    ...inFrench('Profil de facturation', 'son numéro, dans la liste des profils'),
    description: 'its number, from the list of sender profiles',
    minimum: 1,
    examples: [1234]
  })
})

export const RequestSettings = PaymentCollection({
  noLink: ['no: the API of iPaidThat tells no page for payments', 'non : l’API d’iPaidThat ne donne pas de page de paiement'],
  label: ['what is paid for, in 30 characters: a field of the invoice', 'ce qui est payé, en 30 caractères : un champ de la facture'],
  maxLabel: 30,
  noBeneficiary: ['none: iPaidThat names the sender profile', 'aucun : iPaidThat nomme le profil de facturation']
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>
export type Request = ServiceContracts['invoicing']['dispatch']

import { type Context, Host, inFrench, Secret, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  token: Secret({
    title: 'API token',
    ...inFrench('Jeton d’API', 'celui d’un utilisateur qui peut gérer les clients et les factures'),
    description: 'that of a user who may manage clients and invoices',
    pattern: '^\\S{20,}$'
  }),
  server: Type.Optional(Host({
    title: 'Server',
    ...inFrench('Serveur', 'celui d’une installation à soi ; invoicing.co par défaut'),
    description: 'that of an installation of one\'s own; invoicing.co unless set',
    pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$',
    examples: ['invoices.example.com']
  })),
  currency: Type.String({
    title: 'Currency',
    ...inFrench('Devise', 'celle des clients de l’entreprise, en trois lettres ; une facture dans une autre est refusée'),
    description: 'that of the clients of the company, in three letters; an invoice in another one is refused',
    pattern: '^[A-Z]{3}$',
    examples: ['EUR']
  }),
  taxName: Type.String({
    title: 'Name of the tax',
    ...inFrench('Nom de la taxe', 'ce que les factures en disent'),
    description: 'what invoices call it',
    minLength: 1,
    maxLength: 20,
    examples: ['VAT']
  }),
  webhookSecret: Type.Optional(Secret({
    title: 'Webhook secret',
    ...inFrench('Secret du webhook', 'un long texte au choix, saisi aussi dans l’en-tête X-Dispatch-Secret du webhook'),
    description: 'a long text of your choice, entered in the header X-Dispatch-Secret of the webhook, too',
    pattern: '^[\\w.~+/=-]{16,200}$'
  }))
})

export type Call = Context<Static<typeof Settings>, unknown>
export type Request = ServiceContracts['invoicing']['dispatch']

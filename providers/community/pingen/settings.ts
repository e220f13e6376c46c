import { type Context, inFrench, Secret, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  clientId: Type.String({
    title: 'Client ID',
    ...inFrench('ID du client', 'celui d’une application de l’espace développeurs, avec le flux « client credentials »'),
    description: 'that of an app of the developer area, with the client credentials flow',
    pattern: '^\\S{8,}$'
  }),
  clientSecret: Secret({
    title: 'Client secret',
    ...inFrench('Secret du client', 'celui de la même application'),
    description: 'that of the same app',
    pattern: '^\\S{16,}$'
  }),
  organisation: Type.String({
    title: 'Organisation',
    ...inFrench('Organisation', 'son ID : il se trouve dans l’adresse de ses pages'),
    description: 'its ID, which stands in the address of its pages',
    pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    examples: ['2017973a-6403-444d-af05-eb4b2b7f5e2f']
  }),
  addressPosition: Type.Union([
    Type.Literal('left', { title: 'Left', ...inFrench('À gauche') }),
    Type.Literal('right', { title: 'Right', ...inFrench('À droite') })
  ], {
    title: 'Window',
    ...inFrench('Fenêtre', 'où vos lettres portent l’adresse'),
    description: 'where your letters have the address'
  }),
  speed: Type.Optional(Type.Union([
    Type.Literal('cheap', { title: 'Economy', ...inFrench('Économique') }),
    Type.Literal('fast', { title: 'Priority', ...inFrench('Prioritaire') })
  ], {
    title: 'Speed of simple letters',
    ...inFrench('Vitesse des lettres simples', 'économique sans autre choix'),
    description: 'economy unless chosen'
  })),
  signingKey: Type.Optional(Secret({
    title: 'Signing key of the webhooks',
    ...inFrench('Clé de signature des webhooks', 'un long texte au choix, saisi aussi chez Pingen'),
    description: 'a long text of your choice, entered at Pingen, too',
    pattern: '^\\S{16,}$'
  }))
})

export const RequestSettings = Type.Object({
  addressPage: Type.Optional(Type.Boolean({
    title: 'Page with the address',
    ...inFrench('Page avec l’adresse', 'une page qui porte l’adresse précède la lettre : le modèle n’a pas besoin de la montrer'),
    description: 'a page with the address comes before the letter: its template need not show it'
  }))
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>

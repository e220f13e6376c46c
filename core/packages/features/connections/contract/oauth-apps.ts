import { type Static, Type } from 'typebox'

/** A provider that is connected by a client of the operator's, and that client where it is registered. */
export const OAuthAppView = Type.Object({
  code: Type.String(),
  name: Type.String(),
  sandbox: Type.Boolean({ description: 'The client of the vendor\'s test environment.' }),
  redirectUri: Type.String({ description: 'The address to register at the vendor.' }),
  clientId: Type.Union([Type.String(), Type.Null()]),
  hasSecret: Type.Boolean(),
  state: Type.Enum(['missing', 'ready', 'hosts_changed'], {
    description: '`hosts_changed`: the provider would send the secret to other hosts than when it was given. Give it again.'
  }),
  changedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  connections: Type.Integer({
    minimum: 0,
    description: 'How many accounts of companies are connected with the provider in this environment.'
  })
}, { title: 'OAuthApp' })
export type OAuthAppView = Static<typeof OAuthAppView>

export const OAuthApps = Type.Object({ data: Type.Array(OAuthAppView) }, { title: 'OAuthApps' })

/** The client of a provider. Without `clientSecret` the stored one stays, if client and hosts are the same. */
export const OAuthAppBody = Type.Object({
  clientId: Type.String({ minLength: 1, maxLength: 500 }),
  clientSecret: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 2000 }), Type.Null()])),
  sandbox: Type.Optional(Type.Boolean())
}, { additionalProperties: false, title: 'OAuthAppBody' })
export type OAuthAppBody = Static<typeof OAuthAppBody>

export const SandboxQuery = Type.Object({ sandbox: Type.Optional(Type.Boolean()) }, { additionalProperties: false })

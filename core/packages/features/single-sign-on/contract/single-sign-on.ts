import { Line } from '@dispatch/common'
import { UsableServices } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

const Issuer = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'The address under which the OpenID provider publishes its configuration; https.',
  examples: ['https://login.example.com']
})
const facts = {
  issuer: Issuer,
  clientId: Line(300, { description: 'As whom the provider knows this service.', examples: ['document-dispatch'] }),
  createsUsers: Type.Boolean({
    description:
      'Whom the provider knows and nobody here does becomes a user at the first sign-in, where the provider says `email_verified: ' +
      'true`. Never one whose e-mail address is of a domain of another company, or a user\'s elsewhere.'
  }),
  defaultRole: Type.Enum(['member', 'admin'], { description: 'The role of users who are made at their first sign-in.' }),
  defaultServices: UsableServices,
  linksByEmail: Type.Boolean({
    description:
      'A user who is no operator is known by an e-mail address that the provider has verified, at the first sign-in; else users ' +
      'link themselves, signed in with their password.'
  }),
  trustsEmail: Type.Boolean({
    description: 'A user is made although the provider does not say whether it has verified the e-mail address, as Entra ID does not. An ' +
      'address that it says is not verified never counts.'
  }),
  required: Type.Boolean({ description: 'At the console passwords and passkeys are refused, but for those of "wayIn".' })
}

/** The body with which an admin sets single sign-on. What may be left out is then as its default says. */
export const SingleSignOnBody = Type.Object({
  issuer: facts.issuer,
  clientId: facts.clientId,
  clientSecret: Type.Optional(
    Line(1000, { description: 'The secret of the client; it may be left out where one is set for the same issuer and client.' })
  ),
  createsUsers: Type.Optional(facts.createsUsers),
  defaultRole: Type.Optional(Type.Enum(['member', 'admin'], { description: 'By default member.' })),
  defaultServices: Type.Optional(UsableServices),
  linksByEmail: Type.Optional(facts.linksByEmail),
  trustsEmail: Type.Optional(facts.trustsEmail),
  required: Type.Optional(facts.required),
  wayIn: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'The admin whose password stays good; by default yourself.' })
  ),
  address: Type.Optional(Type.Enum(['own'], {
    description: '`own`, once `redirectUri` is registered at the provider in the place of the address that all companies shared.'
  }))
}, { additionalProperties: false, title: 'SingleSignOnChanges' })
export type SingleSignOnBody = Static<typeof SingleSignOnBody>

/** What is set. The secret is not shown. */
const Current = Type.Object({
  ...facts,
  wayIn: Type.Union([Type.Integer(), Type.Null()]),
  code: Type.String({ description: 'What a person enters at the sign-in to reach the provider.' }),
  signInUrl: Type.String({ description: 'The address at which a person signs in without entering the code.' }),
  linked: Type.Integer({ description: 'How many users have signed in by this issuer.' }),
  shared: Type.Union([
    Type.Object({
      redirectUri: Type.String({ description: 'The address that all companies shared.' }),
      until: Type.String({ format: 'date-time', description: 'Until when it is used.' })
    }, { title: 'SharedAddress' }),
    Type.Null()
  ], {
    description:
      'The client was registered with the address that all companies shared. That is still used where the provider names itself ' +
      'in its answers (`iss`, RFC 9207). null: `redirectUri` is used.'
  })
}, { title: 'SingleSignOnSettings' })

export const SingleSignOnQuery = Type.Object({
  issuer: Type.Optional(Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'The issuer whose redirect address is answered, before it is set; by default the one that is set.',
    examples: ['https://login.example.com']
  }))
}, { additionalProperties: false })
export type SingleSignOnQuery = Static<typeof SingleSignOnQuery>

export const SingleSignOnView = Type.Object({
  redirectUri: Type.Union([Type.String(), Type.Null()], {
    description: 'The redirect address to register at the provider: one for each company and issuer. null: no issuer is set or asked for.'
  }),
  current: Type.Union([Current, Type.Null()], { description: 'null: the company has none.' })
}, { title: 'SingleSignOn' })
export type SingleSignOnView = Static<typeof SingleSignOnView>

/** What a user may know of the single sign-on of their company. */
export const MySingleSignOnView = Type.Object({
  available: Type.Boolean({ description: 'The company has single sign-on.' }),
  linked: Type.Boolean({ description: 'Its provider knows this user.' })
}, { title: 'MySingleSignOn' })
export type MySingleSignOnView = Static<typeof MySingleSignOnView>

/** The body with which a user unlinks their account. */
export const UnlinkBody = Type.Object({
  password: Type.String({ maxLength: 1024, description: 'The user\'s present password.', examples: ['demo-password'] })
}, { additionalProperties: false, title: 'Unlink' })

/**
 * Why nobody is signed in. `expired`: the browser has not begun this, or more than ten minutes ago. `issuer`: the provider was not reached,
 * or what it answers is not right. `unknown`: no user is linked with this person, and none is made. `taken`: a user has the e-mail address,
 * and must link themselves. `unverified`: the provider does not say that the e-mail address is verified, and so no user is made.
 * `linked`: the user or the person is linked otherwise. `refused`: the user is disabled, or may not come from
 * this address.
 */
export type SignOnRefusal = 'expired' | 'issuer' | 'unknown' | 'taken' | 'unverified' | 'linked' | 'refused'

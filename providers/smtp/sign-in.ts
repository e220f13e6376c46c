import { inFrench, Secret, Type } from '@dispatch/core/provider'

const label = '[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?'

/** The name of a domain, or of a part of one. */
export const domainPattern = `^${label}(\\.${label})*$`

/** What each kind of sign-in needs besides the user. */
const needs = {
  microsoft: ['tenant', 'clientId', 'clientSecret'],
  microsoft_app: ['tenant', 'clientId', 'clientSecret'],
  google: ['clientId', 'clientSecret']
}

/** How the mail server is signed in to. */
export const signInFields = {
  signIn: Type.Optional(Type.Union([
    Type.Literal('password', { title: 'User and password', ...inFrench('Utilisateur et mot de passe') }),
    Type.Literal('microsoft', {
      title: 'Microsoft 365: a person connects the mailbox',
      ...inFrench('Microsoft 365 : une personne connecte la boîte')
    }),
    Type.Literal('microsoft_app', {
      title: 'Microsoft 365: the app itself (client credentials)',
      ...inFrench('Microsoft 365 : l’application elle-même (identifiants client)')
    }),
    Type.Literal('google', {
      title: 'Google: a person connects the mailbox',
      ...inFrench('Google : une personne connecte la boîte')
    })
  ], {
    title: 'Sign-in',
    description: 'By a password, or by OAuth 2, which Microsoft 365 and Google ask for.',
    ...inFrench('Connexion', 'Par un mot de passe, ou par OAuth 2, que Microsoft 365 et Google demandent.'),
    default: 'password'
  })),
  user: Type.Optional(
    Type.String({
      title: 'User',
      description: 'the name to sign in with, with OAuth 2 the address of the mailbox; left out where the server asks for none',
      ...inFrench('Utilisateur', 'le nom de connexion, avec OAuth 2 l’adresse de la boîte ; vide si le serveur n’en demande pas'),
      minLength: 1
    })
  ),
  password: Type.Optional(Secret({
    title: 'Password',
    description: 'The password of that user.',
    ...inFrench('Mot de passe', 'Le mot de passe de cet utilisateur.')
  })),
  tenant: Type.Optional(Type.String({
    title: 'Directory (tenant) ID',
    description: 'of the app at Microsoft',
    ...inFrench('Identifiant de l’annuaire (locataire)', 'de l’application chez Microsoft'),
    pattern: domainPattern,
    maxLength: 253
  })),
  clientId: Type.Optional(Type.String({
    title: 'Client ID',
    description: 'of the app at Microsoft or Google',
    ...inFrench('Identifiant client', 'de l’application chez Microsoft ou Google'),
    pattern: '^\\S+$',
    maxLength: 200
  })),
  clientSecret: Type.Optional(Secret({
    title: 'Client secret',
    description: 'The value of the secret of that app.',
    ...inFrench('Secret client', 'La valeur du secret de cette application.'),
    pattern: '^\\S+$',
    maxLength: 500
  }))
}

/** What has to be there for each kind of sign-in. */
export const signInRules = [
  { if: { properties: { signIn: { const: 'password' } } }, then: { dependentRequired: { user: ['password'] } } },
  ...Object.entries(needs).map(([kind, required]) => ({
    if: { required: ['signIn'], properties: { signIn: { const: kind } } },
    then: { required: ['user', ...required] }
  }))
]

/** Where a person connects the mailbox. */
export const connect = [
  {
    when: { signIn: 'microsoft' },
    authorizationUrl: `${microsoft('{tenant}')}/authorize`,
    tokenUrl: `${microsoft('{tenant}')}/token`,
    scope: 'https://outlook.office.com/SMTP.Send offline_access',
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    clientAuth: 'body'
  },
  {
    when: { signIn: 'google' },
    authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    scope: 'https://mail.google.com/',
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    clientAuth: 'body',
    // Google gives a refresh token only to who asks for it, and with a new consent alone.
    parameters: { access_type: 'offline', prompt: 'consent' }
  }
] as const

/** Where Microsoft signs in apps and people of a tenant. */
export function microsoft (tenant: string): string {
  return `https://login.microsoftonline.com/${tenant}/oauth2/v2.0`
}

import { AllowedSenders, defineProvider, Host, inFrench, type OAuth2, Secret, sendStatus, type SmtpTransport, type Static, textOf,
  Type } from '@dispatch/core/provider'

/** All three settings, or none. */
const dkim = ['dkimDomain', 'dkimSelector', 'dkimPrivateKey']

const label = '[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?'

/** What each kind of sign-in needs besides the user. */
const needs = {
  microsoft: ['tenant', 'clientId', 'clientSecret'],
  microsoft_app: ['tenant', 'clientId', 'clientSecret'],
  google: ['clientId', 'clientSecret']
}

const Settings = Type.Object({
  host: Host({
    title: 'Mail server',
    description: 'the name of the server that takes your mail for delivery, such as smtp.example.com',
    ...inFrench('Serveur de messagerie', 'le nom du serveur qui achemine vos e-mails, par exemple smtp.example.com')
  }),
  port: Type.Optional(
    Type.Integer({
      title: 'Port',
      examples: [587],
      description: '587 with STARTTLS and 465 with TLS unless told',
      ...inFrench('Port', '587 avec STARTTLS et 465 avec TLS, sauf indication contraire'),
      minimum: 1,
      maximum: 65_535
    })
  ),
  security: Type.Optional(Type.Union([
    Type.Literal('starttls', { title: 'STARTTLS', ...inFrench('STARTTLS') }),
    Type.Literal('tls', { title: 'TLS from the first byte', ...inFrench('TLS dès le premier octet') })
  ], {
    title: 'Security',
    description: 'STARTTLS, or TLS from the first byte. Both are required: nothing goes out in the clear.',
    ...inFrench('Sécurité', 'STARTTLS, ou TLS dès le premier octet. L’un des deux est exigé : rien ne part en clair.'),
    default: 'starttls'
  })),
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
    pattern: `^${label}(\\.${label})*$`,
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
  })),
  dkimDomain: Type.Optional(Type.String({
    title: 'DKIM domain',
    examples: ['example.com'],
    description: 'the domain that signs, that of the senders, such as example.com',
    ...inFrench('Domaine DKIM', 'le domaine qui signe, celui des expéditeurs, par exemple example.com'),
    pattern: '^([^\\s.@/;=]+\\.)+[^\\s.@/;=]+$',
    maxLength: 253
  })),
  dkimSelector: Type.Optional(Type.String({
    title: 'DKIM selector',
    description: 'the name of the key: its public one is the TXT record of <selector>._domainkey.<domain>',
    ...inFrench('Sélecteur DKIM', 'le nom de la clé : sa partie publique est l’enregistrement TXT de <sélecteur>._domainkey.<domaine>'),
    pattern: `^${label}(\\.${label})*$`,
    maxLength: 100
  })),
  dkimPrivateKey: Type.Optional(Secret({
    title: 'DKIM private key',
    description: 'The private RSA key in PEM, without a passphrase.',
    ...inFrench('Clé privée DKIM', 'La clé privée RSA en PEM, sans phrase secrète.'),
    format: 'rsa-private-key',
    maxLength: 16_384
  })),
  allowedSenders: AllowedSenders({
    ...inFrench('Expéditeurs autorisés', 'd’où les e-mails peuvent venir : des adresses entières, ou @example.com pour tout le domaine')
  })
}, {
  dependentRequired: { password: ['user'], dkimDomain: dkim, dkimSelector: dkim, dkimPrivateKey: dkim },
  allOf: [
    { if: { properties: { signIn: { const: 'password' } } }, then: { dependentRequired: { user: ['password'] } } },
    ...Object.entries(needs).map(([kind, required]) => ({
      if: { required: ['signIn'], properties: { signIn: { const: kind } } },
      then: { required: ['user', ...required] }
    }))
  ]
})

export default defineProvider({
  code: 'smtp',
  name: 'SMTP',
  docs: 'https://www.rfc-editor.org/rfc/rfc5321',
  hosts: ['login.microsoftonline.com', 'accounts.google.com', 'oauth2.googleapis.com'],
  settings: Settings,
  connect: [
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
  ],
  check: ({ settings, smtp }) => smtp.verify(transportOf(settings)),
  services: {
    email: {
      maxReplyTo: 10,
      internationalAddresses: true,
      idempotency: { kind: 'none' },
      rest: true,
      async dispatch ({ email, inline, attachments }, { settings, reference, rest, smtp }) {
        const again = rest === undefined ? {} : { date: textOf(rest.answer, '/date'), only: rest.recipients }
        const message = {
          ...email,
          id: reference,
          ...again,
          inline,
          attachments,
          headers: { ...email.headers, 'X-Dispatch-Reference': reference }
        }
        const { messageId, ...receipt } = await smtp.send(message, transportOf(settings))
        return { id: messageId, status: sendStatus(receipt), ...receipt }
      }
    }
  }
})

/** Where Microsoft signs in apps and people of a tenant. */
function microsoft (tenant: string): string {
  return `https://login.microsoftonline.com/${tenant}/oauth2/v2.0`
}

/** The mail server, the sign-in there, and the signature of messages. */
function transportOf (settings: Static<typeof Settings>): SmtpTransport {
  const { host, port, security, user, password, dkimDomain: domain, dkimSelector: selector, dkimPrivateKey: privateKey } = settings
  const oauth2 = oauth2Of(settings)
  return {
    host,
    ...(port !== undefined && { port }),
    ...(security !== undefined && { security }),
    ...(user !== undefined && { user }),
    ...(oauth2 !== undefined ? { oauth2 } : password !== undefined && { password }),
    ...(domain !== undefined && selector !== undefined && privateKey !== undefined && { dkim: { domain, selector, privateKey } })
  }
}

function oauth2Of ({ signIn = 'password', tenant = '', clientId = '', clientSecret = '' }: Static<typeof Settings>): OAuth2 | undefined {
  if (signIn === 'password') return undefined
  if (signIn !== 'microsoft_app') return { grant: 'authorization_code' }
  return {
    grant: 'client_credentials',
    tokenUrl: `${microsoft(encodeURIComponent(tenant))}/token`,
    scope: 'https://outlook.office365.com/.default',
    clientId,
    clientSecret,
    clientAuth: 'body'
  }
}

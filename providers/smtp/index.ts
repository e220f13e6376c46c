import { AllowedSenders, defineProvider, Host, inFrench, Secret, sendStatus, type SmtpTransport, type Static, textOf,
  Type } from '@dispatch/core/provider'

/** All three settings, or none. */
const dkim = ['dkimDomain', 'dkimSelector', 'dkimPrivateKey']

const label = '[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?'

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
  user: Type.Optional(
    Type.String({
      title: 'User',
      description: 'the name to sign in with; left out where the server asks for none',
      ...inFrench('Utilisateur', 'le nom de connexion ; vide si le serveur n’en demande pas'),
      minLength: 1
    })
  ),
  password: Type.Optional(Secret({
    title: 'Password',
    description: 'The password of that user.',
    ...inFrench('Mot de passe', 'Le mot de passe de cet utilisateur.')
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
}, { dependentRequired: { user: ['password'], password: ['user'], dkimDomain: dkim, dkimSelector: dkim, dkimPrivateKey: dkim } })

export default defineProvider({
  code: 'smtp',
  name: 'SMTP',
  docs: 'https://www.rfc-editor.org/rfc/rfc5321',
  settings: Settings,
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

/** The mail server, and the signature of messages. */
function transportOf ({ dkimDomain: domain, dkimSelector: selector, dkimPrivateKey: privateKey, ...server }: Static<
  typeof Settings
>): SmtpTransport {
  return domain === undefined || selector === undefined || privateKey === undefined
    ? server
    : { ...server, dkim: { domain, selector, privateKey } }
}

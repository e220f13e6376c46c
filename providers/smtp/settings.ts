import { AllowedSenders, Host, inFrench, Secret, Type } from '@dispatch/core/provider'
import { domainPattern, signInFields, signInRules } from './sign-in.ts'

/** All three settings, or none. */
const dkim = ['dkimDomain', 'dkimSelector', 'dkimPrivateKey']

export const Settings = Type.Object({
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
  ...signInFields,
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
    pattern: domainPattern,
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
  allOf: signInRules
})

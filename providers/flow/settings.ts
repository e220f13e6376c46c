import { type Context, Host, inFrench, Secret, type Static, Type } from '@dispatch/core/provider'

/** The address of a service, without query and without a slash at its end. */
const address = { pattern: '^https://[^\\s/?#@]+(/[^\\s/?#]+)*$', maxLength: 300 }
const tokenAddress = { pattern: '^https://[^\\s/?#@]+(/[^\\s#]*)?$', maxLength: 300 }

function choice<Value extends string> (value: Value, title: string, french: string) {
  return Type.Literal(value, { title, ...inFrench(french) })
}

/** The rules that the platform applies. Without a value, it chooses them by itself. */
function processingRule (description: string, french: string) {
  return Type.Optional(Type.Union([
    choice('B2B', 'Between businesses (B2B)', 'Entre entreprises (B2B)'),
    choice('B2BInt', 'Between businesses of two countries (B2BInt)', 'Entre entreprises de deux pays (B2BInt)'),
    choice('B2C', 'To consumers (B2C)', 'À des consommateurs (B2C)'),
    choice('B2G', 'To the public sector (B2G)', 'Au secteur public (B2G)'),
    choice('B2GInt', 'To the public sector of another country (B2GInt)', 'Au secteur public d’un autre pays (B2GInt)'),
    choice('OutOfScope', 'Out of scope (OutOfScope)', 'Hors champ (OutOfScope)'),
    choice('B2GOutOfScope', 'To the public sector, out of scope (B2GOutOfScope)', 'Au secteur public, hors champ (B2GOutOfScope)'),
    choice('ArchiveOnly', 'Archived only (ArchiveOnly)', 'Archivage seul (ArchiveOnly)'),
    choice('NotApplicable', 'Not applicable (NotApplicable)', 'Sans objet (NotApplicable)')
  ], { title: 'Processing rule', description, ...inFrench('Règle de traitement', french) }))
}

function flowProfile (description: string, french: string) {
  return Type.Optional(Type.Union([
    choice('Basic', 'Basic', 'Basic'),
    choice('CIUS', 'CIUS of EN 16931', 'CIUS de l’EN 16931'),
    choice('Extended-CTC-FR', 'Extended (Extended-CTC-FR)', 'Étendu (Extended-CTC-FR)')
  ], { title: 'Profile', description, ...inFrench('Profil', french) }))
}

export const Settings = Type.Object({
  url: Host({
    title: 'Address',
    examples: ['https://api.flow.example.com/flow-service'],
    ...inFrench('Adresse', 'du service Flow de la plateforme, version comprise : https://api.flow.example.com/flow-service'),
    description: 'of the platform\'s Flow Service, up to the version: https://api.flow.example.com/flow-service',
    ...address
  }),
  tokenUrl: Host({
    title: 'Token address',
    examples: ['https://auth.flow.example.com/oauth/token'],
    ...inFrench('Adresse des jetons', 'où la plateforme délivre les jetons d’accès (OAuth 2)'),
    description: 'where the platform gives access tokens (OAuth 2)',
    ...tokenAddress
  }),
  sandboxUrl: Type.Optional(Host({
    title: 'Address of the test environment',
    ...inFrench('Adresse de l’environnement de test', 'L’adresse utilisée dans l’environnement de test ; sans elle, rien n’y est envoyé.'),
    description: 'Where a sandbox sends; without it nothing is sent in a sandbox.',
    ...address
  })),
  sandboxTokenUrl: Type.Optional(Host({
    title: 'Token address of the test environment',
    ...inFrench('Adresse des jetons de l’environnement de test', 'L’adresse des jetons qui va avec ; celle de production par défaut.'),
    description: 'The token address beside it; that of production unless set.',
    ...tokenAddress
  })),
  directoryUrl: Type.Optional(Host({
    title: 'Address of the directory',
    'x-since': '1.1.0',
    examples: ['https://api.directory.example.com/directory-service'],
    ...inFrench('Adresse de l’annuaire',
      'du service d’annuaire de la plateforme, version comprise ; il dit qui reçoit, et à quelle adresse'),
    description: 'of the platform\'s Directory Service, up to the version; it says who receives, and at which address',
    ...address
  })),
  sandboxDirectoryUrl: Type.Optional(Host({
    title: 'Address of the directory of the test environment',
    'x-since': '1.1.0',
    ...inFrench('Adresse de l’annuaire de l’environnement de test', 'L’annuaire interrogé dans l’environnement de test.'),
    description: 'The directory that is asked in a sandbox.',
    ...address
  })),
  clientId: Type.String({
    title: 'Client ID',
    ...inFrench('Identifiant client', 'l’application que la plateforme a enregistrée pour vous'),
    description: 'the application that the platform registered for you',
    minLength: 1,
    maxLength: 200
  }),
  clientSecret: Secret({
    title: 'Client secret',
    pattern: '^\\S+$',
    ...inFrench('Secret client', 'le secret de l’application'),
    description: 'the secret of the application'
  }),
  organizationId: Type.Optional(Type.String({
    title: 'Organisation',
    ...inFrench('Organisation', 'Pour qui l’on envoie, si une application sert plusieurs organisations (Organization-Id).'),
    description: 'For whom is sent, where one application serves several (Organization-Id).',
    pattern: '^[\\x21-\\x7e]{1,100}$'
  })),
  version: Type.Optional(
    Type.Enum(['1.1', '1.2'], {
      title: 'Version',
      ...inFrench('Version', 'de l’interface qu’offre la plateforme ; 1.2 par défaut'),
      description: 'of the interface that the platform offers; 1.2 unless set'
    })
  ),
  tokenSignIn: Type.Optional(
    Type.Union([
      Type.Literal('body', { title: 'In the body', ...inFrench('Dans le corps') }),
      Type.Literal('basic', { title: 'By HTTP Basic', ...inFrench('Par HTTP Basic') })
    ], {
      title: 'Client at the token address',
      'x-since': '1.1.0',
      ...inFrench('Client à l’adresse des jetons', 'comment l’identifiant et le secret y sont donnés ; dans le corps par défaut'),
      description: 'how its id and secret are given there; in the body unless set'
    })
  ),
  processingRule: processingRule(
    'Said with every invoice; the platform works it out unless set.',
    'Indiquée avec chaque facture ; par défaut, la plateforme la déduit.'
  ),
  flowProfile: flowProfile('That of the file unless set; another one is refused.', 'Celui du fichier par défaut ; un autre est refusé.')
})

export const RequestSettings = Type.Object({
  processingRule: processingRule(
    'Of this invoice, in place of the configuration\'s.',
    'De cette facture, à la place de celle de la configuration.'
  ),
  flowProfile: flowProfile(
    'Of this invoice, in place of the configuration\'s.',
    'De cette facture, à la place de celui de la configuration.'
  )
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>

import { type Context, Host, Secret, type Static, Type } from '@dispatch/core/provider'

/** The address of a service, without query and without a slash at its end. */
const address = { pattern: '^https://[^\\s/?#@]+(/[^\\s/?#]+)*$', maxLength: 300 }
const tokenAddress = { pattern: '^https://[^\\s/?#@]+(/[^\\s#]*)?$', maxLength: 300 }

function choice<Value extends string> (value: Value, title: string, french: string) {
  return Type.Literal(value, { title, 'x-texts': { fr: { title: french } } })
}

/** The rules that the platform applies. Without a value, it chooses them by itself. */
const processingRules = [
  choice('B2B', 'Between businesses (B2B)', 'Entre entreprises (B2B)'),
  choice('B2BInt', 'Between businesses of two countries (B2BInt)', 'Entre entreprises de deux pays (B2BInt)'),
  choice('B2C', 'To consumers (B2C)', 'À des consommateurs (B2C)'),
  choice('B2G', 'To the public sector (B2G)', 'Au secteur public (B2G)'),
  choice('B2GInt', 'To the public sector of another country (B2GInt)', 'Au secteur public d’un autre pays (B2GInt)'),
  choice('OutOfScope', 'Out of scope (OutOfScope)', 'Hors champ (OutOfScope)'),
  choice('B2GOutOfScope', 'To the public sector, out of scope (B2GOutOfScope)', 'Au secteur public, hors champ (B2GOutOfScope)'),
  choice('ArchiveOnly', 'Archived only (ArchiveOnly)', 'Archivage seul (ArchiveOnly)'),
  choice('NotApplicable', 'Not applicable (NotApplicable)', 'Sans objet (NotApplicable)')
]
const flowProfiles = [
  choice('Basic', 'Basic', 'Basic'),
  choice('CIUS', 'CIUS of EN 16931', 'CIUS de l’EN 16931'),
  choice('Extended-CTC-FR', 'Extended (Extended-CTC-FR)', 'Étendu (Extended-CTC-FR)')
]

export const Settings = Type.Object({
  url: Host({
    title: 'Address',
    examples: ['https://api.flow.example.com/flow-service'],
    'x-texts': {
      fr: {
        title: 'Adresse',
        description: 'du service Flow de la plateforme, version comprise : https://api.flow.example.com/flow-service'
      }
    },
    description: 'of the platform\'s Flow Service, up to the version: https://api.flow.example.com/flow-service',
    ...address
  }),
  tokenUrl: Host({
    title: 'Token address',
    examples: ['https://auth.flow.example.com/oauth/token'],
    'x-texts': {
      fr: {
        title: 'Adresse des jetons',
        description: 'où la plateforme délivre les jetons d’accès (OAuth 2)'
      }
    },
    description: 'where the platform gives access tokens (OAuth 2)',
    ...tokenAddress
  }),
  sandboxUrl: Type.Optional(Host({
    title: 'Address of the test environment',
    'x-texts': {
      fr: {
        title: 'Adresse de l’environnement de test',
        description: 'Où envoie un bac à sable ; sans elle, rien n’est envoyé en bac à sable.'
      }
    },
    description: 'Where a sandbox sends; without it nothing is sent in a sandbox.',
    ...address
  })),
  sandboxTokenUrl: Type.Optional(Host({
    title: 'Token address of the test environment',
    'x-texts': {
      fr: {
        title: 'Adresse des jetons de l’environnement de test',
        description: 'L’adresse des jetons qui va avec ; celle de production par défaut.'
      }
    },
    description: 'The token address beside it; that of production unless set.',
    ...tokenAddress
  })),
  clientId: Type.String({
    title: 'Client ID',
    'x-texts': {
      fr: {
        title: 'Identifiant client',
        description: 'l’application que la plateforme a enregistrée pour vous'
      }
    },
    description: 'the application that the platform registered for you',
    minLength: 1,
    maxLength: 200
  }),
  clientSecret: Secret({
    title: 'Client secret',
    'x-texts': {
      fr: {
        title: 'Secret client',
        description: 'le secret de l’application'
      }
    },
    description: 'the secret of the application'
  }),
  organizationId: Type.Optional(Type.String({
    title: 'Organisation',
    'x-texts': {
      fr: {
        title: 'Organisation',
        description: 'Pour qui l’on envoie, si une application sert plusieurs organisations (Organization-Id).'
      }
    },
    description: 'For whom is sent, where one application serves several (Organization-Id).',
    pattern: '^[\\x21-\\x7e]{1,100}$'
  })),
  version: Type.Optional(
    Type.Enum(['1.1', '1.2'], {
      title: 'Version',
      'x-texts': {
        fr: {
          title: 'Version',
          description: 'de l’interface qu’offre la plateforme ; 1.2 par défaut'
        }
      },
      description: 'of the interface that the platform offers; 1.2 unless set'
    })
  ),
  processingRule: Type.Optional(
    Type.Union(processingRules, {
      title: 'Processing rule',
      description: 'Said with every invoice; the platform works it out unless set.',
      'x-texts': {
        fr: {
          title: 'Règle de traitement',
          description: 'Indiquée avec chaque facture ; par défaut, la plateforme la déduit.'
        }
      }
    })
  ),
  flowProfile: Type.Optional(
    Type.Union(flowProfiles, {
      title: 'Profile',
      description: 'Said with every invoice; not said unless set.',
      'x-texts': {
        fr: {
          title: 'Profil',
          description: 'Indiqué avec chaque facture ; par défaut, non indiqué.'
        }
      }
    })
  )
})

export const RequestSettings = Type.Object({
  processingRule: Type.Optional(
    Type.Union(processingRules, {
      title: 'Processing rule',
      description: 'Of this invoice, in place of the configuration\'s.',
      'x-texts': {
        fr: {
          title: 'Règle de traitement',
          description: 'De cette facture, à la place de celle de la configuration.'
        }
      }
    })
  ),
  flowProfile: Type.Optional(
    Type.Union(flowProfiles, {
      title: 'Profile',
      description: 'Of this invoice, in place of the configuration\'s.',
      'x-texts': {
        fr: {
          title: 'Profil',
          description: 'De cette facture, à la place de celui de la configuration.'
        }
      }
    })
  )
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>

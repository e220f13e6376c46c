import { type Context, Host, Secret, type Static, Type } from '@dispatch/core/provider'

/** The address of a service, without query and without a slash at its end. */
const address = { pattern: '^https://[^\\s/?#@]+(/[^\\s/?#]+)*$', maxLength: 300 }
const tokenAddress = { pattern: '^https://[^\\s/?#@]+(/[^\\s#]*)?$', maxLength: 300 }

/** The rules that the platform applies. Without a value, it chooses them by itself. */
const processingRules = ['B2B', 'B2BInt', 'B2C', 'B2G', 'B2GInt', 'OutOfScope', 'B2GOutOfScope', 'ArchiveOnly', 'NotApplicable']
const flowProfiles = ['Basic', 'CIUS', 'Extended-CTC-FR']

export const Settings = Type.Object({
  url: Host({
    title: 'Address',
    description: 'of the platform\'s Flow Service, up to the version: https://api.flow.example.com/flow-service',
    ...address
  }),
  tokenUrl: Host({ title: 'Token address', description: 'where the platform gives access tokens (OAuth 2)', ...tokenAddress }),
  sandboxUrl: Type.Optional(Host({
    title: 'Address of the test environment',
    description: 'Where a sandbox sends; without it nothing is sent in a sandbox.',
    ...address
  })),
  sandboxTokenUrl: Type.Optional(Host({
    title: 'Token address of the test environment',
    description: 'The token address beside it; that of production unless set.',
    ...tokenAddress
  })),
  clientId: Type.String({
    title: 'Client ID',
    description: 'the application that the platform registered for you',
    minLength: 1,
    maxLength: 200
  }),
  clientSecret: Secret({ title: 'Client secret', description: 'the secret of the application' }),
  organizationId: Type.Optional(Type.String({
    title: 'Organisation',
    description: 'For whom is sent, where one application serves several (Organization-Id).',
    pattern: '^[\\x21-\\x7e]{1,100}$'
  })),
  version: Type.Optional(
    Type.Enum(['1.1', '1.2'], { title: 'Version', description: 'of the interface that the platform offers; 1.2 unless set' })
  ),
  processingRule: Type.Optional(
    Type.Enum(processingRules, { title: 'Processing rule', description: 'Said with every invoice; the platform works it out unless set.' })
  ),
  flowProfile: Type.Optional(Type.Enum(flowProfiles, { title: 'Profile', description: 'Said with every invoice; not said unless set.' }))
})

export const RequestSettings = Type.Object({
  processingRule: Type.Optional(
    Type.Enum(processingRules, { title: 'Processing rule', description: 'Of this invoice, in place of the configuration\'s.' })
  ),
  flowProfile: Type.Optional(
    Type.Enum(flowProfiles, { title: 'Profile', description: 'Of this invoice, in place of the configuration\'s.' })
  )
})

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>

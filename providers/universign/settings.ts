import { Secret, Type } from '@dispatch/core/provider'

const qualifiedCertificate = Type.Optional(Type.Boolean({
  title: 'Qualified certificate',
  description: 'Advanced signatures need a qualified certificate (level 3), and not just an advanced one (level 2, unless set).'
}))

export const Settings = Type.Object({
  apiKey: Secret({ title: 'API key', description: 'a key of the workspace; for a sandbox one of the test environment', pattern: '^\\S+$' }),
  qualifiedCertificate
})

export const RequestSettings = Type.Object({ qualifiedCertificate })

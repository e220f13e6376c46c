import { Secret, Type } from '@dispatch/core/provider'

export const Settings = Type.Object({
  apiKey: Secret({ title: 'API key', description: 'a key of the workspace; for a sandbox one of the test environment', pattern: '^\\S+$' })
})

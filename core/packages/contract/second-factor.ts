import { type Static, Type } from 'typebox'
import { Timestamp } from './common.ts'

const closed = { additionalProperties: false } as const

/** A code of an app, or a recovery code. */
export const Code = Type.String({
  minLength: 1,
  maxLength: 40,
  description: 'The six digits that the app shows, or a recovery code. Each is accepted once.',
  examples: ['492039']
})

/** The second factor that a login sends beside the password. */
export const LoginCode = Type.Optional(Code)

/** The state of a user's second factor. */
export const SecondFactorView = Type.Object({
  enabled: Type.Boolean({ description: 'The password alone does not sign the user in.' }),
  required: Type.Boolean({ description: 'The company demands a second factor.' }),
  since: Type.Union([Timestamp, Type.Null()]),
  app: Type.Boolean({ description: 'An app makes codes.' }),
  passkeys: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: 'How many passkeys there are; null: the public address of the service is an IP address, so there can be none.'
  }),
  recoveryCodes: Type.Integer({ minimum: 0, description: 'How many recovery codes are left.' })
}, { title: 'SecondFactor' })
export type SecondFactorView = Static<typeof SecondFactorView>

/** Recovery codes, which are shown this once. */
export const RecoveryCodesView = Type.Object({
  recoveryCodes: Type.Array(Type.String({ examples: ['7k3m-9xq2-0fhv-tb4c'] }), {
    description: 'Each takes the place of a code of the app, once. They are shown this once.'
  })
}, { title: 'RecoveryCodes' })
export type RecoveryCodesView = Static<typeof RecoveryCodesView>

/** What proves that the user makes a request, and not who has found their session. */
export const ProofBody = Type.Object({
  password: Type.Optional(Type.String({ maxLength: 1024, description: 'The user\'s present password.', examples: ['demo-password'] })),
  code: Type.Optional(Code)
}, { ...closed, title: 'Proof', minProperties: 1, maxProperties: 1 })
export type ProofBody = Static<typeof ProofBody>

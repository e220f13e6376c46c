import { Line, Uuid } from '@dispatch/common'
import { AnyJsonObject, Timestamp } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false } as const

const PasskeyName = Line(60, { description: 'How its owner calls it.', examples: ['Laptop'] })

/** A passkey in a list. */
export const PasskeyView = Type.Object({
  id: Uuid,
  name: Type.String(),
  createdAt: Timestamp,
  usedAt: Type.Union([Timestamp, Type.Null()], { description: 'The last sign-in with it.' })
}, { title: 'Passkey' })
export type PasskeyView = Static<typeof PasskeyView>

/** What a browser takes to make a passkey. */
export const PasskeyOptions = Type.Unsafe<object>({ ...AnyJsonObject, title: 'PasskeyOptions' })

/** In characters: far more than any authenticator sends. */
const text = (maxLength: number) => Type.String({ maxLength, pattern: '^[\\w-]*$' })

const answered = { id: text(1400), rawId: text(1400), type: Type.Literal('public-key') }

/** What a browser answers with a new passkey (RegistrationResponseJSON). */
const Registration = Type.Object({
  ...answered,
  response: Type.Object({
    clientDataJSON: text(8192),
    attestationObject: text(65_536),
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 30 }), { maxItems: 10 }))
  })
}, { title: 'PasskeyRegistration', description: 'What `navigator.credentials.create()` has answered, as JSON.' })

/** What a browser answers with a passkey that it has (AuthenticationResponseJSON). */
export const PasskeySignIn = Type.Object({
  ...answered,
  response: Type.Object({
    clientDataJSON: text(8192),
    authenticatorData: text(8192),
    signature: text(8192),
    userHandle: Type.Optional(text(100))
  })
})
export type PasskeySignIn = Static<typeof PasskeySignIn>

export const NewPasskeyBody = Type.Object({ name: PasskeyName, response: Registration }, { ...closed, title: 'NewPasskey' })
export type NewPasskeyBody = Static<typeof NewPasskeyBody>

export const PasskeyNameBody = Type.Object({ name: PasskeyName }, { ...closed, title: 'PasskeyName' })
export type PasskeyNameBody = Static<typeof PasskeyNameBody>

/** A new passkey. */
export const NewPasskeyView = Type.Object({
  passkey: PasskeyView,
  recoveryCodes: Type.Array(Type.String(), {
    description: 'With the first second factor of the user: each takes the place of a code, once. They are shown this once.'
  })
}, { title: 'NewPasskeyView' })
export type NewPasskeyView = Static<typeof NewPasskeyView>

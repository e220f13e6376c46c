import { Code } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

/** A new secret, which is shown this once. */
export const NewAuthenticatorView = Type.Object({
  secret: Type.String({ description: 'In base32.' }),
  uri: Type.String({ description: 'The same as an `otpauth:` address, for a QR code.' })
}, { title: 'NewAuthenticator' })
export type NewAuthenticatorView = Static<typeof NewAuthenticatorView>

/** The code that proves a new app. */
export const CodeBody = Type.Object({ code: Code }, { additionalProperties: false, title: 'Code' })

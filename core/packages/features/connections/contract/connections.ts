import { type Static, Type } from 'typebox'

/** How a configuration is connected with an account at the vendor. */
export const ConnectView = Type.Object({
  url: Type.String({ description: 'The vendor\'s page, for the browser of whoever has the account.' }),
  redirectUri: Type.String({ description: 'The address to register at the vendor.' }),
  expiresAt: Type.String({ format: 'date-time' })
}, { title: 'Connect' })
export type ConnectView = Static<typeof ConnectView>

/** What the page shows to which a vendor has sent the browser. */
export const ConfirmBody = Type.Object({ confirmation: Type.String({ minLength: 1, maxLength: 100 }) }, {
  additionalProperties: false,
  title: 'ConnectionConfirmation'
})

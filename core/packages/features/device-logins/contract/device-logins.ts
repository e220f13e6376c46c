import { keyScopes, NewKeyBody, Timestamp } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false } as const

/** What a device says of itself is read by somebody who decides: it has no room for a sentence, and no sign of an address. */
const ClientName = Type.String({
  pattern: '^[A-Za-z0-9](?:[A-Za-z0-9 _.-]{0,38}[A-Za-z0-9])?$',
  description: 'What asks, as the person is to read it: up to 40 letters, digits, spaces, `_`, `.` and `-`.',
  examples: ['dispatch on ada-laptop']
})

const scopeWord = `(?:${keyScopes.join('|')})`

/** The request of a device (RFC 8628, 3.1). */
export const DeviceBody = Type.Object({
  client_id: ClientName,
  scope: Type.Optional(
    Type.String({
      pattern: `^${scopeWord}(?: ${scopeWord}){0,${keyScopes.length - 1}}$`,
      description: 'What the key is to be used for: scopes with spaces between them; `send read_own` unless given.',
      examples: ['send read_own templates']
    })
  )
}, { ...closed, title: 'DeviceAuthorizationRequest' })
export type DeviceBody = Static<typeof DeviceBody>

const DeviceCode = Type.String({
  pattern: '^[\\w-]{43}$',
  description: 'The secret of the device.',
  examples: ['q1k0G2Tn5l4kq8rV7o9J3bXwYc6ZsUuEaHfDgPiLmRt']
})
const userCode = { description: 'What the person types at the console.', examples: ['WDJB-MJHT'] }

/** The answer (RFC 8628, 3.2). There is no address with the code in it: whoever types it has the device before them. */
export const DeviceAuthorization = Type.Object({
  device_code: DeviceCode,
  user_code: Type.String(userCode),
  verification_uri: Type.String({ description: 'The page of the console that takes the code.' }),
  expires_in: Type.Integer({ description: 'Seconds for which the code counts.', examples: [600] }),
  interval: Type.Integer({ description: 'Seconds between two questions for the key.', examples: [5] })
}, { title: 'DeviceAuthorization' })
export type DeviceAuthorization = Static<typeof DeviceAuthorization>

/** The question for the key (RFC 8628, 3.4). */
export const DeviceTokenBody = Type.Object({
  grant_type: Type.Literal('urn:ietf:params:oauth:grant-type:device_code'),
  device_code: DeviceCode,
  client_id: Type.Optional(ClientName)
}, { ...closed, title: 'DeviceTokenRequest' })
export type DeviceTokenBody = Static<typeof DeviceTokenBody>

/** The key, as RFC 6749, 5.1, has it. */
export const DeviceToken = Type.Object({
  access_token: Type.String({ description: 'The API key. It is shown only this once.' }),
  token_type: Type.Literal('Bearer'),
  scope: Type.String({ description: 'What the key may be used for; the person may have granted less than was asked.' }),
  expires_in: Type.Optional(Type.Integer({ description: 'Seconds until the key expires; absent: never.' }))
}, { title: 'DeviceToken' })
export type DeviceToken = Static<typeof DeviceToken>

const UserCode = Type.String({ maxLength: 20, ...userCode })

/** The code, as the person has typed it. */
export const DeviceCodeBody = Type.Object({ userCode: UserCode }, { ...closed, title: 'DeviceCode' })

const { name, mode, scopes, services, expiresAt } = NewKeyBody.properties

/** What a person grants: the key, as `POST /api/v1/keys` has it, but for the scopes that it has by default. */
export const DeviceGrantBody = Type.Object({
  userCode: UserCode,
  name,
  mode,
  // A copy of a schema is not optional any more.
  scopes: Type.Optional({
    ...scopes,
    description: 'What the key may be used for, as in `POST /api/v1/keys`; by default what the device asks for.'
  }),
  services,
  expiresAt
}, { ...closed, title: 'DeviceGrant' })
export type DeviceGrantBody = Static<typeof DeviceGrantBody>

/** A login that waits, as who has typed its code sees it. */
export const DeviceLoginView = Type.Object({
  client: { ...ClientName, description: 'What asks, in its own words: nobody has proved that it is so.' },
  scopes: Type.Array(Type.Enum([...keyScopes]), { description: 'What it asks to be allowed to.' }),
  address: Type.String({ description: 'Where the device is, as its request reached the service.', examples: ['192.0.2.7'] }),
  sameAddress: Type.Boolean({ description: 'Who looks at it asks from the same address.' }),
  createdAt: Timestamp,
  expiresAt: Timestamp
}, { title: 'DeviceLogin' })
export type DeviceLoginView = Static<typeof DeviceLoginView>

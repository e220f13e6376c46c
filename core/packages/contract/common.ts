import type { Json, JsonObject } from '@dispatch/common'
import { type Static, Type } from 'typebox'

/** Any JSON value. Other rules check it. */
export const AnyJson = Type.Unsafe<Json>({})

/** A JSON object. Other rules check its fields. */
export const AnyJsonObject = Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true })

/** The code of a provider: its name in paths, settings and logs, and the name of its folder. */
export const ProviderCode = Type.String({
  title: 'ProviderCode',
  pattern: '^[a-z][a-z0-9-]{1,40}$',
  description: 'a provider code: lowercase letters, digits and dashes, 2 to 41 characters, beginning with a letter',
  examples: ['simulator']
})

/** Flat key-value data of the client, returned unchanged: at most 20 pairs, keys of 1–50 and values of at most 500 characters. */
export const Metadata = Type.Unsafe<Record<string, string>>({
  title: 'Metadata',
  type: 'object',
  maxProperties: 20,
  propertyNames: { minLength: 1, maxLength: 50 },
  additionalProperties: { type: 'string', maxLength: 500 },
  description:
    'Flat key-value data, echoed in the response: at most 20 pairs, keys up to 50 characters, any but __proto__, and values up to 500.',
  examples: [{ orderId: 'A-1001' }]
})
export type Metadata = Static<typeof Metadata>

/** The URL that receives callbacks. */
export const CallbackUrl = Type.String({
  title: 'CallbackUrl',
  maxLength: 2048,
  format: 'https-url',
  description: 'an https:// URL without user name or password'
})

/** RFC 3339 in UTC with milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' })

/** One problem or warning. */
export const ProblemSchema = Type.Object({
  path: Type.String({ description: 'JSON pointer into the request.' }),
  code: Type.String({
    description: 'For programs; new ones may come. `contradiction`: another place says otherwise. `wrong_template`: made for another ' +
      'service (`alsoFor`). `sample_data`: as in the template\'s sample. `other_recipient`: the page names somebody else. ' +
      '`not_checked`: that takes too long.'
  }),
  message: Type.String(),
  line: Type.Optional(Type.Integer({ minimum: 1, description: 'The line in the text at the path, if it has several lines.' })),
  column: Type.Optional(Type.Integer({ minimum: 1 }))
}, { title: 'Problem' })

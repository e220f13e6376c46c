import { type Static, Type } from 'typebox'

/** A value of a setting that the vendor has, and what it is called there. */
export const Suggestion = Type.Object({
  value: Type.Union([Type.String({ minLength: 1, maxLength: 500 }), Type.Number()]),
  title: Type.Optional(Type.String({ minLength: 1, maxLength: 500 }))
}, { additionalProperties: false })
export type Suggestion = Static<typeof Suggestion>

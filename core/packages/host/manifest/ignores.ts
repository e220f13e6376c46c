import type { JsonObject, Problem } from '@dispatch/common'
import { AnyJson } from '@dispatch/contract'
import { type Static, type TSchema, Type } from 'typebox'
import { isMeant, schemaFaults } from './limits.ts'

/**
 * Fields of a request with which a vendor does nothing: JSON pointers into the request that the verb `dispatch` gets, or into the client's
 * `settings` (`/settings/label`); `*` stands for every item of a list, and a pointer for all below it. `when`: only if the values at these
 * pointers fit; with `false`, only if none stands there. `because`: a sentence for people.
 */
export type Ignored = { at: readonly string[], when?: Readonly<Record<string, TSchema | false>>, because?: string }

const pattern = '^(/[^/]+)+$'

/** What a provider ignores, in the form of a manifest. */
export const ManifestIgnores = Type.Array(Type.Object({
  at: Type.Array(Type.String({ pattern, description: 'a JSON pointer into the request, such as "/email/replyTo"' }), { minItems: 1 }),
  when: Type.Optional(Type.Record(Type.String({ pattern }), AnyJson)),
  because: Type.Optional(Type.String({ minLength: 1, maxLength: 300 }))
}, { additionalProperties: false }))
export type ManifestIgnores = Static<typeof ManifestIgnores>

/** Problems of what is ignored beyond its shape: invalid schemas. Paths begin with `base`. */
export function ignoresFaults (ignores: ManifestIgnores, base: string): Problem[] {
  return ignores.flatMap(({ when = {} }, index) => schemaFaults(when, `${base}/${index}/when`))
}

/** The pointers of what is ignored in a request, each with the reason. */
export function ignoredIn (ignores: ManifestIgnores, requested: JsonObject): { at: string, because?: string | undefined }[] {
  return ignores.filter((group) => isMeant(group, requested)).flatMap(({ at, because }) => at.map((place) => ({ at: place, because })))
}

import { isSince, laterField, refusal, type Version } from '@dispatch/contract'
import type { preValidationHookHandler } from 'fastify'
import type { TSchema } from 'typebox'
import { compileValidator } from '../hooks/body-parsing.ts'

/** Refuses a field that is given, as one that is not known, where the version of the API does not have it. */
export function requireSince (since: Version, version: Version, path: string, value: unknown): void {
  if (value === undefined || isSince(since, version)) return
  const name = path.slice(path.lastIndexOf('/') + 1)
  throw refusal('validation_error', [{ path, code: 'unknown_field', message: laterField(name, version) }])
}

/** A hook that refuses a query of a version before `since` with the answer that this version has always given. */
export function refuseAsBefore (since: Version, querystring: TSchema): preValidationHookHandler {
  const read = compileValidator({ schema: querystring, httpPart: 'querystring', method: '', url: '' })
  return ({ apiVersion, query }, _reply, done) => {
    const found: unknown = isSince(since, apiVersion) ? undefined : read(query)
    done(typeof found === 'object' && found !== null && 'error' in found ? found.error as Error : undefined)
  }
}

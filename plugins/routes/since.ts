import { isSince, laterField, refusal, type Version } from '@dispatch/contract'

/** Refuses a field that is given, as one that is not known, where the version of the API does not have it. */
export function requireSince (since: Version, version: Version, path: string, value: unknown): void {
  if (value === undefined || isSince(since, version)) return
  const name = path.slice(path.lastIndexOf('/') + 1)
  throw refusal('validation_error', [{ path, code: 'unknown_field', message: laterField(name, version) }])
}

import { isRecord } from '@dispatch/common'
import { createHash } from 'node:crypto'

/** The SHA-256 (hexadecimal) of a template's content, independent of layout and the order of fields. */
export function templateDigestOf (template: { source: object, schema: object, sample: object }): string {
  return createHash('sha256').update(canonical(template)).digest('hex')
}

/** JSON with the fields of every object in the order of their names. */
function canonical (value: unknown): string {
  return JSON.stringify(value,
    (_key, inner: unknown) => isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1)) : inner)
}

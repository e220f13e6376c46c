import { isRecord } from '@dispatch/common'
import { createHash } from 'node:crypto'

/** SHA-256, hexadecimal, of what a template is made of, whatever its layout and the order of its fields. */
export function templateDigestOf (template: { source: object, schema: object, sample: object }): string {
  return createHash('sha256').update(canonical(template)).digest('hex')
}

/** JSON with the fields of every object in the order of their names. */
function canonical (value: unknown): string {
  return JSON.stringify(value,
    (_key, inner: unknown) => isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1)) : inner)
}

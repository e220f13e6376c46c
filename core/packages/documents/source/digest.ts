import { canonicalJson } from '@dispatch/common'
import { createHash } from 'node:crypto'

/** The SHA-256 (hexadecimal) of a template's content, independent of layout and the order of fields. */
export function templateDigestOf (template: { source: object, schema: object, sample: object }): string {
  return createHash('sha256').update(canonicalJson(template)).digest('hex')
}

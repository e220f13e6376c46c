import { isRecord } from '@dispatch/common'
import { type Credential, type HttpCall, isCredentialField } from '@dispatch/vendor-io'

/**
 * The credentials in the body of a request, such as that of a sign-in of the vendor's own: fields of a form, of JSON or of XML, by their
 * names.
 */
export function credentialsInBody ({ form, json, xml }: HttpCall): Credential[] {
  return [form, json, xml].flatMap(fieldsOf).filter(({ name }) => isCredentialField(name)).map(({ name, value }) => ({
    sent: `in the field "${name}" of the body`,
    value
  }))
}

/** Every text in a value with the name of its field. */
function fieldsOf (value: unknown): { name: string, value: string }[] {
  if (Array.isArray(value)) return value.flatMap(fieldsOf)
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => typeof inner === 'string' ? [{ name, value: inner }] : fieldsOf(inner))
}

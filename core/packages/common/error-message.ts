/**
 * The words of any thrown value: libraries throw and report texts, plain objects in place of errors, and errors without a message of their
 * own. A host name with several addresses has an error for each of them.
 */
export function errorMessageOf (thrown: unknown): string {
  if (typeof thrown === 'string' && thrown !== '') return thrown
  if (typeof thrown === 'number' || typeof thrown === 'bigint') return String(thrown)
  if (typeof thrown !== 'object' || thrown === null) return 'It gives no reason.'
  const { message, errors, code, name } = thrown as Partial<Record<'message' | 'errors' | 'code' | 'name', unknown>>
  if (typeof message === 'string' && message !== '') return message
  if (Array.isArray(errors) && errors.length > 0) return errors.map(errorMessageOf).join(', ')
  const known = [code, name].find((word) => typeof word === 'string' && word !== '') as string | undefined
  return known === undefined ? 'It gives no reason.' : `It says ${known}, and no more.`
}

import { compile, isUuid } from '@dispatch/common'
import { DispatchError, ProviderCode } from '@dispatch/contract'

/** The UUID in a path. Throws `not_found` for any other text, because nothing has such an id. */
export function uuidIn (id: string, what: string): string {
  const uuid = id.toLowerCase()
  if (!isUuid(uuid)) throw resourceNotFound(what, id)
  return uuid
}

/** The largest id that is an integer: PostgreSQL's four bytes. */
export const largestId = 2_147_483_647

/** The positive integer in a path; undefined for anything else: nothing has such an id. */
export function integerIn (id: string): number | undefined {
  return /^[1-9]\d{0,9}$/.test(id) && Number(id) <= largestId ? Number(id) : undefined
}

const isCode = compile(ProviderCode)

/** The code of a provider in a path. Throws `not_found` for anything else: nothing has such a code. */
export function codeIn (code: string): string {
  if (!isCode(code).ok) throw resourceNotFound('provider', code)
  return code
}

/** The error for a thing that does not exist, or belongs to another company. */
export function resourceNotFound (what: string, id: string): DispatchError {
  return new DispatchError('not_found', `There is no ${what} "${id.slice(0, 60)}".`)
}

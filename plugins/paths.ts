import { DispatchError } from '@dispatch/core'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The UUID in a path. Throws `not_found` for anything else: nothing has such an id. */
export function uuidIn (id: string, what: string): string {
  if (!uuid.test(id)) throw missing(what, id)
  return id.toLowerCase()
}

/** The positive integer in a path. Throws `not_found` for anything else. */
export function integerIn (id: string, what: string): number {
  const number = Number(id)
  if (!/^[1-9]\d{0,9}$/.test(id) || number > 2_147_483_647) throw missing(what, id)
  return number
}

/** The error for a thing that does not exist, or belongs to another company. */
export function missing (what: string, id: string): DispatchError {
  return new DispatchError('not_found', `There is no ${what} "${id.slice(0, 60)}".`)
}

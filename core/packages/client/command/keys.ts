import { isCallError } from '../errors.ts'
import { readKey } from './input.ts'
import { grantedKey } from './login.ts'
import type { Api } from './service.ts'
import type { Surroundings } from './surroundings.ts'

/** A key that somebody grants at the console, where there is a terminal; else, or where the service has no such login, one that is read. */
export async function newKey (connect: (key?: string) => Api, surroundings: Surroundings, isRequested: boolean): Promise<string> {
  if (surroundings.input.isTTY !== true && !isRequested) return knownKey(connect, surroundings)
  try {
    // It is shown once: nothing is asked with it that could fail before it is stored.
    return await grantedKey(connect().device, surroundings)
  } catch (error) {
    if (isRequested || !isCallError(error) || (error.error !== 'not_found' && error.error !== 'conflict')) throw error
    return knownKey(connect, surroundings)
  }
}

/** A key that is read, and that the service knows, whatever it may be used for. */
async function knownKey (connect: (key?: string) => Api, surroundings: Surroundings): Promise<string> {
  const key = await readKey(surroundings)
  try {
    await connect(key).api.templates({ limit: 1 })
  } catch (error) {
    if (!isCallError(error) || error.error !== 'forbidden') throw error
  }
  return key
}

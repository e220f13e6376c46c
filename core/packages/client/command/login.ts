import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { isCallError } from '../errors.ts'
import type { Terminal } from './bar.ts'

/** What a login needs of the API: the shapes of RFC 8628. */
export type LoginApi = {
  begin: (body: object) => Promise<{ device_code: string, user_code: string, verification_uri: string, interval: number }>
  take: (body: object) => Promise<{ access_token: string }>
}

/** What the command may be used for; the person who grants it may grant less. */
const scope = 'send read_own templates callbacks'

/** A key of whoever types the code at the console, in a browser on any machine. */
export async function grantedKey (
  { begin, take }: LoginApi,
  { errors, wait = pause }: { errors: Terminal, wait?: (milliseconds: number) => Promise<unknown> }
): Promise<string> {
  const { device_code: code, user_code: typed, verification_uri: page, interval } = await begin({ client_id: nameOf(hostname()), scope })
  errors.write(`Open ${page} in a browser, and type this code: ${typed}\n`)
  for (let seconds = interval;;) {
    await wait(seconds * 1_000)
    try {
      const { access_token: key } = await take({ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: code })
      return key
    } catch (error) {
      if (!isCallError(error) || (error.error !== 'authorization_pending' && error.error !== 'slow_down')) throw error
      if (error.error === 'slow_down') seconds += 5
    }
  }
}

/** How the command names itself: what a name of a machine has besides letters, digits, `_`, `.` and `-` is left out. */
export function nameOf (host: string): string {
  return `dispatch on ${host.replaceAll(/[^\w.-]/g, '')}`.slice(0, 40).replace(/\W+$/, '')
}

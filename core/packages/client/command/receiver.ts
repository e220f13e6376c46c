import { UsageError } from './failures.ts'
import type { Receiver } from './listen.ts'
import { type Profile, storedProfile, writeProfile } from './settings.ts'
import type { Surroundings } from './surroundings.ts'

/**
 * A receiver, with the secret with which events for it are signed: that of `DISPATCH_CALLBACK_SECRET`, else the profile's own, which is not
 * the service's. That one is made once and told; without a profile in the file, it is made for this run.
 */
export async function receiverAt (
  url: string,
  { secret: known }: Partial<Profile>,
  profile: string,
  { env, errors }: Surroundings
): Promise<Receiver> {
  checkReceiver(url)
  if (known !== undefined && known === env['DISPATCH_CALLBACK_SECRET']) return { url, secret: known }
  const secret = known ?? `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64')}`
  if (known === undefined && await storedProfile(profile, env) !== undefined) await writeProfile(profile, { secret }, env)
  errors.write(`What is forwarded to ${url} is signed with ${secret}\n`)
  return { url, secret }
}

/** Events hold data of people: in the clear they go to this machine alone. */
function checkReceiver (address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const isOwn = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '')
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isOwn)) return
  throw new UsageError(
    `--forward takes an address such as http://localhost:4000/callbacks, or one that begins with https://, not "${address}".`
  )
}

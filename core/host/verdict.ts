import type { JsonObject } from '../contract/json.ts'
import { verifyBasic, verifyHmac, verifyJws, type Delivery, type SignatureVerdict } from './signature.ts'
import type { KeySources } from './webhook-keys.ts'
import type { Verifier } from './webhook.ts'

/**
 * What an event is verified with. `settings` are those of the configuration that its address named, if it named one;
 * `endpoint` are the credentials (`user:password`) of the server's configuration.
 */
export type VerifyWith = { settings?: () => JsonObject, endpoint?: string | undefined, keys: KeySources }

/** Verifies an event that came in at `at`, by the kind that its provider declares. */
export async function judgeDelivery (verify: Verifier, delivery: Delivery, { settings, endpoint, keys }: VerifyWith, at: Date): Promise<SignatureVerdict> {
  switch (verify.kind) {
    case 'jws': return verifyJws(verify, keys.of(verify.jwks).find, delivery)
    case 'basic': return verifyBasic((settings && ownCredentials(verify, settings())) ?? endpoint, delivery)
    // The secret belongs to a configuration: without one there is none.
    case 'hmac': return verifyHmac(verify, settings && textIn(settings(), verify.secret), delivery, at)
  }
}

function ownCredentials ({ user, password }: Extract<Verifier, { kind: 'basic' }>, settings: JsonObject): string | undefined {
  if (user === undefined || password === undefined) return undefined
  const own = { user: textIn(settings, user), password: textIn(settings, password) }
  return own.user === undefined && own.password === undefined ? undefined : `${own.user ?? ''}:${own.password ?? ''}`
}

function textIn (settings: JsonObject, name: string): string | undefined {
  const value = settings[name]
  return typeof value === 'string' ? value : undefined
}

import type { JsonObject } from '@dispatch/common'
import type { KeySources } from './keys.ts'
import { verifyStamped, verifyStandard } from './message-signature.ts'
import { type VerificationStatus, verifyBasic, verifyHmac, verifyJws, verifyJwt, type WebhookRequest } from './signature.ts'
import type { Verifier } from './webhook.ts'

/**
 * What an event is verified with. `settings`: those of the configuration that the event's URL names, if it names one. `endpoint`: the
 * credentials (`user:password`) of the server's configuration.
 */
export type VerificationKeys = { settings?: () => JsonObject, endpoint?: string | undefined, keys: KeySources }

/** `sandbox`: whether the event comes from the vendor's test environment; null where the verifier does not tell. */
export type WebhookVerification = { verdict: 'verified', sandbox: boolean | null } | { verdict: Exclude<VerificationStatus, 'verified'> }

/**
 * Verifies an event that was received at `at`, with the verifiers that its provider declares. Each verifier for which the configuration has
 * a secret must succeed, because its owner asked for it. Without any secret, one of the others (the vendor's keys, the server's
 * credentials) is enough.
 */
export async function verifyWebhook (
  verifiers: readonly Verifier[],
  delivery: WebhookRequest,
  by: VerificationKeys,
  at: Date
): Promise<WebhookVerification> {
  const settings = by.settings?.() ?? {}
  const own = verifiers.filter((verify) => isConfigured(verify, settings))
  const asked = own.length > 0 ? own : verifiers
  const judged = await Promise.all(asked.map((verify) => judge(verify, delivery, { ...by, settings }, at)))
  return (own.length > 0 ? judged.find(({ verdict }) => verdict !== 'verified') : undefined) ?? strongest(judged)
}

/** The best result: a valid signature, else one with an unknown key, else the most specific failure. */
function strongest (judged: readonly WebhookVerification[]): WebhookVerification {
  const by = (fits: (verdict: VerificationStatus) => boolean): WebhookVerification | undefined =>
    judged.find(({ verdict }) => fits(verdict))
  return by((verdict) => verdict === 'verified') ?? by((verdict) => verdict === 'unknown_key') ??
    by((verdict) => verdict !== 'no_secret') ?? { verdict: 'no_secret' }
}

async function judge (verify: Verifier, delivery: WebhookRequest, by: Secrets, at: Date): Promise<WebhookVerification> {
  const verdict = await verdictOf(verify, delivery, by, at)
  return verdict === 'verified' ? { verdict, sandbox: verify.kind === 'jws' ? verify.sandbox ?? null : null } : { verdict }
}

type Secrets = Omit<VerificationKeys, 'settings'> & { settings: JsonObject }

async function verdictOf (
  verify: Verifier,
  delivery: WebhookRequest,
  { settings, endpoint, keys }: Secrets,
  at: Date
): Promise<VerificationStatus> {
  switch (verify.kind) {
    case 'jws':
      return verifyJws(verify, keys.of(verify.jwks).find, delivery)
    case 'basic':
      return verifyBasic(ownCredentials(verify, settings) ?? endpoint, delivery)
    // The secret belongs to a configuration. Without a configuration there is no secret.
    case 'hmac':
      return verifyHmac(verify, textIn(settings, verify.secret), delivery, at)
    case 'jwt':
      return verifyJwt(verify, textIn(settings, verify.secret), delivery, at)
    case 'standard':
      return verifyStandard(verify, textIn(settings, verify.secret), delivery, at)
    case 'stamped':
      return verifyStamped(verify, textIn(settings, verify.secret), delivery, at)
  }
}

/** Whether the configuration has the secret of the verifier. */
export function isConfigured (verify: Verifier, settings: JsonObject): boolean {
  if (verify.kind === 'jws') return false
  return 'secret' in verify ? (textIn(settings, verify.secret) ?? '') !== '' : ownCredentials(verify, settings) !== undefined
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

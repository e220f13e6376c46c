import type { JsonObject } from '@dispatch/common'
import type { BodyReading } from './body.ts'
import { verifyBasic, verifySecret } from './credentials.ts'
import { type EventRequest, readRequest, type WebhookRequest } from './event-request.ts'
import type { KeySource, KeySources } from './keys.ts'
import { type Basic, ownKeyOf, type Spelled, spelled, type Verifier } from './language.ts'
import { type Judged, verifySignature } from './signature.ts'
import { verifyJws, verifyToken } from './token.ts'
import { textIn } from './vendor-keys.ts'
import type { SignatureFault, VerificationStatus } from './verdict.ts'

/**
 * What an event is verified with. `settings`: those of the configuration that the event's URL names, if it names one. `endpoint`: the
 * credentials (`user:password`) of the server's configuration. `reading`: how its content is read.
 */
export type VerificationKeys = {
  settings?: () => JsonObject
  endpoint?: string | undefined
  keys: KeySources
  reading?: BodyReading
}

/**
 * `sandbox`: whether the event comes from the vendor's test environment; null where the verifier does not tell. `proof`: what is proved,
 * where that is not the raw body. `sources`: where a key may be found that is not known yet.
 */
export type WebhookVerification =
  | { verdict: 'verified', sandbox: boolean | null, proof?: Uint8Array }
  | { verdict: 'unknown_key', sources: readonly KeySource[] }
  | { verdict: SignatureFault }

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
  const requested = own.length > 0 ? own : verifiers
  const event = readRequest(delivery, by.reading ?? {})
  const judged = await Promise.all(
    requested.map((verify) => judge(spelled(verify), event, { ...by, settings, owned: by.settings !== undefined }, at))
  )
  const failed = own.length > 0 ? judged.find(({ verdict }) => verdict !== 'verified') : undefined
  return verificationOf(failed ?? strongest(judged), judged)
}

type WithSandbox = Judged & { sandbox: boolean | null }

/** What is proved is the raw body where one verifier proves that, or where none says what it proves. */
function verificationOf ({ verdict, sandbox, proof }: WithSandbox, all: readonly WithSandbox[]): WebhookVerification {
  if (verdict === 'verified') {
    const whole = all.some((one) => one.verdict === 'verified' && one.proof === undefined)
    return { verdict, sandbox, ...(!whole && proof !== undefined && { proof }) }
  }
  return verdict === 'unknown_key' ? { verdict, sources: all.flatMap(({ source }) => source ?? []) } : { verdict }
}

/** The best result: a valid signature, else one with an unknown key, else the most specific failure. */
function strongest (judged: readonly WithSandbox[]): WithSandbox {
  const by = (fits: (verdict: VerificationStatus) => boolean): WithSandbox | undefined => judged.find(({ verdict }) => fits(verdict))
  return by((verdict) => verdict === 'verified') ?? by((verdict) => verdict === 'unknown_key') ??
    by((verdict) => verdict !== 'no_secret') ?? { verdict: 'no_secret', sandbox: null }
}

type Secrets = Omit<VerificationKeys, 'settings'> & { settings: JsonObject, owned: boolean }

async function judge (verify: Spelled, event: EventRequest, by: Secrets, at: Date): Promise<WithSandbox> {
  return { ...await judgedBy(verify, event, by, at), sandbox: 'sandbox' in verify ? verify.sandbox ?? null : null }
}

async function judgedBy (verify: Spelled, event: EventRequest, by: Secrets, at: Date): Promise<Judged> {
  const { settings, endpoint, keys, owned } = by
  switch (verify.kind) {
    case 'signature':
      return verifySignature(verify, event, by, at)
    case 'token':
      return verifyToken(verify, event, by, at)
    case 'jws': {
      const source = keys.of(verify.jwks)
      const verdict = await verifyJws(verify, source.find, event)
      return verdict === 'unknown_key' ? { verdict, source } : { verdict }
    }
    case 'basic':
      return { verdict: verifyBasic(ownCredentials(verify, settings) ?? endpoint, event) }
    // The secret belongs to a configuration. Without a configuration there is no secret.
    case 'secret':
      return { verdict: await verifySecret(verify, textIn(settings, verify.secret), event) }
    case 'hint':
      return { verdict: owned ? 'verified' : 'no_account' }
  }
}

/** Whether the configuration has the secret, or the public key, of the verifier. */
export function isConfigured (verify: Verifier, settings: JsonObject): boolean {
  if (verify.kind === 'basic') return ownCredentials(verify, settings) !== undefined
  const key = ownKeyOf(verify)
  return key !== undefined && (textIn(settings, key) ?? '') !== ''
}

function ownCredentials ({ user, password }: Basic, settings: JsonObject): string | undefined {
  if (user === undefined || password === undefined) return undefined
  const own = { user: textIn(settings, user), password: textIn(settings, password) }
  return own.user === undefined && own.password === undefined ? undefined : `${own.user ?? ''}:${own.password ?? ''}`
}

import { isUuid, type JsonObject, withTimeLimit } from '@dispatch/common'
import type { Keyring } from '../../access/keyring.ts'
import { vaultOf } from '../../configuration/vault.ts'
import type { EventService } from '../../contract/delivery.ts'
import type { InstalledProvider } from '../../host/load/load.ts'
import { openSettings } from '../../host/settings/settings.ts'
import type { KeySource, KeySources } from '../../host/webhook/keys.ts'
import type { SignatureFault, WebhookRequest } from '../../host/webhook/signature.ts'
import { verifyWebhook, type WebhookVerification } from '../../host/webhook/verify.ts'
import { type KeySet, type Verifier, verifiersOf } from '../../host/webhook/webhook.ts'
import type { Owner } from '../../store/configuration/configurations.ts'
import type { Database } from '../../store/db/database.ts'
import { createFreshCache } from '../../store/db/fresh-cache.ts'
import type { Freshness } from '../../store/db/freshness.ts'
import { findWebhookAccount, type WebhookAccount } from '../../store/vendor/inbound.ts'

/** An event as it came to the address of a provider; `account` is what the address named, if anything. */
export type IncomingWebhook = {
  provider: InstalledProvider
  service: EventService
  account: string | null
  delivery: WebhookRequest
  receivedAt: Date
}

/**
 * Whether an event is the vendor's. `scope`: whose dispatches it may concern; null: every company's. `sandbox`: those of the
 * vendor's test environment alone, or of its real one; null: both. `until`: worth another try then.
 */
export type Verification =
  | { outcome: 'verified', scope: Owner | null, sandbox: boolean | null }
  | { outcome: 'refused', reason: SignatureFault | 'unknown_account' | 'unknown_key' }
  | { outcome: 'waits', until: Date }

export type WebhookVerifier = {
  /** Asks nobody but the database. Rejects when that is away. */
  verify: (incoming: IncomingWebhook) => Promise<Verification>
  /** Reads the vendor's keys first, where they are needed and it is time. */
  verifyWithFreshKeys: (incoming: IncomingWebhook) => Promise<Verification>
}

/** Credentials of the server's configuration, `user:password`, by the provider's code in capitals, `_` for `-`. */
export type EndpointAuth = Readonly<Record<string, string>>

/** Public keys that the server itself has for a provider, in place of those that it declares. */
export type EndpointKeys = (code: string) => KeySet | undefined

type Options = {
  database: Database
  freshness: Freshness
  keyring: Keyring
  keys: KeySources
  endpointAuth: EndpointAuth
  endpointKeys?: EndpointKeys
}

/** Milliseconds that the database may take; together with the storing of an event it must stay below a second. */
const readingLimit = 250

/** Verifies events by the kinds that providers declare, before anything of a provider runs. */
export function createWebhookVerifier ({ database, freshness, keyring, keys, endpointAuth, endpointKeys }: Options): WebhookVerifier {
  const accounts = createFreshCache<string, WebhookAccount | undefined>(freshness, (_, account) => account?.companyId ?? 0)

  function verifiersFor ({ provider, service }: IncomingWebhook): readonly Verifier[] {
    const webhook = provider.manifest.webhooks?.[service]
    if (webhook === undefined) throw new TypeError(`The provider "${provider.code}" has no webhook for "${service}".`)
    return verifiersOf(webhook).map((verify) =>
      verify.kind === 'jws' ? { ...verify, jwks: endpointKeys?.(provider.code) ?? verify.jwks } : verify
    )
  }

  /** The configuration that an address names; undefined when there is none, or it is another provider's. */
  async function accountOf ({ provider, account }: IncomingWebhook): Promise<WebhookAccount | undefined> {
    if (account === null || !isUuid(account)) return undefined
    const found = await withTimeLimit(readingLimit,
      freshness.check().then(() => accounts.get(account, () => findWebhookAccount(database, account))))
    return found?.providerCode === provider.code ? found : undefined
  }

  function settingsOf (account: WebhookAccount): JsonObject {
    return openSettings(account.settings, vaultOf(keyring, account, account.providerCode))
  }

  async function judge (
    { provider, delivery, receivedAt }: IncomingWebhook,
    verifiers: readonly Verifier[],
    account: WebhookAccount | undefined
  ): Promise<WebhookVerification> {
    const own = account === undefined ? {} : { settings: () => settingsOf(account) }
    return verifyWebhook(verifiers, delivery, { ...own, endpoint: endpointAuth[variableOf(provider.code)], keys }, receivedAt)
  }

  async function now (incoming: IncomingWebhook): Promise<Verification> {
    const account = await accountOf(incoming)
    if (incoming.account !== null && account === undefined) return { outcome: 'refused', reason: 'unknown_account' }
    const verifiers = verifiersFor(incoming).filter((verify) => isOf(incoming.provider, verify, account))
    const judged = await judge(incoming, verifiers, account)
    if (judged.verdict === 'unknown_key') return unknownKey(verifiers, incoming.receivedAt)
    if (judged.verdict !== 'verified') return { outcome: 'refused', reason: judged.verdict }
    return {
      outcome: 'verified',
      scope: account === undefined ? null : { companyId: account.companyId, userId: account.userId },
      sandbox: judged.sandbox
    }
  }

  function sourcesOf (verifiers: readonly Verifier[]): KeySource[] {
    return verifiers.flatMap((verify) => verify.kind === 'jws' ? [keys.of(verify.jwks)] : [])
  }

  /** Keys that were read after the event came say the last word; until all were, it waits for their next reading. */
  function unknownKey (verifiers: readonly Verifier[], receivedAt: Date): Verification {
    const waiting = sourcesOf(verifiers).flatMap((source) => {
      const [readAt, next] = [source.readAt(), source.nextRead()]
      return next === null || (readAt !== null && readAt >= receivedAt) ? [] : [{ source, next }]
    })
    if (waiting.length === 0) return { outcome: 'refused', reason: 'unknown_key' }
    for (const { source } of waiting) void source.refresh()
    return { outcome: 'waits', until: new Date(Math.max(...waiting.map(({ next }) => next.getTime()))) }
  }

  return {
    verify: now,
    async verifyWithFreshKeys (incoming) {
      const first = await now(incoming)
      if (first.outcome !== 'waits') return first
      await Promise.all(sourcesOf(verifiersFor(incoming)).map((source) => source.refresh()))
      return now(incoming)
    }
  }
}

/** Where each environment of the vendor has a configuration of its own, the keys of the other one do not count for it. */
function isOf ({ manifest }: InstalledProvider, verify: Verifier, account: WebhookAccount | undefined): boolean {
  if (verify.kind !== 'jws' || verify.sandbox === undefined || account === undefined || manifest.sandbox?.kind !== 'configuration') {
    return true
  }
  return verify.sandbox === account.sandbox
}

/** The name under which the server's configuration has something for a provider. */
function variableOf (code: string): string {
  return code.toUpperCase().replaceAll('-', '_')
}

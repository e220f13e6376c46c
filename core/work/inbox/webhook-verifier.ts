import { isUuid, type JsonObject, withTimeLimit } from '@dispatch/common'
import type { Keyring } from '../../access/keyring.ts'
import { servingIn } from '../../configuration/serving.ts'
import { vaultOf } from '../../configuration/vault.ts'
import type { DeliveryService } from '../../contract/delivery.ts'
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

/** An event as it came to the URL of a provider. `account`: the id in the URL, if any. */
export type IncomingWebhook = {
  provider: InstalledProvider
  service: DeliveryService
  account: string | null
  delivery: WebhookRequest
  receivedAt: Date
}

/**
 * Whether an event comes from the vendor. `scope`: the owner whose dispatches it may change; null: those of every company. `sandbox`: only
 * dispatches in the vendor's test environment (true) or in its real one (false); null: both. `until`: when to try again.
 */
export type Verification =
  | { outcome: 'verified', scope: Owner | null, sandbox: boolean | null }
  | { outcome: 'refused', reason: SignatureFault | 'unknown_account' | 'unknown_key' }
  | { outcome: 'waits', until: Date }

export type WebhookVerifier = {
  /** Verifies with what the process and the database have. Rejects when the database is away. */
  verify: (incoming: IncomingWebhook) => Promise<Verification>
  /** As `verify`, but reads the vendor's keys first where they are needed and may be read again. */
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

/** Milliseconds for a read of the database. With the storing of the event it must stay below a second. */
const readingLimit = 250

/** Verifies events as their providers declare it, before any code of a provider runs. */
export function createWebhookVerifier ({ database, freshness, keyring, keys, endpointAuth, endpointKeys }: Options): WebhookVerifier {
  const accounts = createFreshCache<string, WebhookAccount | undefined>(freshness, (_, account) => account?.companyId ?? 0)

  function verifiersFor ({ provider, service }: IncomingWebhook): readonly Verifier[] {
    const webhook = provider.manifest.webhooks?.[service]
    if (webhook === undefined) throw new TypeError(`The provider "${provider.code}" has no webhook for "${service}".`)
    return verifiersOf(webhook).map((verify) =>
      verify.kind === 'jws' ? { ...verify, jwks: endpointKeys?.(provider.code) ?? verify.jwks } : verify
    )
  }

  /** The configuration that the URL names. Undefined when there is none, or when it is another provider's. */
  async function accountOf ({ provider, account }: IncomingWebhook): Promise<WebhookAccount | undefined> {
    if (account === null || !isUuid(account)) return undefined
    const found = await withTimeLimit(readingLimit,
      freshness.check().then(() => accounts.get(account, () => findWebhookAccount(database, account))))
    return found?.providerCode === provider.code ? found : undefined
  }

  /** The version of the provider that serves the configuration, and its settings in the form that this one knows. */
  function servedBy (asked: IncomingWebhook, named: WebhookAccount): { incoming: IncomingWebhook, account: WebhookAccount } {
    const { provider, configuration: { settings } } = servingIn(keyring, named.companyId, asked.provider, named)
    return { incoming: { ...asked, provider }, account: { ...named, settings } }
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

  async function now (asked: IncomingWebhook): Promise<Verification> {
    const named = await accountOf(asked)
    if (asked.account !== null && named === undefined) return { outcome: 'refused', reason: 'unknown_account' }
    const { incoming, account } = named === undefined ? { incoming: asked, account: undefined } : servedBy(asked, named)
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

  /** An unknown key is refused once all keys were read after the event came. Until then the event waits for the next read. */
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

/** Where each environment of the vendor has its own configuration, only the keys of that environment count. */
function isOf ({ manifest }: InstalledProvider, verify: Verifier, account: WebhookAccount | undefined): boolean {
  if (verify.kind !== 'jws' || verify.sandbox === undefined || account === undefined || manifest.sandbox?.kind !== 'configuration') {
    return true
  }
  return verify.sandbox === account.sandbox
}

/** The provider's part of the name of a setting of the server. */
function variableOf (code: string): string {
  return code.toUpperCase().replaceAll('-', '_')
}

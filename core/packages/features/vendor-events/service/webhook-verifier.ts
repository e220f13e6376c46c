import { isUuid, type JsonObject, type Keyring, withTimeLimit } from '@dispatch/common'
import type { DeliveryService } from '@dispatch/contract'
import { type Owner, servingIn, vaultOf } from '@dispatch/core'
import { createFreshCache, type Database, type Freshness } from '@dispatch/database'
import { type EndpointAuth, type EndpointKeys, type InstalledProvider, type KeySource, type KeySources, openSettings, type SignatureFault,
  type Verifier, verifiersOf, verifyWebhook, type WebhookManifest, type WebhookRequest, type WebhookVerification } from '@dispatch/host'
import { token } from '@dispatch/plugins/feature'
import { findWebhookAccount, type WebhookAccount } from '../store/inbound.ts'

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
 * dispatches in the vendor's test environment (true) or in its real one (false); null: both. `proof`: what is proved, where that is not the
 * raw body. `until`: when to try again.
 */
export type Verification =
  | { outcome: 'verified', scope: Owner | null, sandbox: boolean | null, proof?: Uint8Array }
  | { outcome: 'refused', reason: SignatureFault | 'unknown_account' | 'unknown_key' }
  | { outcome: 'waits', until: Date }

export type WebhookVerifier = {
  /** Verifies with what the process and the database have. Rejects when the database is away. */
  verify: (incoming: IncomingWebhook) => Promise<Verification>
  /** As `verify`, but reads the vendor's keys first where they are needed and may be read again. */
  verifyWithFreshKeys: (incoming: IncomingWebhook) => Promise<Verification>
  /** The settings of the configuration whose address it came to; none where it came to that of the provider. */
  settingsFor: (incoming: Pick<IncomingWebhook, 'provider' | 'account'>) => Promise<JsonObject>
}

export const webhookVerifier = token<WebhookVerifier>('webhookVerifier')

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

/**
 * Verifies events as their providers declare it, before any code of a provider runs. Throws a TypeError for a service of which the provider
 * has no webhook.
 */
export function createWebhookVerifier ({ database, freshness, keyring, keys, endpointAuth, endpointKeys }: Options): WebhookVerifier {
  const accounts = createFreshCache<string, WebhookAccount | undefined>(freshness, (_, account) => account?.companyId ?? 0)

  function webhookOf ({ provider, service }: IncomingWebhook): WebhookManifest {
    const webhook = provider.manifest.webhooks?.[service]
    if (webhook === undefined) throw new TypeError(`The provider "${provider.code}" has no webhook for "${service}".`)
    return webhook
  }

  function verifiersFor (incoming: IncomingWebhook): readonly Verifier[] {
    const { provider } = incoming
    return verifiersOf(webhookOf(incoming)).map((verify) =>
      verify.kind === 'jws' ? { ...verify, jwks: endpointKeys?.(provider.code) ?? verify.jwks } : verify
    )
  }

  /** The configuration that the URL names. Undefined when there is none, or when it is another provider's. */
  async function accountOf ({ provider, account }: Pick<IncomingWebhook, 'provider' | 'account'>): Promise<WebhookAccount | undefined> {
    if (account === null || !isUuid(account)) return undefined
    const found = await withTimeLimit(readingLimit,
      freshness.check().then(() => accounts.get(account, () => findWebhookAccount(database, account))))
    return found?.providerCode === provider.code ? found : undefined
  }

  /** The version of the provider that serves the configuration, and its settings in the form that this one knows. */
  function servedBy<Asked extends Pick<IncomingWebhook, 'provider'>> (
    requested: Asked,
    named: WebhookAccount
  ): { incoming: Asked, account: WebhookAccount } {
    const { provider, configuration: { settings } } = servingIn(keyring, named.companyId, requested.provider, named)
    return { incoming: { ...requested, provider }, account: { ...named, settings } }
  }

  function settingsOf (account: WebhookAccount): JsonObject {
    return openSettings(account.settings, vaultOf(keyring, account, account.providerCode))
  }

  async function judge (
    incoming: IncomingWebhook,
    verifiers: readonly Verifier[],
    account: WebhookAccount | undefined
  ): Promise<WebhookVerification> {
    const { provider, delivery, receivedAt } = incoming
    const own = account === undefined ? {} : { settings: () => settingsOf(account) }
    const by = { ...own, endpoint: endpointAuth[variableOf(provider.code)], keys, reading: webhookOf(incoming) }
    return verifyWebhook(verifiers, delivery, by, receivedAt)
  }

  async function now (requested: IncomingWebhook): Promise<Tried> {
    const named = await accountOf(requested)
    if (requested.account !== null && named === undefined) return { outcome: 'refused', reason: 'unknown_account' }
    const { incoming, account } = named === undefined ? { incoming: requested, account: undefined } : servedBy(requested, named)
    const verifiers = verifiersFor(incoming).filter((verify) => isOf(incoming.provider, verify, account))
    const judged = await judge(incoming, verifiers, account)
    if (judged.verdict === 'unknown_key') return unknownKey(judged.sources, incoming.receivedAt)
    if (judged.verdict !== 'verified') return { outcome: 'refused', reason: judged.verdict }
    const { sandbox, proof } = judged
    return {
      outcome: 'verified',
      scope: account === undefined ? null : { companyId: account.companyId, userId: account.userId },
      sandbox,
      ...(proof !== undefined && { proof })
    }
  }

  /** An unknown key is refused once all keys were read after the event came. Until then the event waits for the next read. */
  function unknownKey (sources: readonly KeySource[], receivedAt: Date): Tried {
    const waiting = sources.flatMap((source) => {
      const [readAt, next] = [source.readAt(), source.nextRead()]
      return next === null || (readAt !== null && readAt >= receivedAt) ? [] : [{ source, next }]
    })
    if (waiting.length === 0) return { outcome: 'refused', reason: 'unknown_key' }
    const reading = Promise.all(waiting.map(({ source }) => source.refresh()))
    return { outcome: 'waits', until: new Date(Math.max(...waiting.map(({ next }) => next.getTime()))), reading }
  }

  return {
    verify: now,
    async verifyWithFreshKeys (incoming) {
      const first = await now(incoming)
      if (first.outcome !== 'waits') return first
      await first.reading
      return now(incoming)
    },
    async settingsFor (requested) {
      const named = await accountOf(requested)
      return named === undefined ? {} : settingsOf(servedBy(requested, named).account)
    }
  }
}

/** `reading`: the keys are being read. */
type Tried = Exclude<Verification, { outcome: 'waits' }> | (Extract<Verification, { outcome: 'waits' }> & { reading: Promise<unknown> })

/** Where each environment of the vendor has its own configuration, only the keys of that environment count. */
function isOf ({ manifest }: InstalledProvider, verify: Verifier, account: WebhookAccount | undefined): boolean {
  const of = 'sandbox' in verify ? verify.sandbox : undefined
  return of === undefined || account === undefined || manifest.sandbox?.kind !== 'configuration' || of === account.sandbox
}

/** The provider's part of the name of a setting of the server. */
function variableOf (code: string): string {
  return code.toUpperCase().replaceAll('-', '_')
}

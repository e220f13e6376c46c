import type { Keyring } from '../access/keyring.ts'
import { vaultOf } from '../configuration/vault.ts'
import type { DeliveryService } from '../contract/delivery.ts'
import type { JsonObject } from '../contract/json.ts'
import type { Installed } from '../host/load.ts'
import { openSettings } from '../host/settings.ts'
import type { Delivery, SignatureFault, SignatureVerdict } from '../host/signature.ts'
import { judgeDelivery } from '../host/verdict.ts'
import { withTimeLimit } from '../host/time-limit.ts'
import type { KeySources } from '../host/webhook-keys.ts'
import type { KeySet, Verifier } from '../host/webhook.ts'
import type { Owner } from '../store/configurations.ts'
import type { Database } from '../store/database.ts'
import { createFreshCache } from '../store/fresh-cache.ts'
import type { Freshness } from '../store/freshness.ts'
import { findAccount, type Account } from '../store/inbound.ts'

/** An event as it came to the address of a provider; `account` is what the address named, if anything. */
export type Incoming = { provider: Installed, service: DeliveryService, account: string | null, delivery: Delivery, receivedAt: Date }

/** Whether an event is the vendor's. `scope`: whose dispatches it may concern; null: every company's. `until`: worth another try then. */
export type Verification =
  | { outcome: 'verified', scope: Owner | null }
  | { outcome: 'refused', reason: SignatureFault | 'unknown_account' | 'unknown_key' }
  | { outcome: 'waits', until: Date }

export type Verifying = {
  /** Asks nobody but the database. Rejects when that is away. */
  now: (incoming: Incoming) => Promise<Verification>
  /** Reads the vendor's keys first, where they are needed and it is time. */
  later: (incoming: Incoming) => Promise<Verification>
}

/** Credentials of the server's configuration, `user:password`, by the provider's code in capitals, `_` for `-`. */
export type EndpointAuth = Readonly<Record<string, string>>

/** Public keys that the server itself has for a provider, in place of those that it declares. */
export type EndpointKeys = (code: string) => KeySet | undefined

type Options = { database: Database, freshness: Freshness, keyring: Keyring, keys: KeySources, endpointAuth: EndpointAuth, endpointKeys?: EndpointKeys }

/** Milliseconds that the database may take; together with the storing of an event it must stay below a second. */
const readingLimit = 250

/** Verifies events by the kinds that providers declare, before anything of a provider runs. */
export function createVerifying ({ database, freshness, keyring, keys, endpointAuth, endpointKeys }: Options): Verifying {
  const accounts = createFreshCache<string, Account | undefined>(freshness, (_, account) => account?.companyId ?? 0)

  function verifierOf ({ provider, service }: Incoming): Verifier {
    const webhook = provider.manifest.webhooks?.[service]
    if (webhook === undefined) throw new TypeError(`The provider "${provider.code}" has no webhook for "${service}".`)
    const { verify } = webhook
    return verify.kind === 'jws' ? { ...verify, jwks: endpointKeys?.(provider.code) ?? verify.jwks } : verify
  }

  /** The configuration that an address names; undefined when there is none, or it is another provider's. */
  async function accountOf ({ provider, account }: Incoming): Promise<Account | undefined> {
    if (account === null || !uuid.test(account)) return undefined
    const found = await withTimeLimit(readingLimit, freshness.check().then(() => accounts.get(account, () => findAccount(database, account))))
    return found?.providerCode === provider.code ? found : undefined
  }

  function settingsOf (account: Account): JsonObject {
    return openSettings(account.settings, vaultOf(keyring, account, account.providerCode))
  }

  async function judge ({ provider, delivery, receivedAt }: Incoming, verify: Verifier, account: Account | undefined): Promise<SignatureVerdict> {
    const own = account === undefined ? {} : { settings: () => settingsOf(account) }
    return judgeDelivery(verify, delivery, { ...own, endpoint: endpointAuth[variableOf(provider.code)], keys }, receivedAt)
  }

  async function now (incoming: Incoming): Promise<Verification> {
    const verify = verifierOf(incoming)
    const account = await accountOf(incoming)
    if (incoming.account !== null && account === undefined) return { outcome: 'refused', reason: 'unknown_account' }
    const verdict = await judge(incoming, verify, account)
    if (verdict === 'verified') return { outcome: 'verified', scope: account === undefined ? null : { companyId: account.companyId, userId: account.userId } }
    return verdict === 'unknown_key' ? unknownKey(verify, incoming.receivedAt) : { outcome: 'refused', reason: verdict }
  }

  /** Keys that were read after the event came say the last word; until then it waits for their next reading. */
  function unknownKey (verify: Verifier, receivedAt: Date): Verification {
    const source = verify.kind === 'jws' ? keys.of(verify.jwks) : undefined
    const readAt = source?.readAt() ?? null
    const until = source?.nextRead() ?? null
    if (source === undefined || until === null || (readAt !== null && readAt >= receivedAt)) return { outcome: 'refused', reason: 'unknown_key' }
    void source.refresh()
    return { outcome: 'waits', until }
  }

  return {
    now,
    async later (incoming) {
      const first = await now(incoming)
      const verify = verifierOf(incoming)
      if (first.outcome !== 'waits' || verify.kind !== 'jws') return first
      await keys.of(verify.jwks).refresh()
      return now(incoming)
    }
  }
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** The name under which the server's configuration has something for a provider. */
function variableOf (code: string): string {
  return code.toUpperCase().replaceAll('-', '_')
}

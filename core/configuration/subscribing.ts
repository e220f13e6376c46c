import { makeSecret } from '@dispatch/accounts'
import type { JsonObject, Keyring } from '@dispatch/common'
import { type DeliveryService, deliveryServices, DispatchError } from '@dispatch/contract'
import { type CallError, callSubscribe, callUnsubscribe, clientWord, type InstalledProvider, openSettings, sealSecrets, type StoredSettings,
  webhookUrl } from '@dispatch/host'
import type { Subscriptions } from '@dispatch/tables'
import type { Owner, StoredConfiguration } from '../store/configuration/configurations.ts'
import { connectionProblem } from './connections.ts'
import { ownCallContext, type OwnCalls } from './own-call.ts'
import { openConfiguration, vaultOf } from './vault.ts'

/** A configuration as it would be stored, under its opaque name, and the one that it replaces. */
export type ToRegister = { provider: InstalledProvider, owner: Owner, edited: StoredConfiguration, before?: StoredConfiguration }

/**
 * What the vendor has registered for a configuration that is not stored yet: `settings` have what it gave back. `undo` takes back what is
 * new, where it cannot be stored; `replace` what it stands in place of, once it is.
 */
export type Registration = {
  settings: StoredSettings
  subscriptions: Subscriptions
  undo: () => Promise<void>
  replace: () => Promise<void>
}

/** Registers the webhooks of configurations at their vendors, and takes them back (`subscribe` and `unsubscribe` of their providers). */
export type Subscribing = {
  /** The services of a provider whose webhooks it registers by itself: none where no vendor could reach this service. */
  servicesOf: (provider: InstalledProvider, configuration: StoredConfiguration) => readonly DeliveryService[]
  /** Throws the vendor's refusal, or that it could not be asked; then it has nothing of what was asked now. */
  register: (requested: ToRegister) => Promise<Registration>
  /** Takes back all that is registered. Throws where it is not known whether the vendor has done so; what it refuses is gone. */
  end: (owner: Owner, provider: InstalledProvider, configuration: StoredConfiguration) => Promise<void>
}

type Options = OwnCalls & { keyring: Keyring, publicUrl: string }

/**
 * Registers addresses for events at vendors, and takes them back. Throws a `DispatchError` with the word for clients where a vendor
 * refuses.
 */
export function createSubscribing (options: Options): Subscribing {
  const { keyring, publicUrl, log, now } = options

  type Of = { owner: Owner, provider: InstalledProvider, configuration: StoredConfiguration, settings: JsonObject }
  const contextOf = ({ owner: { companyId }, ...of }: Of) => ownCallContext(options, { companyId, ...of })

  /** Takes back one registration, for which nobody waits: what is left at the vendor is told to the operator. */
  async function drop (of: Of, service: DeliveryService, registered: Subscriptions[string]): Promise<void> {
    const ended = await callUnsubscribe(of.provider, service, { url: registered.url, id: registered.id }, contextOf(of))
    if (ended.outcome === 'unsubscribed') return
    log.warn({ provider: of.provider.code, service, why: ended.error.message }, 'a webhook is left registered at a vendor')
  }

  function servicesOf (provider: InstalledProvider, configuration: StoredConfiguration): readonly DeliveryService[] {
    const isReachable = publicUrl.startsWith('https://') && connectionProblem(provider, configuration) === undefined
    return isReachable ? deliveryServices.filter((service) => provider.manifest.services[service]?.verbs.includes('subscribe')) : []
  }

  return {
    servicesOf,

    async register ({ provider, owner, edited, before }) {
      const vault = vaultOf(keyring, owner, provider.code)
      const of = { owner, provider, configuration: edited, settings: openSettings(edited.settings, vault) }
      const made: [DeliveryService, Subscriptions[string]][] = []
      const issued: Record<string, string> = {}
      const isNew = ([service, { id }]: typeof made[number]): boolean => before?.subscriptions?.[service]?.id !== id
      const undo = async (): Promise<void> => {
        for (const [service, registered] of made.filter(isNew)) await drop(of, service, registered)
      }
      for (const service of servicesOf(provider, edited)) {
        const url = webhookUrl(publicUrl, { code: provider.code, service, account: edited.account })
        const known = before?.subscriptions?.[service]
        const query = { url, secret: makeSecret(), ...(known !== undefined && { id: known.id }) }
        const called = await callSubscribe(provider, service, query, contextOf(of))
        if (called.outcome !== 'subscribed') {
          await undo()
          throw notDone(`The vendor has not registered the address of the events of "${service}", and nothing was saved`, called.error)
        }
        const { id, secrets = {} } = called.subscription
        Object.assign(issued, secrets)
        made.push([service, { id, url, at: now().toISOString() }])
      }
      return {
        settings: { ...edited.settings, secrets: { ...edited.settings.secrets, ...sealSecrets(issued, vault, now()) } },
        subscriptions: { ...before?.subscriptions, ...Object.fromEntries(made) },
        undo,
        async replace () {
          if (before === undefined) return
          const replaced = { owner, provider, configuration: before, settings: openConfiguration(keyring, owner.companyId, before) }
          for (const one of made.filter(isNew)) {
            const known = before.subscriptions?.[one[0]]
            if (known !== undefined) await drop(replaced, one[0], known)
          }
        }
      }
    },

    async end (owner, provider, configuration) {
      const of = { owner, provider, configuration, settings: openConfiguration(keyring, owner.companyId, configuration) }
      for (const service of deliveryServices) {
        const registered = configuration.subscriptions?.[service]
        if (registered === undefined || !provider.manifest.services[service]?.verbs.includes('unsubscribe')) continue
        const ended = await callUnsubscribe(provider, service, { url: registered.url, id: registered.id }, contextOf(of))
        if (ended.outcome === 'unsubscribed') continue
        const what = `The vendor was not able to take back the address of the events of "${service}", and nothing was removed`
        if (ended.outcome !== 'rejected') throw notDone(what, ended.error)
        log.warn({ provider: provider.code, service, why: ended.error.message }, 'a vendor refuses to take back a webhook')
      }
    }
  }
}

function notDone (what: string, { word, message }: CallError): DispatchError {
  return new DispatchError(clientWord(word), `${what}: ${message}`)
}

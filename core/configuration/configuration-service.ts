import type { Actor, AuditAuthor } from '@dispatch/accounts'
import type { JsonObject, Problem } from '@dispatch/common'
import { type ConfigurationView, DispatchError, type ListedProvider, type MyConfig, refusal, type Version } from '@dispatch/contract'
import { type InstalledProvider, offeredTo } from '@dispatch/host'
import type { ServiceName } from '@dispatch/services'
import type { Configurations, Owner } from '../store/configuration/configurations.ts'
import { missingResourceOf, whyNotInstalled } from './choose.ts'
import type { Connections } from './connections.ts'
import { readMine, type ViewNeeds, viewOf } from './mine.ts'
import { removeConfiguration } from './removing.ts'
import { saveConfiguration, type Saver, type SavingNeeds } from './saving.ts'
import { configurationFor } from './serving.ts'
import type { Subscribing } from './subscribing.ts'

/** Provider choices and configurations, for admins and users. Every change applies to the next request in every process. */
export type ConfigurationService = {
  /** The choices and configurations that apply to the actor, of the services that they may use. Secrets are masked. */
  mine: (actor: Actor) => Promise<MyConfig>
  /** Chooses the provider of a service, or a list of them; none removes the choice. */
  choose: (owner: Owner, service: ServiceName, providers: readonly ListedProvider[], author: AuditAuthor) => Promise<void>
  /**
   * Replaces a whole configuration. Secrets and `sandbox` are kept from the old one where they are left out; null deletes a secret. Throws
   * `validation_failed` for settings that the provider does not accept, and for a destination that is no public address. Where requests
   * would go elsewhere than before, it needs a fresh proof of who changes it: `prove` throws where there is none.
   */
  configure: (
    owner: Owner,
    code: string,
    given: { settings: JsonObject, sandbox?: boolean, version?: Version },
    by: Saver
  ) => Promise<ConfigurationView>
  /**
   * Registers the webhooks of a configuration that has just been connected with an account: it could not do so before. Answers a warning
   * where the vendor has not registered them: they are when the configuration is saved again.
   */
  registerWebhooks: (owner: Owner, code: string, author: AuditAuthor) => Promise<Problem[]>
  /**
   * Takes back the webhooks that were registered at the vendor. Throws `not_found` when there is none, and where the vendor cannot be
   * asked; `force` removes it nevertheless.
   */
  remove: (owner: Owner, code: string, author: AuditAuthor, options?: { force?: boolean }) => Promise<void>
}

/** `disk`: whether the operator lets providers write files. */
type Needs = SavingNeeds & ViewNeeds & {
  configurations: Configurations
  connections: Pick<Connections, 'redirectUri' | 'revocation'>
  disk: boolean
  subscribing: Subscribing
}

/**
 * Reads and changes what companies and users have configured. A provider that is not installed is `not_found` where it is configured, and
 * `configuration_missing` where it is chosen; a faulty list is a `validation_error`. Throws what {@link saveConfiguration} throws, too.
 */
export function createConfigurationService (needs: Needs): ConfigurationService {
  const configure: ConfigurationService['configure'] = async (owner, code, given, by) => {
    const provider = installed(needs, owner, code, 'not_found')
    const { stored, warnings } = await saveConfiguration(needs, { ...given, owner, provider }, by)
    return { ...viewOf(needs, owner.companyId, stored), ...(warnings.length === 0 ? {} : { warnings: [...warnings] }) }
  }
  return {
    mine: (actor) => readMine(needs, actor),
    choose: (owner, service, providers, author) => chooseProviders(needs, { owner, service, providers, author }),
    configure,
    registerWebhooks: (owner, code, author) => registerWebhooks({ ...needs, configure }, { owner, code, author }),
    remove: (owner, code, author, { force = false } = {}) => removeConfiguration(needs, { owner, code, author, force })
  }
}

/** A provider that a company may choose. Throws the `word` where it is not there. */
function installed (
  { host }: Pick<Needs, 'host'>,
  { companyId }: Owner,
  code: string,
  word: 'not_found' | 'configuration_missing'
): InstalledProvider {
  const offered = offeredTo(host, companyId)
  const provider = offered.find(code)
  if (provider === undefined) throw new DispatchError(word, whyNotInstalled(offered, code))
  return provider
}

async function chooseProviders (
  needs: Pick<Needs, 'configurations' | 'disk' | 'host' | 'now'>,
  { owner, service, providers, author }: {
    owner: Owner
    service: ServiceName
    providers: readonly ListedProvider[]
    author: AuditAuthor
  }
): Promise<void> {
  const { configurations, disk, now } = needs
  const faults = listFaults(providers)
  if (faults.length > 0) throw refusal('validation_error', faults)
  const isList = providers.length > 1
  const found = providers.map(({ providerName }) => installed(needs, owner, providerName, 'configuration_missing'))
  for (const [index, provider] of found.entries()) {
    refuseUnfit(provider, service, { disk, path: isList ? `/providers/${index}/providerName` : '/providerName' })
  }
  const adapters = found.filter(({ isAdapter }) => isAdapter).map(({ code }) => code)
  await configurations.choose(owner, { service, providers, adapters }, { author, at: now() })
}

/** Saves a configuration once more as it is, so that its webhooks are registered. */
async function registerWebhooks (
  { configurations, configure, host, keyring, subscribing }: Needs & Pick<ConfigurationService, 'configure'>,
  { owner, code, author }: { owner: Owner, code: string, author: AuditAuthor }
): Promise<Problem[]> {
  const { configurations: all } = await configurations.latest(owner.companyId)
  const stored = all.find(({ providerCode, userId }) => providerCode === code && userId === owner.userId)
  const provider = offeredTo(host, owner.companyId).find(code)
  if (stored === undefined || provider === undefined) return []
  const { settings: { plain: settings } } = configurationFor(keyring, owner.companyId, provider, stored)
  if (subscribing.servicesOf(provider, stored).length === 0) return []
  // Nothing goes elsewhere than before: what is saved is what is there.
  const unchanged = configure(owner, code, { settings }, { author, prove: () => Promise.resolve() })
  return await unchanged.then(({ warnings = [] }) => warnings, (error: unknown) => {
    if (!(error instanceof DispatchError)) throw error
    return [{ path: '/connection', code: 'webhook_not_registered', message: `${error.message} Save the settings again.` }]
  })
}

/** Refuses a provider that cannot be chosen for a service. */
function refuseUnfit (provider: InstalledProvider, service: ServiceName, { disk, path }: { disk: boolean, path: string }): void {
  if (provider.manifest.services[service] === undefined) {
    throw refusal('validation_failed', [{
      path,
      code: 'not_supported_by_provider',
      message: `The provider "${provider.code}" does not offer "${service}".`
    }])
  }
  const lacking = missingResourceOf(provider, disk)
  if (lacking !== undefined) throw refusal('configuration_missing', [{ path, code: 'configuration_missing', message: lacking }])
}

/** What is wrong with a list by itself: a provider that stands in it twice, or weights of which none counts. */
function listFaults (providers: readonly ListedProvider[]): Problem[] {
  const twice = providers.flatMap(({ providerName }, index) =>
    providers.findIndex((other) => other.providerName === providerName) === index ? [] : [{
      path: `/providers/${index}/providerName`,
      code: 'duplicate',
      message: `The provider "${providerName}" stands in the list twice.`
    }]
  )
  const weighted = providers.filter(({ weight }) => weight !== undefined)
  return weighted.length > 0 && weighted.every(({ weight }) => weight === 0)
    ? [...twice, { path: '/providers', code: 'no_weight', message: 'One of the weights must be more than 0: no dispatch could begin.' }]
    : twice
}

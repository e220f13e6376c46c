import { type JsonObject, type Keyring, pointer, type Problem } from '@dispatch/common'
import { type ConfigurationView, deliveryServices, DispatchError, type ListedProvider, type MyConfig, refusal,
  type Version } from '@dispatch/contract'
import { changedDestinations, changeSettings, connectionFor, destinationNames, type Host, type InstalledProvider, isLabel, type Manifest,
  maskSettings, offeredTo, openSettings, sandboxFaults, settingsInHosts, webhookUrl } from '@dispatch/host'
import { providedNames, type ServiceName } from '@dispatch/services'
import { addressProblems, type Guard } from '@dispatch/vendor-io'
import { randomUUID } from 'node:crypto'
import type { Actor } from '../access/account.ts'
import { mayUse } from '../access/permissions.ts'
import type { AuditAuthor } from '../store/audit/audit.ts'
import { changedMeanwhile, type CompanyConfiguration, type Configurations, type Owner,
  type StoredConfiguration } from '../store/configuration/configurations.ts'
import { type ChoiceContext, choiceOf, chooseProvider, type Chosen, installedCodes, missingResourceOf, whyNotInstalled } from './choose.ts'
import { connectionProblem, type Connections } from './connections.ts'
import { mayRead } from './rights.ts'
import { configurationFor, formsOfOthers, type Serving, servingIn } from './serving.ts'
import type { Registration, Subscribing, ToRegister } from './subscribing.ts'
import { configurationFaults, openConfiguration, vaultOf } from './vault.ts'

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
    by: { author: AuditAuthor, prove: () => Promise<void> }
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

/** `publicUrl` is the start of webhook URLs. `disk`: whether the operator lets providers write files. */
export function createConfigurationService ({ configurations, connections, host, keyring, guard, publicUrl, disk, now, subscribing }: {
  configurations: Configurations
  connections: Pick<Connections, 'redirectUri' | 'revocation'>
  host: Host
  keyring: Keyring
  guard: Pick<Guard, 'check'>
  publicUrl: string
  disk: boolean
  now: () => Date
  subscribing: Subscribing
}): ConfigurationService {
  const view = (companyId: number, stored: StoredConfiguration): ConfigurationView =>
    viewOf({ keyring, connections, publicUrl }, companyId, offeredTo(host, companyId), stored)

  function installed ({ companyId }: Owner, code: string, word: 'not_found' | 'configuration_missing'): InstalledProvider {
    const offered = offeredTo(host, companyId)
    const provider = offered.find(code)
    if (provider === undefined) throw new DispatchError(word, whyNotInstalled(offered, code))
    return provider
  }

  const service: ConfigurationService = {
    async mine (actor) {
      const company = await configurations.latest(actor.companyId)
      const chooser: ChoiceContext = {
        host: offeredTo(host, actor.companyId),
        company,
        disk,
        problemsOf: (provider, stored) => configurationFaults(keyring, actor.companyId, provider, stored)
      }
      const choices = company.choices.filter(({ service }) => mayUse(actor, service))
      const of = (userId: number | null) => ({
        choices: Object.fromEntries(
          choices.filter((choice) => choice.userId === userId).map((choice) => [choice.service, choice.providerCode])
        ),
        ...listsOf(choices, userId),
        providers: company.configurations.filter((stored) => stored.userId === userId && mayRead(actor, chooser.host, stored.providerCode))
          .map((stored) => view(actor.companyId, stored))
      })
      return {
        user: { id: actor.userId, email: actor.email, ...of(actor.userId) },
        company: { id: actor.companyId, ...of(null) },
        services: Object.fromEntries(
          providedNames.filter((service) => mayUse(actor, service)).map((service) => [service, holding(chooser, actor, service)])
        )
      }
    },

    async choose (owner, service, providers, author) {
      const faults = listFaults(providers)
      if (faults.length > 0) throw refusal('validation_error', faults)
      const isList = providers.length > 1
      const found = providers.map(({ providerName }) => installed(owner, providerName, 'configuration_missing'))
      for (const [index, provider] of found.entries()) {
        refuseUnfit(provider, service, { disk, path: isList ? `/providers/${index}/providerName` : '/providerName' })
      }
      const adapters = found.filter(({ isAdapter }) => isAdapter).map(({ code }) => code)
      await configurations.choose(owner, { service, providers, adapters }, { author, at: now() })
    },

    async configure (owner, code, { settings, sandbox: given, ...place }, { author, prove }) {
      const provider = installed(owner, code, 'not_found')
      const { manifest } = provider
      const vault = vaultOf(keyring, owner, code)
      let warnings: Problem[] = []
      let isProved = false
      const account = randomUUID()
      const change = (made?: Made): Promise<StoredConfiguration> =>
        configurations.edit(owner, { code, isAdapter: provider.isAdapter ?? false }, (before) => {
          // Real dispatches begin where somebody says so.
          const sandbox = given ?? before?.sandbox ?? false
          const kept = before && configurationFor(keyring, owner.companyId, provider, before).settings
          const changed = changeSettings(manifest.settings, kept ?? { plain: {}, secrets: {} }, settings, {
            vault,
            now: now(),
            base: '/settings',
            ...place
          })
          if (!changed.ok) throw refusal('validation_failed', changed.problems)
          const faults = [
            ...destinationFaults(guard, manifest, changed.value.plain),
            ...sandboxFaults(manifest, openSettings(changed.value, vault), sandbox)
          ]
          if (faults.length > 0) throw refusal('validation_failed', faults)
          warnings = changed.warnings
          const destinations = changedDestinations(manifest.settings, kept?.plain ?? {}, changed.value.plain)
          if (destinations.length > 0 && !isProved) throw new ProofFirst()
          const edited = {
            userId: owner.userId,
            providerCode: code,
            settings: changed.value,
            version: provider.version,
            sandbox,
            updatedAt: now(),
            account: before?.account ?? account,
            ...(before?.connection !== undefined && { connection: before.connection })
          }
          const asked = {
            provider,
            owner,
            edited,
            ...(before !== undefined && { before: { ...before, settings: kept ?? before.settings } })
          }
          if (made !== undefined) refuseOtherThan(made, before)
          else if (subscribing.servicesOf(provider, edited).length > 0) throw new RegisterFirst(asked)
          const { settings: whole, subscriptions = before?.subscriptions } = made ?? { settings: changed.value }
          // Where nothing is registered, of two who save the first one at once the last one counts.
          const { account: name, ...unnamed } = edited
          const isKept = provider.isAdapter === true && before !== undefined
          return {
            edited: {
              ...unnamed,
              ...(made !== undefined && { account: name }),
              settings: whole,
              ...(subscriptions !== undefined && { subscriptions })
            },
            destinations,
            forms: isKept ? formsOfOthers(keyring, owner.companyId, provider, before) : []
          }
        }, { author, at: now() })
      // Who it is is looked up outside of the transaction, and only where it matters.
      const proved = (): Promise<StoredConfiguration> =>
        change().catch(async (error: unknown) => {
          if (!(error instanceof ProofFirst)) throw error
          await prove()
          isProved = true
          return await change()
        })
      // No transaction waits for a vendor.
      const stored = await proved().catch(async (error: unknown) => {
        if (!(error instanceof RegisterFirst)) throw error
        const { asked } = error
        const made = { ...await subscribing.register(asked), instead: asked.before }
        const saved = await change(made).catch(async (failure: unknown) => {
          await made.undo()
          throw failure
        })
        await made.replace()
        return saved
      })
      return { ...view(owner.companyId, stored), ...(warnings.length === 0 ? {} : { warnings }) }
    },

    async registerWebhooks (owner, code, author) {
      const { configurations: all } = await configurations.latest(owner.companyId)
      const stored = all.find(({ providerCode, userId }) => providerCode === code && userId === owner.userId)
      const provider = offeredTo(host, owner.companyId).find(code)
      if (stored === undefined || provider === undefined) return []
      const { settings: { plain: settings } } = configurationFor(keyring, owner.companyId, provider, stored)
      if (subscribing.servicesOf(provider, stored).length === 0) return []
      // Nothing goes elsewhere than before: what is saved is what is there.
      const unchanged = service.configure(owner, code, { settings }, { author, prove: () => Promise.resolve() })
      return await unchanged.then(({ warnings = [] }) => warnings, (error: unknown) => {
        if (!(error instanceof DispatchError)) throw error
        return [{ path: '/connection', code: 'webhook_not_registered', message: `${error.message} Save the settings again.` }]
      })
    },

    async remove (owner, code, author, { force = false } = {}) {
      const { configurations: all } = await configurations.latest(owner.companyId)
      const stored = all.find(({ providerCode, userId }) => providerCode === code && userId === owner.userId)
      const provider = offeredTo(host, owner.companyId).find(code)
      if (stored?.subscriptions !== undefined && provider !== undefined) {
        const { provider: serving, configuration } = servingIn(keyring, owner.companyId, provider, stored)
        await subscribing.end(owner, serving, configuration).catch((error: unknown) => {
          if (!force) throw error
        })
      }
      const revoke = stored?.connection === undefined || provider === undefined
        ? undefined
        : await revocationOf(owner, servingIn(keyring, owner.companyId, provider, stored))
      if (!await configurations.remove(owner, code, { author, at: now() })) {
        throw new DispatchError('not_found', `There is no configuration of a provider "${code}" here.`)
      }
      await revoke?.()
    }
  }
  return service

  /** What ends the tokens of a configuration at its vendor. Settings that cannot be opened any more end none. */
  async function revocationOf ({ companyId }: Owner, { provider, configuration }: Serving): ReturnType<Connections['revocation']> {
    if (configurationFaults(keyring, companyId, provider, configuration).length > 0) return undefined
    return await connections.revocation({
      companyId,
      provider,
      configuration,
      settings: openConfiguration(keyring, companyId, configuration)
    })
  }
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

/** What was registered, for a configuration that stood so before. */
type Made = Registration & { instead: StoredConfiguration | undefined }

/** Throws where another change was stored while the vendor was asked. */
function refuseOtherThan ({ instead }: Made, before: StoredConfiguration | undefined): void {
  if (instead?.updatedAt.getTime() === before?.updatedAt.getTime()) return
  throw changedMeanwhile()
}

/** The vendor is to be asked first, outside of the transaction. */
class RegisterFirst extends Error {
  override name = 'RegisterFirst'
  readonly asked: ToRegister

  constructor (asked: ToRegister) {
    super('The vendor registers the webhook first.')
    this.asked = asked
  }
}

/** Requests would go elsewhere than before. */
class ProofFirst extends Error {
  override name = 'ProofFirst'
}

/** What is wrong with the places to which settings lead requests: whole hosts, or parts of those that the manifest has. */
function destinationFaults (
  guard: Pick<Guard, 'check'>,
  { settings: form, hosts }: Pick<Manifest, 'settings' | 'hosts'>,
  settings: JsonObject
): Problem[] {
  const parts = settingsInHosts(hosts)
  return destinationNames(form).flatMap((name) => {
    const path = pointer('/settings', name)
    if (!parts.includes(name)) return addressProblems(guard, settings[name], { path, what: 'Requests' })
    return settings[name] === undefined || isLabel(settings[name]) ? [] : [{
      path,
      code: 'not_a_label',
      message: 'It is a part of the name of a host: lowercase letters, digits and hyphens, 63 at most, without a dot.'
    }]
  })
}

/** The lists that a user, or the company, has chosen. */
function listsOf (choices: CompanyConfiguration['choices'], userId: number | null): Pick<MyConfig['company'], 'lists'> {
  const lists = choices.flatMap(({ userId: owner, service, providers }) =>
    owner !== userId || providers === undefined ? [] : [[service, [...providers]] satisfies [string, ListedProvider[]]]
  )
  return lists.length === 0 ? {} : { lists: Object.fromEntries(lists) }
}

/** Why dispatches of a service would be refused: its provider, or those of the list, that cannot be used. */
function unusable (chooser: ChoiceContext, actor: Actor, service: ServiceName, { code, providers }: Chosen): Problem[] {
  return (providers ?? [{ providerName: code }]).flatMap(({ providerName }, index) => {
    const choice = chooseProvider(chooser, actor, service, providerName)
    return choice.chosen ? [] : [{ ...choice.problem, ...(providers !== undefined && { path: `/providers/${index}/providerName` }) }]
  })
}

/** The provider that a service has for an actor, and the providers that could be chosen for it. */
function holding (chooser: ChoiceContext, actor: Actor, service: ServiceName): MyConfig['services'][string] {
  const choice = choiceOf(chooser.company, actor, service)
  const available = installedCodes(chooser.host).filter((code) => chooseProvider(chooser, actor, service, code).chosen)
  const problems = choice === undefined ? [] : unusable(chooser, actor, service, choice)
  return {
    providerName: choice?.code ?? null,
    chosenBy: choice === undefined || choice.chosenBy === 'request' ? null : choice.chosenBy,
    available,
    ...(problems.length > 0 && { problems })
  }
}

function viewOf (
  { keyring, connections, publicUrl }: { keyring: Keyring, connections: Pick<Connections, 'redirectUri'>, publicUrl: string },
  companyId: number,
  host: Host,
  stored: StoredConfiguration
): ConfigurationView {
  const { providerCode: code, sandbox } = stored
  const provider = host.find(code)
  if (provider === undefined) {
    return {
      code,
      settings: {},
      sandbox,
      valid: false,
      problems: [{ path: '', code: 'not_installed', message: whyNotInstalled(host, code) }]
    }
  }
  const serving = servingIn(keyring, companyId, provider, stored)
  const goesOn = serving.provider.version !== provider.version
  const { settings } = goesOn ? stored : serving.configuration
  const unconnected = connectionProblem(serving.provider, serving.configuration)
  const problems = [
    ...configurationFaults(keyring, companyId, provider, { ...stored, settings }),
    ...unconnected === undefined ? [] : [unconnected]
  ]
  const urls = deliveryServices.filter((service) => provider.manifest.webhooks?.[service] !== undefined).map((service) =>
    [service, webhookUrl(publicUrl, { code, service, account: stored.account })] as const
  )
  const [first] = urls
  return {
    code,
    settings: maskSettings(provider.manifest.settings, settings),
    sandbox,
    valid: problems.length === 0,
    ...(goesOn && { servedBy: serving.provider.version }),
    ...(connectionFor(serving.provider.manifest, serving.configuration) !== undefined && {
      connection: {
        state: unconnected === undefined ? 'connected' : unconnected.code === 'not_connected' ? 'not_connected' : 'ended',
        redirectUri: connections.redirectUri(code),
        ...(stored.connection !== undefined && { connectedAt: stored.connection.connectedAt.toISOString() })
      }
    }),
    ...(stored.subscriptions !== undefined && {
      webhooksRegistered: Object.fromEntries(Object.entries(stored.subscriptions).map(([service, { at }]) => [service, at]))
    }),
    ...(stored.checked !== undefined && { lastCheck: { result: stored.checked.result, at: stored.checked.at } }),
    ...(first === undefined ? {} : { webhookUrl: first[1], webhookUrls: Object.fromEntries(urls) }),
    ...(problems.length === 0 ? {} : { problems })
  }
}

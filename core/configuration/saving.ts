import type { AuditAuthor } from '@dispatch/accounts'
import { type JsonObject, type Keyring, pointer, type Problem } from '@dispatch/common'
import { refusal, type Version } from '@dispatch/contract'
import { changedDestinations, changeSettings, destinationNames, type InstalledProvider, isLabel, type Manifest, openSettings, sandboxFaults,
  settingsInHosts } from '@dispatch/host'
import { addressProblems, type Guard } from '@dispatch/vendor-io'
import { randomUUID } from 'node:crypto'
import { changedMeanwhile, type Configurations, type Owner, type StoredConfiguration } from '../store/configuration/configurations.ts'
import { configurationFor, formsOfOthers } from './serving.ts'
import type { Registration, Subscribing, ToRegister } from './subscribing.ts'
import { vaultOf } from './vault.ts'

/** The dependencies of saving a configuration. */
export type SavingNeeds = {
  configurations: Pick<Configurations, 'edit'>
  guard: Pick<Guard, 'check'>
  keyring: Keyring
  now: () => Date
  subscribing: Pick<Subscribing, 'register' | 'servicesOf'>
}

/** What somebody wants a configuration to be. Secrets and `sandbox` are kept from the old one where they are left out. */
export type ConfigurationEdit = { owner: Owner, provider: InstalledProvider, settings: JsonObject, sandbox?: boolean, version?: Version }

/** `prove` throws where whoever saves has not shown a fresh proof. */
export type Saver = { author: AuditAuthor, prove: () => Promise<void> }

type Saved = { stored: StoredConfiguration, warnings: readonly Problem[] }

/**
 * Replaces a whole configuration. What has to come first is done outside of the transaction, and only where it matters: a fresh proof,
 * where requests would go elsewhere than before; the registration of webhooks, so that no transaction waits for a vendor. It is taken back
 * where the configuration is not stored after it.
 */
export async function saveConfiguration (needs: SavingNeeds, desired: ConfigurationEdit, { author, prove }: Saver): Promise<Saved> {
  const account = randomUUID()
  let isProved = false
  let made: Made | undefined

  async function store (): Promise<Saved> {
    try {
      return await storeEdit(needs, { ...desired, account }, { author, isProved, made })
    } catch (error) {
      if (error instanceof ProofFirst) {
        await prove()
        isProved = true
      } else if (error instanceof RegisterFirst) {
        made = { ...await needs.subscribing.register(error.requested), instead: error.requested.before }
      } else throw error
      return store()
    }
  }
  const saved = await store().catch(async (failure: unknown) => {
    await made?.undo()
    throw failure
  })
  await made?.replace()
  return saved
}

/** The results of the work before the transaction. */
type First = { author: AuditAuthor, isProved: boolean, made: Made | undefined }

/** Stores the configuration in one transaction. Throws what has to come first, and `validation_failed` for what is wrong. */
async function storeEdit (
  needs: SavingNeeds,
  desired: ConfigurationEdit & { account: string },
  { author, isProved, made }: First
): Promise<Saved> {
  const { configurations, keyring, now, subscribing } = needs
  const { owner, provider } = desired
  let warnings: readonly Problem[] = []
  const stored = await configurations.edit(owner, { code: provider.code, isAdapter: provider.isAdapter ?? false }, (before) => {
    const plan = planEdit(needs, desired, before)
    warnings = plan.warnings
    if (plan.destinations.length > 0 && !isProved) throw new ProofFirst()
    if (made !== undefined) refuseOtherThan(made, before)
    else if (subscribing.servicesOf(provider, plan.edited).length > 0) throw new RegisterFirst(plan.asked)
    const { settings, subscriptions = before?.subscriptions } = made ?? { settings: plan.edited.settings }
    // Where nothing is registered, of two who save the first one at once the last one counts.
    const { account, ...unnamed } = plan.edited
    const isKept = provider.isAdapter === true && before !== undefined
    return {
      edited: {
        ...unnamed,
        ...(made !== undefined && { account }),
        settings,
        ...(subscriptions !== undefined && { subscriptions })
      },
      destinations: plan.destinations,
      forms: isKept ? formsOfOthers(keyring, owner.companyId, provider, before) : []
    }
  }, { author, at: now() })
  return { stored, warnings }
}

/** What a configuration becomes, and what is registered for it, if anything is. Throws `validation_failed` for what is wrong. */
function planEdit (
  { guard, keyring, now }: SavingNeeds,
  { owner, provider, settings, sandbox: given, account, ...place }: ConfigurationEdit & { account: string },
  before: StoredConfiguration | undefined
) {
  const { code, manifest } = provider
  const vault = vaultOf(keyring, owner, code)
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
  const requested = { provider, owner, edited, ...(before !== undefined && { before: { ...before, settings: kept ?? before.settings } }) }
  const destinations = changedDestinations(manifest.settings, kept?.plain ?? {}, changed.value.plain)
  return { edited, asked: requested, destinations, warnings: changed.warnings }
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
  readonly requested: ToRegister

  constructor (requested: ToRegister) {
    super('The vendor registers the webhook first.')
    this.requested = requested
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

import { type JsonObject, type Keyring, memoizeByIdentity } from '@dispatch/common'
import { DispatchError, refusal, type SuggestionsView, type Version } from '@dispatch/contract'
import { callSuggest, changeSettings, type Host, type InstalledProvider, type SettingsSchema, type Suggested } from '@dispatch/host'
import { LRUCache } from 'lru-cache'
import { randomUUID } from 'node:crypto'
import type { Configurations, Owner, StoredConfiguration } from '../store/configuration/configurations.ts'
import { connectionProblem } from './connections.ts'
import { findInstalled, findServing } from './find.ts'
import { keyOf, ownCallContext, type OwnCalls } from './own-call.ts'
import { openConfiguration, vaultOf } from './vault.ts'

/** Settings that are not saved yet, as they would be saved. */
type Unsaved = { settings?: JsonObject, sandbox?: boolean, version?: Version }

/**
 * Asks a vendor which values the settings of its configuration may have: of those that are stored, or as they would be saved. What it
 * answered is kept for five minutes. Throws `not_found` for no such provider, or for nothing to ask with, and `validation_failed` for
 * settings that do not fit.
 */
export type Suggestions = (owner: Owner, code: string, unsaved: Unsaved) => Promise<SuggestionsView>

type Options = OwnCalls & { configurations: Pick<Configurations, 'latest'>, host: Host, keyring: Keyring }

/** The values that a vendor suggests for a setting, and when it was asked. */
type Known = { suggested: Suggested, at: Date }

/** Milliseconds. */
const keptFor = 5 * 60_000
/** A busy company pushes out its own answers alone. */
const kept = { companies: 200, ofCompany: 20 }

/**
 * Asks vendors which values a setting can have, and remembers their answers. Throws `not_found` without a configuration,
 * `validation_failed` for settings that cannot be.
 */
export function createSuggestions (options: Options): Suggestions {
  const { keyring, now } = options
  const companies = new LRUCache<number, LRUCache<string, Known>>({ max: kept.companies })

  async function ask (owner: Owner, provider: InstalledProvider, configuration: StoredConfiguration, setting: string): Promise<Known> {
    const { companyId } = owner
    const problem = connectionProblem(provider, configuration)
    if (problem !== undefined) return { suggested: { result: 'failed', code: problem.code, message: problem.message }, at: now() }
    const settings = openConfiguration(keyring, companyId, configuration)
    const answers = companies.get(companyId) ?? new LRUCache<string, Known>({ max: kept.ofCompany })
    companies.set(companyId, answers)
    const key = keyOf(owner, provider, configuration, [setting, settings])
    const before = answers.get(key)
    if (before !== undefined && now().getTime() - before.at.getTime() < keptFor) return before
    const suggested = await callSuggest(provider, setting, ownCallContext(options, { companyId, provider, configuration, settings }))
    const known = { suggested, at: now() }
    if (suggested.result === 'ok') answers.set(key, known)
    return known
  }

  return async (owner, code, unsaved) => {
    const serving = await findServing(options, owner, code)
    const provider = serving?.provider ?? findInstalled(options, owner, code)
    const configuration = unsaved.settings === undefined
      ? serving?.configuration
      : asSaved(options, owner, { provider, stored: serving?.configuration }, { ...unsaved, settings: unsaved.settings })
    if (configuration === undefined) throw new DispatchError('not_found', `There is no configuration of a provider "${code}" here.`)
    return {
      data: await Promise.all((provider.manifest.suggestions ?? []).map(async (setting) => {
        const { suggested: { result, ...reported }, at } = await ask(owner, provider, configuration, setting)
        return { setting, result, ...reported, at: at.toISOString() }
      }))
    }
  }
}

/** A configuration as it would be if these settings were saved. Its connection goes on where that would go on. */
function asSaved (
  { keyring, now }: Pick<Options, 'keyring' | 'now'>,
  owner: Owner,
  { provider, stored }: { provider: InstalledProvider, stored: StoredConfiguration | undefined },
  { settings, sandbox = stored?.sandbox ?? false, version }: Unsaved & { settings: JsonObject }
): StoredConfiguration {
  const changed = changeSettings(askingForm(provider.manifest)(provider.manifest.settings), stored?.settings ?? { plain: {}, secrets: {} },
    settings, { vault: vaultOf(keyring, owner, provider.code), now: now(), base: '/settings', ...(version !== undefined && { version }) })
  if (!changed.ok) throw refusal('validation_failed', changed.problems)
  const { forms: _, ...kept } = stored ?? {
    userId: owner.userId,
    providerCode: provider.code,
    updatedAt: now(),
    account: randomUUID()
  }
  return { ...kept, settings: changed.value, sandbox }
}

/** The form in which a setting may be missing that the vendor has suggestions for. */
const askingForm = memoizeByIdentity(({ suggestions = [] }: InstalledProvider['manifest']) =>
  memoizeByIdentity(({ required = [], ...form }: SettingsSchema): SettingsSchema => ({
    ...form,
    required: required.filter((name) => !suggestions.includes(name))
  }))
)

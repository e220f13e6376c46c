import { type Html, html } from '../../html.ts'
import { wordFor, type Words } from '../language/language.ts'
import type { ConfigurationView, MyConfig, ProviderView } from '../session/api.ts'
import { time } from './layout.ts'
import { installedIn, nameOf } from './provider-names.ts'

/** The state of the settings of a provider, in a word. Whether they work is known by the last check alone. */
export function stateOf (words: Words, stored: ConfigurationView | undefined): { tone: 'good' | 'bad' | 'warn' | 'calm', text: string } {
  if (stored === undefined) return { tone: 'calm', text: words.notConfigured }
  if (!stored.valid) return { tone: 'warn', text: words.needsAttention }
  if (stored.lastCheck === undefined) return { tone: 'calm', text: words.neverChecked }
  const { result } = stored.lastCheck
  return result === 'ok'
    ? { tone: 'good', text: words.ready }
    : result === 'failed'
    ? { tone: 'bad', text: words.checkFailed }
    : { tone: 'calm', text: words.notCheckable }
}

export function stateBadge (words: Words, stored: ConfigurationView | undefined): Html {
  const { tone, text } = stateOf(words, stored)
  return html`<span class="badge ${tone}">${text}</span>`
}

/** When settings that are still as they were then were checked last; empty where they never were. */
export function checkedAt (words: Words, stored: ConfigurationView | undefined): Html {
  return stored?.lastCheck === undefined ? html`` : html`<span class="quiet">${words.checkedLast} ${time(stored.lastCheck.at)}</span>`
}

/** The providers of a service for the reader, in their order: those of the list, or the one. */
export function chosenFor ({ services, user, company }: MyConfig, service: string): readonly string[] {
  const { providerName = null, chosenBy } = services[service] ?? {}
  const lists = chosenBy === 'user' ? user.lists : company.lists
  return lists?.[service]?.map((entry) => entry.providerName) ?? (providerName === null ? [] : [providerName])
}

/** Why a chosen provider cannot be used, with the way to its settings; undefined where it can. */
export function unusable (
  words: Words,
  { config, providers, service }: { config: MyConfig, providers: readonly ProviderView[], service: string },
  code: string
): { why: string, path: string } | undefined {
  if (config.services[service]?.available.includes(code) === true) return undefined
  if (installedIn(providers, code) === undefined) return { why: words.notInstalled, path: `/console/services/${service}` }
  const stored = [...config.user.providers, ...config.company.providers].find((one) => one.code === code)
  const why = stored?.valid === true ? words.choice_unusable : stateOf(words, stored).text
  return { why, path: `/console/providers/${code}` }
}

/** Why none of the providers that are chosen for a service can be used; undefined where one can, and for what is done here. */
export function lackFor (
  words: Words,
  { config, providers }: { config: MyConfig, providers: readonly ProviderView[] },
  service: string
): string | undefined {
  if (config.services[service] === undefined) return undefined
  const lacks = chosenFor(config, service).map((code) => unusable(words, { config, providers, service }, code))
  return lacks.includes(undefined) ? undefined : lacks[0]?.why ?? words.notConfigured
}

/** The services for which the company has chosen a provider, alone or in a list. */
export function servicesWith ({ company: { choices, lists = {} } }: Pick<MyConfig, 'company'>, code: string): string[] {
  return Object.keys(choices).filter((service) =>
    choices[service] === code || lists[service]?.some(({ providerName }) => providerName === code) === true
  )
}

/** Defaults that cannot be used, each with why and the way to what mends it. */
export function unusableDefaults (
  words: Words,
  config: MyConfig,
  providers: readonly ProviderView[]
): { service: string, code: string, name: string, why: string, path: string }[] {
  return Object.keys(config.services).flatMap((service) =>
    chosenFor(config, service).flatMap((code) => {
      const lack = unusable(words, { config, providers, service }, code)
      return lack === undefined ? [] : [{ service: wordFor(words, 'service', service), code, name: nameOf(providers, code), ...lack }]
    })
  )
}

import type { Actor } from '@dispatch/accounts'
import { didYouMean, type Problem } from '@dispatch/common'
import { type ChosenBy, isSince, type ListedProvider, type Version } from '@dispatch/contract'
import { type Host, type InstalledProvider, noticeOf } from '@dispatch/host'
import type { ServiceName } from '@dispatch/services'
import type { CompanyConfiguration, StoredChoice, StoredConfiguration } from '../store/configuration/configurations.ts'
import { connectionProblem } from './connections.ts'
import { servingOf } from './serving.ts'

/**
 * The data from which a provider is chosen, for a version of the API. `problemsOf` validates a stored configuration against the current
 * manifest. `disk`: whether the operator lets providers write files.
 */
export type ChoiceContext = {
  host: Host
  company: CompanyConfiguration
  version?: Version
  disk?: boolean
  problemsOf: (provider: InstalledProvider, configuration: StoredConfiguration) => readonly Problem[]
}

/** The provider of a step, or why there is none. */
export type Choice =
  | { chosen: true, chosenBy: ChosenBy, provider: InstalledProvider, configuration: StoredConfiguration }
  | { chosen: false, provider?: InstalledProvider, problem: Problem }

/** Chooses the provider of a service for an actor: the one in the request, else the user's choice, else the company's. */
export function chooseProvider (
  chooser: ChoiceContext,
  actor: Pick<Actor, 'userId'>,
  service: ServiceName,
  requested: string | undefined
): Choice {
  const choice = choiceOf(chooser.company, actor, service, requested)
  if (choice === undefined) {
    return missing(`No provider is chosen for "${service}": name one in "providerName", or choose a default with PUT ` +
      `/api/v1/company/defaults/${service}.`)
  }
  return choose(chooser, actor, service, choice)
}

/** A provider of a list, and whether it can be used. */
export type ListedChoice = Omit<ListedProvider, 'providerName'> & { choice: Choice }

/** The providers of the list that is the default of a service for an actor; undefined where the default is no list. */
export function chooseListed (
  chooser: ChoiceContext,
  actor: Pick<Actor, 'userId'>,
  service: ServiceName
): readonly ListedChoice[] | undefined {
  const { providers, chosenBy = 'company' } = choiceOf(chooser.company, actor, service) ?? {}
  return providers?.map(({ providerName: code, ...entry }) => ({ ...entry, choice: choose(chooser, actor, service, { code, chosenBy }) }))
}

/** A stored or requested choice: of a list, its first provider and the whole list. */
export type Chosen = { code: string, chosenBy: ChosenBy, providers?: readonly ListedProvider[] }

function choose (chooser: ChoiceContext, actor: Pick<Actor, 'userId'>, service: ServiceName, { code, chosenBy }: Chosen): Choice {
  const provider = chooser.host.find(code)
  if (provider === undefined) return missing(whyNotInstalled(chooser.host, code))
  const { since } = provider.manifest
  if (chosenBy === 'request' && chooser.version !== undefined && !isSince(since, chooser.version)) {
    return missing(
      `The API has the provider "${code}" from version ${
        since ?? ''
      } on: request that version with X-API-Version, or leave the choice to ` +
        'the default.'
    )
  }
  if (provider.manifest.services[service] === undefined) {
    return {
      chosen: false,
      problem: {
        path,
        code: 'not_supported_by_provider',
        message: `The provider "${code}" does not offer "${service}"; it offers ${Object.keys(provider.manifest.services).join(', ')}.`
      }
    }
  }
  return configured(chooser, actor, provider, chosenBy)
}

/** The stored choice that applies to a user when the request names no provider: of a list, the first, and the whole list. */
export function choiceOf (
  company: CompanyConfiguration,
  { userId }: Pick<Actor, 'userId'>,
  service: ServiceName,
  requested?: string
): Chosen | undefined {
  if (requested !== undefined) return { code: requested, chosenBy: 'request' }
  const choices = company.choices.filter((choice) => choice.service === service)
  const own = choices.find((choice) => choice.userId === userId)
  if (own !== undefined) return chosenIn(own, 'user')
  const shared = choices.find((choice) => choice.userId === null)
  return shared === undefined ? undefined : chosenIn(shared, 'company')
}

function chosenIn ({ providerCode: code, providers }: StoredChoice, chosenBy: ChosenBy): Chosen {
  return { code, chosenBy, ...(providers === undefined ? {} : { providers }) }
}

/** The configuration of a provider that applies to a user: the user's own, else the company's. The two are not merged. */
export function configurationOf (
  company: CompanyConfiguration,
  { userId }: Pick<Actor, 'userId'>,
  code: string
): StoredConfiguration | undefined {
  const all = company.configurations.filter((configuration) => configuration.providerCode === code)
  return all.find((configuration) => configuration.userId === userId) ?? all.find((configuration) => configuration.userId === null)
}

function configured (
  { company, problemsOf, disk = false }: ChoiceContext,
  actor: Pick<Actor, 'userId'>,
  provider: InstalledProvider,
  chosenBy: ChosenBy
): Choice {
  const { code } = provider
  const lacking = missingResourceOf(provider, disk)
  if (lacking !== undefined) return { ...missing(lacking), provider }
  const configuration = configurationOf(company, actor, code)
  if (configuration === undefined) {
    return {
      ...missing(`The provider "${code}" has no configuration: set one with PUT /api/v1/company/providers/${code}, or for yourself alone ` +
        `with PUT /api/v1/my/providers/${code}.`),
      provider
    }
  }
  const serving = servingOf(provider, configuration, problemsOf)
  const [problem] = problemsOf(serving.provider, serving.configuration)
  const unconnected = connectionProblem(serving.provider, serving.configuration)
  if (problem === undefined && unconnected === undefined) return { chosen: true, chosenBy, ...serving }
  if (problem === undefined) {
    return { ...missing(`The configuration of the provider "${code}" cannot be used. ${unconnected?.message ?? ''}`), provider }
  }
  const whose = configuration.userId === null ? 'company/providers' : 'my/providers'
  return {
    ...missing(`The configuration of the provider "${code}" is not valid (${problem.path} ${problem.message}): correct it with PUT ` +
      `/api/v1/${whose}/${code}.`),
    provider
  }
}

/** A sentence about what the operator has not set up for a provider, which cannot be chosen then; undefined when nothing is missing. */
export function missingResourceOf ({ code, manifest: { needs = [] } }: InstalledProvider, disk: boolean): string | undefined {
  return needs.includes('disk') && !disk
    ? `The provider "${code}" writes to a disk, but the operator has not provided one: DISPATCH_DISK_ROOT is not set.`
    : undefined
}

const path = '/providerName'

function missing (message: string): Extract<Choice, { chosen: false }> {
  return { chosen: false, problem: { path, code: 'configuration_missing', message } }
}

/** The sentence for a code under which no provider runs. */
export function whyNotInstalled (host: Host, code: string): string {
  return noticeOf(host, code) ?? `There is no provider "${code}" installed${didYouMean(code, installedCodes(host))}.`
}

/** The codes of all installed providers. */
export function installedCodes (host: Host): string[] {
  return host.entries().flatMap((entry) => entry.state === 'installed' ? [entry.code] : [])
}

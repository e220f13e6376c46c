import { type Actor, mayUse } from '@dispatch/accounts'
import type { Keyring, Problem } from '@dispatch/common'
import { type ConfigurationView, deliveryServices, type ListedProvider, type MyConfig } from '@dispatch/contract'
import { connectionFor, type Host, maskSettings, offeredTo, webhookUrl } from '@dispatch/host'
import { providedNames, type ServiceName } from '@dispatch/services'
import type { CompanyConfiguration, Configurations, StoredConfiguration } from '../store/configuration/configurations.ts'
import { type ChoiceContext, choiceOf, chooseProvider, type Chosen, installedCodes, whyNotInstalled } from './choose.ts'
import { connectionProblem, type Connections } from './connections.ts'
import { mayRead } from './rights.ts'
import { servingIn } from './serving.ts'
import { configurationFaults } from './vault.ts'

/** What configurations are shown with. `publicUrl`: the start of webhook URLs. */
export type ViewNeeds = { connections: Pick<Connections, 'redirectUri'>, host: Host, keyring: Keyring, publicUrl: string }

/** `disk`: whether the operator lets providers write files. */
type Needs = ViewNeeds & { configurations: Pick<Configurations, 'latest'>, disk: boolean }

/** The choices and configurations that apply to an actor, of the services that they may use. Secrets are masked. */
export async function readMine (needs: Needs, actor: Actor): Promise<MyConfig> {
  const { configurations, disk, host, keyring } = needs
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
      .map((stored) => viewOf(needs, actor.companyId, stored))
  })
  return {
    user: { id: actor.userId, email: actor.email, ...of(actor.userId) },
    company: { id: actor.companyId, ...of(null) },
    services: Object.fromEntries(
      providedNames.filter((service) => mayUse(actor, service)).map((service) => [service, holding(chooser, actor, service)])
    )
  }
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

/** A configuration of a company as people read it, with what is wrong with it. Secrets are masked. */
export function viewOf (
  { connections, host: whole, keyring, publicUrl }: ViewNeeds,
  companyId: number,
  stored: StoredConfiguration
): ConfigurationView {
  const host = offeredTo(whole, companyId)
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

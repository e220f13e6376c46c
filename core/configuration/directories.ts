import { type Keyring, withTimeLimit } from '@dispatch/common'
import type { ConfiguredBy } from '@dispatch/contract'
import { callRecipients, type Directed, type ElectronicAddress, type Host, offeredTo } from '@dispatch/host'
import { type ServiceName, serviceNames } from '@dispatch/services'
import type { Peppol, Published } from '@dispatch/vendor-io'
import { LRUCache } from 'lru-cache'
import type { Configurations } from '../store/configuration/configurations.ts'
import { chooseProvider } from './choose.ts'
import { keyOf, ownCallContext, type OwnCalls } from './own-call.ts'
import { configurationUsed, reachesSandbox } from './sandbox.ts'
import { type Serving, servingIn } from './serving.ts'
import { createConfigurationCheck, openConfiguration } from './vault.ts'

/** What one directory says of an address: the code of its provider or `peppol`, and when it said so. */
export type DirectoryAnswer = { directory: string, at: Date, said: Directed }

/** Who asks. A test asks test environments alone. */
export type DirectoryQuery = { companyId: number, userId: number, test: boolean }

/** Whoever serves a planned step. */
type ServedBy = { code: string, configuredBy: ConfiguredBy, sandbox: boolean }

/**
 * The directories of those who receive e-invoices: those of a company's providers, and that of Peppol. What one said is kept for ten
 * minutes; one that did not answer is left alone for 30 seconds.
 */
export type Directories = {
  /** Asks each directory that the company or the user has. */
  ask: (query: DirectoryQuery, address: ElectronicAddress) => Promise<DirectoryAnswer[]>
  /**
   * The name of the directory that knows nobody by an address, or nobody who receives: that of a step's provider, or else of the network
   * that the invoice is for. It is asked for two seconds at most.
   */
  unknownIn: (query: DirectoryQuery, service: ServiceName, by: ServedBy, address: ElectronicAddress & { network?: 'peppol' }) => Promise<
    { directory: string, status: 'unknown' | 'inactive' } | undefined
  >
}

/** `peppol`: undefined where the operator has not set it up. */
type Options = OwnCalls & {
  configurations: Pick<Configurations, 'latest'>
  host: Host
  keyring: Keyring
  peppol: Peppol | undefined
}

/** Milliseconds. */
const [keptFor, restFor, limit, answerTimeoutMs] = [10 * 60_000, 30_000, 10_000, 2_000]
/** A busy company pushes out its own answers alone, and has so many questions under way. */
const kept = { companies: 200, ofCompany: 500, underWay: 4 }

/** What a company has been told: the answers by their questions, and the directories that did not answer. */
type Reported = {
  answers: LRUCache<string, { until: number, answer: Promise<DirectoryAnswer> }>
  away: LRUCache<string, number>
  underWay: number
}

/** Asks providers and Peppol's directory who can be reached at an electronic address, and remembers their answers. */
export function createDirectories (options: Options): Directories {
  const { configurations, host, keyring, peppol, log, now } = options
  const companies = new LRUCache<number, Reported>({ max: kept.companies })
  const problemsOf = createConfigurationCheck(keyring, log)

  function toldTo (companyId: number): Reported {
    const reported = companies.get(companyId) ??
      { answers: new LRUCache({ max: kept.ofCompany }), away: new LRUCache({ max: kept.ofCompany }), underWay: 0 }
    companies.set(companyId, reported)
    return reported
  }

  /** What was said before, or what `ask` finds out now. `away`: what is left alone once it has not answered. */
  async function remembered (companyId: number, { directory, question, away, ask }: Question): Promise<DirectoryAnswer> {
    const reported = toldTo(companyId)
    const time = now().getTime()
    const before = reported.answers.get(question)
    if (before !== undefined && time < before.until) return before.answer
    const none = (message: string): DirectoryAnswer => ({ directory, at: now(), said: { result: 'cannot_be_asked', message, away: true } })
    if (time < (reported.away.get(away) ?? 0)) return none(`The directory of "${directory}" did not answer a moment ago: ask again later.`)
    if (reported.underWay >= kept.underWay) return none('Other questions of the company are under way: ask again in a few seconds.')
    reported.underWay += 1
    const answer = ask().then((said) => ({ directory, at: now(), said })).finally(() => {
      reported.underWay -= 1
    })
    reported.answers.set(question, { until: time + keptFor, answer })
    const forget = (): void => {
      if (reported.answers.peek(question)?.answer === answer) reported.answers.delete(question)
    }
    answer.then(({ said }) => {
      if (said.result === 'cannot_be_asked') forget()
      if (said.result === 'cannot_be_asked' && said.away) reported.away.set(away, now().getTime() + restFor)
    }, forget)
    return answer
  }

  async function askProvider (
    companyId: number,
    service: ServiceName,
    serving: Serving,
    address: ElectronicAddress
  ): Promise<DirectoryAnswer> {
    const { provider, configuration } = serving
    const settings = openConfiguration(keyring, companyId, configuration)
    const away = keyOf(configuration, provider, configuration, settings)
    const context = ownCallContext(options, { companyId, provider, configuration, settings })
    return await remembered(companyId, {
      directory: provider.code,
      question: JSON.stringify([away, service, address.scheme, address.id]),
      away,
      ask: () => callRecipients(provider, service, address, context, { limit })
    })
  }

  function askPeppol (companyId: number, requested: Peppol, { scheme, id }: ElectronicAddress): Promise<DirectoryAnswer> {
    const question = JSON.stringify([peppolName, scheme, id.toLowerCase()])
    // Each participant publishes elsewhere: one place that is away says nothing of others.
    return remembered(companyId, {
      directory: peppolName,
      question,
      away: question,
      ask: async () => saidBy(await requested.ask({ scheme, id }))
    })
  }

  return {
    async ask (query, address) {
      const { companyId, test } = query
      const company = await configurations.latest(companyId)
      const offered = offeredTo(host, companyId)
      const chooser = { host: offered, company, problemsOf: problemsOf.bind(undefined, companyId) }
      const having = offered.entries().flatMap((entry) =>
        entry.state === 'installed' ? servicesOf(entry.manifest).map((service) => ({ entry, service })) : []
      )
      const requested = having.flatMap(({ entry, service }) => {
        const choice = chooseProvider(chooser, query, service, entry.code)
        if (!choice.chosen || (test && !reachesSandbox(choice.provider, choice.configuration))) return []
        return [askProvider(companyId, service, inTest(choice, test), address)]
      })
      return Promise.all(peppol === undefined || test ? requested : [...requested, askPeppol(companyId, peppol, address)])
    },

    async unknownIn (query, service, by, { network, ...address }) {
      const requested = await directoryOf(query, service, by, address) ??
        (network === 'peppol' && peppol !== undefined && !query.test ? () => askPeppol(query.companyId, peppol, address) : undefined)
      if (requested === undefined) return undefined
      const answer = requested().then(({ directory, said }) => {
        const status = statusIn(said)
        return status && { directory, status }
      })
      return await withTimeLimit(answerTimeoutMs, answer, () => new NotInTime()).catch(() => undefined)
    }
  }

  /** The question to the directory of a step's provider, where it has one. */
  async function directoryOf (
    { companyId, userId }: DirectoryQuery,
    service: ServiceName,
    { code, configuredBy, sandbox }: ServedBy,
    address: ElectronicAddress
  ): Promise<(() => Promise<DirectoryAnswer>) | undefined> {
    const provider = host.find(code)
    const stored = configurationUsed(await configurations.latest(companyId), { providerCode: code, configuredBy, userId })
    if (provider === undefined || stored === undefined || configuredBy === 'nobody') return undefined
    const serving = servingIn(keyring, companyId, provider, stored)
    return serving.provider.verbs[service]?.recipients === undefined
      ? undefined
      : () => askProvider(companyId, service, inTest(serving, sandbox), address)
  }
}

/** The name of Peppol's directory, which no provider has. */
const peppolName = 'peppol'

type Question = { directory: string, question: string, away: string, ask: () => Promise<Directed> }

function saidBy (published: Published): Directed {
  if ('away' in published) return { result: 'cannot_be_asked', message: published.away, away: true }
  return published.known === undefined ? { result: 'unknown' } : { result: 'found', recipients: [published.known] }
}

/** Why nothing arrives; undefined where something may. */
function statusIn (said: Directed): 'unknown' | 'inactive' | undefined {
  if (said.result !== 'found') return said.result === 'unknown' ? 'unknown' : undefined
  return said.recipients.every(({ status }) => status === 'inactive') ? 'inactive' : undefined
}

class NotInTime extends Error {}

/** The services of a provider whose vendor has a directory. */
function servicesOf ({ services }: { services: Partial<Record<ServiceName, { verbs: readonly string[] }>> }): ServiceName[] {
  return serviceNames.filter((name) => services[name]?.verbs.includes('recipients') === true)
}

function inTest ({ provider, configuration }: Serving, sandbox: boolean): Serving {
  return { provider, configuration: sandbox ? { ...configuration, sandbox } : configuration }
}

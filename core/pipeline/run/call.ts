import { type DocumentHandle, type Keyring, type Log, logWith, observe, secondsSince } from '@dispatch/common'
import { DispatchError, isDeliveryService, within } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { FileStore } from '@dispatch/files'
import { type Breakers, type CallContext, callDispatch, type CallResources, capabilitiesOf, type Configured, type FailedCall, failedCall,
  type InstalledProvider, type Line, type Manifest, type Outcome, runAs, webhookUrl } from '@dispatch/host'
import { needsProvider, type ServiceName, services, type StepContent } from '@dispatch/services'
import { type DocumentSpool, type EndedCall, type Exchange, type Network } from '@dispatch/vendor-io'
import type { Readable } from 'node:stream'
import type { Connections } from '../../configuration/connections.ts'
import { configurationUsed } from '../../configuration/sandbox.ts'
import { configurationFor } from '../../configuration/serving.ts'
import { openConfiguration, scopeOf } from '../../configuration/vault.ts'
import type { Configurations, StoredConfiguration } from '../../store/configuration/configurations.ts'
import { adapterState, createProviderState, keepForRun } from '../../store/vendor/provider-state.ts'
import { findStored } from '../enclosures.ts'
import type { FileShelf } from '../file-shelf.ts'
import type { CallableStep } from '../step.ts'
import type { Leases } from './leases.ts'
import type { Run } from './run.ts'

/** Milliseconds after which a run counts as waiting for its vendor. */
const slowAfter = 100

/**
 * Prepares the call of a step's provider, with the credentials as they are now. What it throws happens before anything is sent. The
 * prepared call never throws: its failures are outcomes.
 */
export async function prepareCall (
  dependencies: StepCallDependencies,
  run: Run,
  step: CallableStep,
  made: StepContent
): Promise<() => Promise<Outcome>> {
  const { service, fields, by: { provider } } = step
  if (!needsProvider(service)) throw new TypeError(`The service "${service}" has no provider.`)
  const { secret } = made
  const context = { ...await contextOf(dependencies, run, step), ...(secret === undefined ? {} : { secrets: [secret] }) }
  const request = services[service].request(fields, made, capabilitiesOf(provider, service)?.capabilities)
  let exchanges: readonly Exchange[] = []
  const noted = (all: readonly Exchange[]): void => {
    exchanges = all
  }
  const noting = dependencies.exchanges === undefined ? context : { ...context, noted }
  const line: Line = { ...configuredOf(run, step), service, sandbox: step.by.sandbox }
  const gate = dependencies.breakers.admit(line)
  if (!gate.pass) {
    throw new DispatchError('provider_unavailable',
      `The provider "${provider.code}" has failed several times in a row: it is called again in ${gate.retryAfter} seconds.`, {
      retryAfter: gate.retryAfter
    })
  }
  return async () => {
    if (!await dependencies.leases.refresh(run.runId)) {
      return failedCall('provider_unavailable', 'Nothing was sent: this process has lost the dispatch.', { ours: true })
    }
    const onFault = (): void => {
      dependencies.breakers.fault(line)
    }
    const outcome = await within('attempt', { service, provider: provider.code }, async () => {
      const begun = performance.now()
      const slow = run.keptWaiting === undefined ? undefined : setTimeout(run.keptWaiting, slowAfter)
      const ended = await runAs({ provider: provider.code, onFault }, () => callDispatch(provider, service, request, noting))
      clearTimeout(slow)
      observe('attempt', { service, provider: provider.code, outcome: observed(ended), seconds: secondsSince(begun) })
      return ended
    })
    note(dependencies, run, { service, provider: provider.code, outcome: outcome.outcome, exchanges })
    dependencies.breakers.record(line, outcome)
    if (outcome.outcome !== 'accepted') logRefusal(dependencies, run, provider.code, outcome)
    return outcome
  }
}

/** What an attempt counts as. A recipient whom the vendor cannot reach for now is no fault of the vendor's. */
function observed (ended: Outcome): string {
  return 'error' in ended && ended.error.word === 'recipient_unavailable' ? 'recipient_unavailable' : ended.outcome
}

/** Whose configuration a step is called with. */
function configuredOf ({ companyId, actor }: Run, { by: { provider, configuredBy } }: CallableStep): Configured {
  return { companyId, userId: configuredBy === 'user' ? actor.userId : null, provider: provider.code }
}

/** Keeps what was asked of the vendor for whoever looks into the dispatch. A call that sent nothing has nothing to show. */
function note (
  { exchanges: log, now }: { exchanges?: CallLog, now: () => Date },
  { companyId, dispatchId }: Run,
  call: Pick<EndedCall, 'service' | 'provider' | 'outcome' | 'exchanges'>
): void {
  if (call.exchanges.length > 0) log?.add({ companyId, dispatchId, ...call, at: now() })
}

/** Logs one line without the vendor's message, which may name a recipient. */
function logRefusal (
  { log }: { log: Log },
  { companyId, dispatchId }: Run,
  provider: string,
  { outcome, error: { word, code } }: FailedCall
): void {
  log.warn({ companyId, dispatchId, provider, outcome, error: word, ...(code === undefined ? {} : { code }) },
    outcome === 'uncertain' ? 'whether the provider accepted a request is not known' : 'the provider did not accept a request')
}

/** The context of every call about a step. Throws `provider_unavailable` when the configuration has been removed. */
export async function contextOf (dependencies: CallDependencies, run: Run, step: CallableStep): Promise<CallContext> {
  const { companyId, dispatchId } = run
  const { stepId, requestSettings, rest, by: { provider, sandbox }, state: { status, generation } } = step
  return callContextOf(dependencies, {
    companyId,
    dispatchId,
    provider,
    service: step.service,
    sandbox,
    requestSettings,
    reference: rest?.of ?? stepId,
    idempotencyKey: generation === 0 ? stepId : `${stepId}:${generation}`,
    ...(status === 'uncertain' ? { repeated: true as const } : {}),
    ...(rest === undefined ? {} : { rest: { answer: rest.answer, recipients: rest.recipients } })
  }, await configurationOf(dependencies, run, step), await callResourcesOf(dependencies, run, step))
}

async function configurationOf (
  { configurations }: { configurations: Configurations },
  { companyId, actor }: Run,
  { by: { code, configuredBy } }: CallableStep
): Promise<StoredConfiguration> {
  const configuration = configurationUsed(await configurations.latest(companyId), {
    providerCode: code,
    configuredBy,
    userId: actor.userId
  })
  if (configuration === undefined) {
    throw new DispatchError('provider_unavailable', `The provider "${code}" was not called: its configuration has been removed.`)
  }
  return configuration
}

/** What the context of any call needs. */
type ContextDependencies = {
  connections: Pick<Connections, 'signIn'>
  keyring: Keyring
  database: Database
  network: Network
  publicUrl: string
  log: Log
  now: () => Date
}

/** What a call without a document needs. */
export type BareCallDependencies = ContextDependencies & { configurations: Configurations, spool: DocumentSpool, leases: Leases }

/** What the call of a step needs. */
export type CallDependencies = BareCallDependencies & { files: FileStore, diskRoot?: string, shelves: readonly FileShelf[] }

/** What the call of a step needs, with the circuit breaker of its vendor and the log of exchanges. */
export type StepCallDependencies = CallDependencies & { breakers: Breakers, exchanges?: CallLog }

/** Where calls of providers are noted. */
type CallLog = { add: (call: EndedCall) => void }

type CallSubject =
  & { companyId: number, dispatchId: string, provider: InstalledProvider, service: ServiceName }
  & Pick<CallContext, 'sandbox' | 'reference' | 'idempotencyKey' | 'repeated' | 'requestSettings' | 'rest'>

/** The context of a call: the provider's settings as they are now, and the resources that it may use. */
export function callContextOf (
  { connections, keyring, database, network, publicUrl, log, now }: ContextDependencies,
  { companyId, dispatchId, provider, service, ...subject }: CallSubject,
  configuration: StoredConfiguration,
  resources: Omit<CallResources, 'network' | 'account' | 'connection'>
): CallContext {
  const fitting = configurationFor(keyring, companyId, provider, configuration)
  const settings = openConfiguration(keyring, companyId, fitting)
  const connection = connections.signIn({ companyId, provider, configuration: fitting, settings })
  const address = webhookUrlOf(publicUrl, provider.manifest, service, configuration.account)
  return {
    ...subject,
    settings,
    ...(address !== undefined && { webhookUrl: address }),
    log: logWith(log, { companyId, dispatchId, provider: provider.code }),
    state: adapterState(database, { companyId, userId: configuration.userId }, provider),
    now,
    resources: {
      ...resources,
      network,
      account: `${companyId}|${provider.code}|${scopeOf(configuration)}`,
      ...(connection !== undefined && { connection })
    }
  }
}

/** Vendors reach a public address over https alone. */
function webhookUrlOf (publicUrl: string, { code, webhooks }: Manifest, service: ServiceName, account: string): string | undefined {
  if (!publicUrl.startsWith('https://') || !isDeliveryService(service) || webhooks?.[service] === undefined) return undefined
  return webhookUrl(publicUrl, { code, service, account })
}

/** The resources beside the network that the provider of a step may use. */
async function callResourcesOf (
  dependencies: {
    database: Database
    files: FileStore
    spool: DocumentSpool
    diskRoot?: string
    leases: Leases
    shelves: readonly FileShelf[]
  },
  { companyId, dispatchId, runId }: Run,
  { by: { provider }, service, stepId, state: { generation } }: CallableStep
): Promise<Omit<CallResources, 'network' | 'account' | 'connection'>> {
  const { spool, database, diskRoot, leases } = dependencies
  // No provider's code contains a colon: the host's keys cannot collide with the provider's own.
  const providerCode = `${provider.code}:host`
  // After a definite refusal the next call begins without a checkpoint.
  const key = generation === 0 ? `checkpoint:${stepId}` : `checkpoint:${stepId}:${generation}`
  const id = provider.manifest.services[service]?.checkpoint === true
    ? await createProviderState(database, { companyId, providerCode }).get(key)
    : undefined
  return {
    holds: () => leases.isHeld(runId),
    documents: { read: (document) => readDocument(dependencies, companyId, document), keep: spool.keep },
    checkpoint: {
      ...(typeof id === 'string' && { id }),
      save: (value) => keepForRun(database, { companyId, dispatchId, runId, providerCode, key, value })
    },
    ...(diskRoot !== undefined && { disk: { root: diskRoot, folder: String(companyId) } })
  }
}

/**
 * Checks the stored documents of a step before the call: a call that found the damage midway would leave its request half sent. `fresh`:
 * ids of documents that have just been made. Throws `document_damaged`.
 */
export async function checkDocuments (
  { database, files, shelves }: { database: Database, files: FileStore, shelves: readonly FileShelf[] },
  { companyId }: Pick<Run, 'companyId'>,
  made: StepContent,
  fresh: ReadonlySet<string>
): Promise<void> {
  const handles = [
    ...'document' in made ? [made.document] : [],
    ...'attachments' in made ? made.attachments ?? [] : [],
    ...('inline' in made ? made.inline ?? [] : [])
  ]
  for (const { id } of handles.filter((document) => !fresh.has(document.id))) {
    const stored = await findStored({ database, shelves }, companyId, id)
    if (stored !== undefined) await files.check(stored)
  }
}

/** The bytes of a stored document, or of one that a provider has just handed out. */
export async function readDocument (
  { spool, files, database, shelves }: { database: Database, files: FileStore, spool: DocumentSpool, shelves: readonly FileShelf[] },
  companyId: number,
  document: DocumentHandle
): Promise<Readable> {
  const stored = await findStored({ database, shelves }, companyId, document.id)
  return stored === undefined ? await spool.read(document) : await files.stream(stored)
}

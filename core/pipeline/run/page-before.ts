import type { DocumentHandle, Keyring, Log, Problem } from '@dispatch/common'
import { providerRequestOf, refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { AddressPage, EnvelopeWindow, TemplateWorkers } from '@dispatch/documents'
import type { FileStore } from '@dispatch/files'
import { capabilitiesOf, isMeant } from '@dispatch/host'
import { givenDocument, largestJoined, type PageBefore, services, type StepContent } from '@dispatch/services'
import type { DocumentSpool } from '@dispatch/vendor-io'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { configurationUsed } from '../../configuration/sandbox.ts'
import { configurationFor } from '../../configuration/serving.ts'
import { openConfiguration } from '../../configuration/vault.ts'
import type { Configurations } from '../../store/configuration/configurations.ts'
import { findEnclosed, findStored } from '../enclosures.ts'
import type { FileShelf } from '../file-shelf.ts'
import { type CallableStep, isCallable, type Step } from '../step.ts'
import type { Run } from './run.ts'

/** The page that is put before the document of a step, where its provider declares one and the request has it. */
function pageBefore ({ service, fields, requestSettings, by }: Step): PageBefore | undefined {
  const capabilities = capabilitiesOf(by?.provider, service)?.capabilities
  const page = capabilities && services[service].before?.(fields, capabilities)
  const requested = { ...providerRequestOf(service, fields, { data: {}, metadata: {} }, capabilities), settings: requestSettings }
  return page !== undefined && isMeant(page, requested) ? page : undefined
}

/** How many pages come before the document of a step. */
export function pagesBefore (step: Step): number {
  const page = pageBefore(step)
  return page === undefined ? 0 : page.blankBack ? 2 : 1
}

/** Why a document of so many bytes takes no page, where its step needs one. */
export function checkPaged (step: Step, { size }: Pick<DocumentHandle, 'size'>): Problem[] {
  return size <= largestJoined || pageBefore(step) === undefined ? [] : [{
    path: '/template',
    code: 'too_large',
    message: `A page with the address can be put before a PDF of at most ${largestJoined} bytes, and this one has ${size}.`
  }]
}

/** What a provider gets, and what ends the document that was made for this call alone, which never throws. */
type Handed = { content: StepContent, drop: () => Promise<void> }

/** Reads a document of a step. */
type Read = (document: DocumentHandle) => Promise<Readable>

/**
 * The content of a step with the page before its document, where there is one. The document itself stays what it is: a chain hands it on,
 * and its links open it. A repeated call gets the same bytes. Throws `validation_failed` where the document takes no page.
 */
export async function withPageBefore (
  dependencies: { configurations: Configurations, spool: DocumentSpool, templateWorkers: TemplateWorkers, keyring: Keyring, log: Log },
  run: Run,
  step: Step,
  { made, read }: { made: StepContent, read: Read }
): Promise<Handed> {
  const asIs = { content: made, drop: () => Promise.resolve() }
  if (!isCallable(step) || !('signatures' in made)) return asIs
  const page = await addressPage(dependencies, run, step)
  if (page === undefined) return asIs
  const { spool, log } = dependencies
  const { filename, contentType } = made.document
  const bytes = await addressed(dependencies, run, step, page, async () => buffer(await read(made.document)))
  const document = await spool.keep(Readable.from([bytes]), { filename, contentType })
  return {
    content: { ...made, document },
    drop: () =>
      spool.drop(document).catch((error: unknown) => {
        log.warn({ err: error, companyId: run.companyId, dispatchId: run.dispatchId }, 'a document with its page was not removed')
      })
  }
}

/** Tries the page of a step, and keeps nothing of it. `whole`: before the document that the request gives. Throws `validation_failed`. */
export async function tryPageBefore (
  dependencies: {
    database: Database
    configurations: Configurations
    files: FileStore
    templateWorkers: TemplateWorkers
    shelves: readonly FileShelf[]
    keyring: Keyring
  },
  run: Run,
  step: Step,
  whole: boolean
): Promise<void> {
  const page = isCallable(step) ? await addressPage(dependencies, run, step) : undefined
  if (page === undefined) return
  const given = (await findEnclosed(dependencies, run.companyId, step)).find(({ field }) => field === givenDocument)?.document
  const problems = given === undefined ? [] : checkPaged(step, given)
  if (problems.length > 0) throw refusal('validation_failed', problems)
  const stored = given && whole ? await findStored(dependencies, run.companyId, given.id) : undefined
  await addressed(dependencies, run, step, page, stored && (async () => buffer(await dependencies.files.stream(stored))))
}

async function addressed (
  { templateWorkers }: { templateWorkers: TemplateWorkers },
  { companyId }: Run,
  { service }: Step,
  page: AddressPage,
  read?: () => Promise<Uint8Array>
): Promise<Uint8Array> {
  const made = await templateWorkers.address(companyId, page, read)
  if (made.ok) return made.bytes
  throw refusal('validation_failed', [{ path: made.of === 'address' ? `/${service}/recipient` : '/template', ...made.problem }])
}

async function addressPage (
  dependencies: { configurations: Configurations, keyring: Keyring },
  run: Run,
  step: CallableStep
): Promise<AddressPage | undefined> {
  const page = pageBefore(step)
  if (page === undefined) return undefined
  const { service, fields, by: { provider } } = step
  const { lines, blankBack } = page
  const paper = services[service].paper?.of(fields, capabilitiesOf(provider, service)) ?? 'A4'
  return { lines, blankBack, paper, window: await windowOf(dependencies, run, step, page) }
}

/** The window of a step's envelope. Where the configuration has gone, the call that follows is refused for it. */
async function windowOf (
  { configurations, keyring }: { configurations: Configurations, keyring: Keyring },
  { companyId, actor }: Run,
  { by: { code, provider, configuredBy } }: CallableStep,
  { window, windows }: PageBefore
): Promise<EnvelopeWindow> {
  if (windows === undefined) return window
  const requested = { providerCode: code, configuredBy, userId: actor.userId }
  const configuration = configurationUsed(await configurations.latest(companyId), requested)
  if (configuration === undefined) return window
  const value = openConfiguration(keyring, companyId, configurationFor(keyring, companyId, provider, configuration))[windows.setting]
  return (typeof value === 'string' ? windows.places[value] : undefined) ?? window
}

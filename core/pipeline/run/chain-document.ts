import type { DocumentHandle } from '@dispatch/common'
import { DispatchError, hasOwnDocument, parseDeliveryEvent } from '@dispatch/contract'
import type { FileStore } from '@dispatch/files'
import { callDocument, makesDocument } from '@dispatch/host'
import type { DocumentSpool } from '@dispatch/vendor-io'
import type { NewDocument } from '../../store/calls/document-row.ts'
import type { Configurations } from '../../store/configuration/configurations.ts'
import { findDocument } from '../../store/dispatch/dispatch-views.ts'
import { replaceDocument } from '../../store/dispatch/steps.ts'
import { documentExpiry } from '../document-expiry.ts'
import { type CallableStep, isCallable, type Step } from '../step.ts'
import { type StoredDocument, storedDocument, storedDocumentOfNew } from '../stored-document.ts'
import { type CallDependencies, contextOf } from './call.ts'
import { type ChainDocument, placesIn, storageKeyOf } from './content.ts'
import { advance, type Run } from './run.ts'

/** What handing on the document of a chain needs. */
export type HandOnDependencies = CallDependencies & { newId: () => string }

/** Marks a document that the provider made, in what is stored of the step. */
const vendorDocumentMark = { theirs: true }

/**
 * The document of the first step, which the later ones take over: ours, or the provider's own, which is fetched once. Throws
 * `provider_unavailable` when it cannot be fetched.
 */
export async function handOn (dependencies: HandOnDependencies, run: Run): Promise<ChainDocument | undefined> {
  const [source] = run.steps
  const { document, made } = source?.content ?? {}
  if (source === undefined || document === undefined) return undefined
  const { response } = source.state
  if (!hasVendorDocument(source) || made?.['theirs'] === true || response === null) return { document, signatures: placesIn(made) }
  const fetched = await storeVendorDocument(dependencies, run, { of: source, for: source.stepId, remoteId: response.id })
  advance(run, { ...source, content: { document: fetched, made: vendorDocumentMark } })
  return { document: fetched, signatures: [] }
}

/** The document that a step was called with before, for a repeated call. */
export async function handOnAgain (dependencies: HandOnDependencies, run: Run, step: Step): Promise<ChainDocument | undefined> {
  if (step.deferredOn === undefined) return handOn(dependencies, run)
  const given = givenDocument(step)
  if (given !== undefined || !hasOwnDocument(step.deferredOn)) return given ?? ownDocument(dependencies, run)
  throw new DispatchError('provider_unavailable', `The document that "${step.service}" was called with is no longer there.`)
}

/** The document that a deferred step takes over: on `esign.completed` the signed one, fetched once; else that of the dispatch. */
export async function handOnAfterEvent (dependencies: HandOnDependencies, run: Run, step: Step): Promise<ChainDocument> {
  const given = givenDocument(step)
  if (given !== undefined) return given
  if (step.deferredOn === undefined || !hasOwnDocument(step.deferredOn)) return ownDocument(dependencies, run)
  const { service } = parseDeliveryEvent(step.deferredOn)
  const signed = run.steps.find((one) => one.service === service)
  if (signed === undefined || !isCallable(signed) || signed.state.response === null) {
    throw new DispatchError('provider_unavailable', 'The dispatch has no accepted step that the event could be about.')
  }
  const { id: remoteId } = signed.state.response
  return { document: await storeVendorDocument(dependencies, run, { of: signed, for: step.stepId, remoteId }), signatures: [] }
}

/** The document that a deferred step was given before. */
function givenDocument ({ content: { document } }: Step): ChainDocument | undefined {
  return document === undefined ? undefined : { document, signatures: [] }
}

/** The document of a dispatch whose path has ended. Throws `document_expired` when it is no longer kept. */
export async function ownDocument (dependencies: HandOnDependencies, run: Run): Promise<ChainDocument> {
  const own = await handOn(dependencies, run)
  if (own === undefined || own.document.expiresAt <= await dependencies.database.time()) {
    throw new DispatchError('document_expired', 'The document of the dispatch is no longer kept.', { dispatchId: run.dispatchId })
  }
  return own
}

/** Whether the provider makes the document of the step itself; it is fetched after the acceptance. */
function hasVendorDocument (step: Step): step is CallableStep {
  return isCallable(step) && makesDocument(step.by.provider.manifest.services[step.service])
}

/**
 * Fetches the document of the step `of` from its provider, and stores it as the document of the step `for`. Throws `provider_unavailable`
 * when it cannot be fetched now.
 */
async function storeVendorDocument (
  dependencies: HandOnDependencies,
  run: Run,
  { of, for: stepId, remoteId }: { of: CallableStep, for: string, remoteId: string }
): Promise<StoredDocument> {
  const { companyId, dispatchId } = run
  const { provider } = of.by
  if (provider.verbs[of.service]?.document === undefined) {
    throw new DispatchError('provider_unavailable', `The provider "${provider.code}" hands out no documents of "${of.service}".`)
  }
  const answer = await callDocument(provider, of.service, { id: remoteId }, await contextOf(dependencies, run, of))
  if (!answer.ok) throw new DispatchError('provider_unavailable', `The document could not be fetched: ${answer.why}`)
  // A provider may hand out the same document that it was given.
  const known = await findDocument(dependencies.database, companyId, answer.value.id)
  const kept = known === undefined ? await store(dependencies, run, answer.value) : { document: storedDocument(known) }
  await replaceDocument(dependencies.database, { companyId, dispatchId, stepId }, {
    documentId: kept.document.id,
    ...('fresh' in kept ? { fresh: kept.fresh } : {}),
    ...(stepId === of.stepId ? { made: vendorDocumentMark } : {})
  })
  return kept.document
}

async function store (
  { configurations, spool, files, newId, now }: {
    configurations: Configurations
    files: FileStore
    spool: DocumentSpool
    now: () => Date
    newId: () => string
  },
  { companyId, steps }: Run,
  handle: DocumentHandle
): Promise<{ document: StoredDocument, fresh: NewDocument }> {
  const time = now()
  const documentId = newId()
  const storageKey = storageKeyOf(companyId, time, documentId)
  const { size, sha256 } = await files.receive(storageKey, await spool.read(handle))
  await spool.drop(handle)
  const fresh = {
    documentId,
    filename: handle.filename,
    contentType: handle.contentType,
    size,
    sha256,
    storageKey,
    expiresAt: await documentExpiry({ configurations }, companyId, steps.map(({ service }) => service), time)
  }
  return { document: storedDocumentOfNew(fresh), fresh }
}

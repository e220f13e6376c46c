import type { DocumentHandle } from '../../contract/common.ts'
import { DispatchError } from '../../contract/errors.ts'
import { callDocument } from '../../host/call/document.ts'
import { findDocument } from '../../store/dispatch/dispatch-views.ts'
import type { NewDocument } from '../../store/dispatch/documents.ts'
import { replaceDocument } from '../../store/dispatch/steps.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import { expiryOf, storageKeyOf } from './content.ts'
import { contextOf } from './dispatch.ts'
import { type ProviderStep, type Run, type RunStep, storedDocumentOfNew } from './run.ts'
import { type StoredDocument, storedDocument } from './stored-document.ts'

/** How a step's document is marked that its provider made. */
export const vendorDocumentMark = { theirs: true }

/** Whether what a step is about is the provider's own document, which is fetched once it is accepted. */
export function hasVendorDocument (step: RunStep): step is ProviderStep {
  const { service, by } = step
  const capabilities = by?.provider.manifest.services[service]?.capabilities
  return capabilities !== undefined && 'document' in capabilities && capabilities.document === 'theirs'
}

/**
 * Fetches the provider's document of what `of` dispatched, and keeps it as the document of the step `for`. Throws
 * `provider_unavailable` when it cannot be had now.
 */
export async function storeVendorDocument (
  parts: PipelineDependencies,
  run: Run,
  { of, for: stepId, remoteId }: { of: ProviderStep, for: string, remoteId: string }
): Promise<StoredDocument> {
  const { companyId, dispatchId } = run
  const { provider } = of.by
  if (provider.verbs[of.service]?.document === undefined) {
    throw new DispatchError('provider_unavailable', `The provider "${provider.code}" hands out no documents of "${of.service}".`)
  }
  const answer = await callDocument(provider, of.service, { id: remoteId }, await contextOf(parts, run, of))
  if (!answer.ok) throw new DispatchError('provider_unavailable', `The document could not be fetched: ${answer.why}`)
  // A provider may hand out the very document that it was given.
  const known = await findDocument(parts.database, companyId, answer.value.id)
  const kept = known === undefined ? await store(parts, run, answer.value) : { document: storedDocument(known) }
  await replaceDocument(parts.database, { companyId, dispatchId, stepId }, {
    documentId: kept.document.id,
    ...('fresh' in kept ? { fresh: kept.fresh } : {}),
    ...(stepId === of.stepId ? { made: vendorDocumentMark } : {})
  })
  return kept.document
}

async function store (
  { spool, files, newId, now }: PipelineDependencies,
  { companyId }: Run,
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
    expiresAt: expiryOf(time)
  }
  return { document: storedDocumentOfNew(fresh), fresh }
}

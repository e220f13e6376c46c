import type { Readable } from 'node:stream'
import type { DocumentHandle } from '../../contract/common.ts'
import type { CallResources } from '../../host/call/call-resources.ts'
import type { StepContent } from '../../services/content.ts'
import { findDocument } from '../../store/dispatch/dispatch-views.ts'
import { createProviderState, keepForRun } from '../../store/vendor/provider-state.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import type { ProviderStep, Run } from './run.ts'
import { storedFile } from './stored-document.ts'

/** What the provider of a step may reach beside the network. */
export async function callResourcesOf (
  parts: PipelineDependencies,
  { companyId, dispatchId, runId }: Run,
  { by: { provider }, service, stepId, generation }: ProviderStep
): Promise<Omit<CallResources, 'network' | 'account'>> {
  const { spool, database, diskRoot, leases, now } = parts
  // Under a name that no provider's code can have: the provider's own keys are elsewhere.
  const providerCode = `${provider.code}:host`
  // A definite refusal ends what was prepared: what comes after it begins anew.
  const key = generation === 0 ? `checkpoint:${stepId}` : `checkpoint:${stepId}:${generation}`
  const id = provider.manifest.services[service]?.checkpoint === true
    ? await createProviderState(database, companyId, providerCode, now).get(key)
    : undefined
  return {
    holds: () => leases.isHeld(runId),
    documents: { read: (document) => readDocument(parts, companyId, document), keep: spool.keep },
    checkpoint: {
      ...(typeof id === 'string' && { id }),
      save: (value) => keepForRun(database, { companyId, dispatchId, runId, providerCode, key, value }, now())
    },
    ...(diskRoot !== undefined && { disk: { root: diskRoot, folder: String(companyId) } })
  }
}

/**
 * Makes sure that what a step is about is what was stored; a call that found out on its way would leave its request unfinished.
 * `fresh`: what has just been made. Throws `document_damaged`.
 */
export async function checkDocuments (
  { database, files }: Pick<PipelineDependencies, 'database' | 'files'>,
  { companyId }: Pick<Run, 'companyId'>,
  made: StepContent,
  fresh: ReadonlySet<string>
): Promise<void> {
  const handles = [
    ...'document' in made ? [made.document] : [],
    ...'attachments' in made ? made.attachments : [],
    ...('inline' in made ? made.inline ?? [] : [])
  ]
  for (const { id } of handles.filter((document) => !fresh.has(document.id))) {
    const stored = await findDocument(database, companyId, id)
    if (stored !== undefined) await files.check(storedFile(stored))
  }
}

/** The bytes of a document that is still on its way, or of a stored one. */
async function readDocument (
  { spool, files, database }: PipelineDependencies,
  companyId: number,
  document: DocumentHandle
): Promise<Readable> {
  const stored = await findDocument(database, companyId, document.id)
  return stored === undefined ? await spool.read(document) : await files.stream(storedFile(stored))
}

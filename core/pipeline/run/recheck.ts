import type { Actor } from '@dispatch/accounts'
import type { JsonObject, Log } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import type { TemplateWorkers } from '@dispatch/documents'
import type { FileStore } from '@dispatch/files'
import { type Enclosed, givenDocument, type ServiceName } from '@dispatch/services'
import { configurationUsed } from '../../configuration/sandbox.ts'
import { servingIn } from '../../configuration/serving.ts'
import { redactorsOf } from '../../configuration/vault.ts'
import type { DispatchRecord, StepRecord } from '../../store/dispatch/dispatch-views.ts'
import { findEnclosed, isWhole, withPages } from '../enclosures.ts'
import type { FileShelf } from '../file-shelf.ts'
import { checkAgain } from '../plan/check.ts'
import { recordedData, recordedTemplate } from '../plan/recorded-template.ts'
import { type RecipientBook, screenAll } from '../recipients.ts'
import { documentHandleOf, storedDocument } from '../stored-document.ts'
import type { RehydrateDependencies } from './run.ts'

/** What checking a recorded dispatch again takes. */
export type RecheckDependencies =
  & RehydrateDependencies
  & {
    database: Database
    files: FileStore
    recipients: readonly RecipientBook[]
    shelves: readonly FileShelf[]
    templateWorkers: TemplateWorkers
    log: Log
    now: () => Date
  }

/**
 * Checks fields of a recorded step by the rules of its service and of its provider, as they are now. `actor`: who gives other ones, and may
 * name only documents that they may see. `made`: the field that its template made, or may have made.
 */
export async function recheck (
  dependencies: RecheckDependencies,
  record: DispatchRecord,
  { step, fields, actor, link, made }: { step: StepRecord, fields: JsonObject, actor?: Actor, link?: string, made?: string | undefined }
): Promise<void> {
  const { host, configurations, keyring, now } = dependencies
  const service = step.service as ServiceName
  const { provider_code: providerCode, configured_by: configuredBy } = step
  const provider = providerCode === null ? undefined : host.find(providerCode)
  const configuration = providerCode === null || configuredBy === null
    ? undefined
    : configurationUsed(await configurations.latest(record.company_id), { providerCode, configuredBy, userId: record.user_id })
  const choice = provider === undefined || configuration === undefined
    ? {}
    : {
      choice: {
        chosen: true as const,
        chosenBy: step.chosen_by ?? 'company',
        ...servingIn(keyring, record.company_id, provider, configuration)
      }
    }
  const data = recordedData(record, step) ?? {}
  const template = await recordedTemplate(dependencies, record, step)
  const content = template === undefined ? {} : { template: { template, data, path: '/template/data' } }
  const whole = isWhole(fields, step.document, step.made)
  const enclosed = await withPages(dependencies, record.company_id,
    await findEnclosed(dependencies, record.company_id, { service, fields, whole }, actor))
  const given = await givenTo(dependencies, record, { document: whole ? step.document : undefined, enclosed })
  await checkAgain({
    service,
    fields,
    settings: step.request_settings,
    enclosed,
    at: (field) => `/${service}/${field}`,
    ...content,
    ...choice,
    ...(made === undefined ? {} : { made })
  }, {
    data,
    screened: await screenAll(dependencies.recipients, record.company_id, [{ service, fields, ...content }], { latest: true }),
    metadata: record.metadata,
    now,
    redactorFor: redactorsOf(keyring, record.company_id),
    otherServices: record.services.filter((name) => name !== service),
    ...(given === undefined ? {} : { given }),
    ...(link === undefined ? {} : { link })
  })
}

/**
 * The document that the request gave, of a path that begins with one: as it is stored, or, before that, as the request names it.
 * `document`: that of the step itself, where it is made as a whole.
 */
async function givenTo (
  dependencies: RecheckDependencies,
  { company_id: companyId, steps: [first] }: DispatchRecord,
  { document, enclosed }: { document: StepRecord['document'], enclosed: readonly Enclosed[] }
): Promise<Enclosed | undefined> {
  if (first?.fields[givenDocument] === undefined) return undefined
  const own = enclosed.find(({ field }) => field === givenDocument)
  if (own !== undefined) return own
  const stored = document ?? first.document
  const found = stored === undefined
    ? await findEnclosed(dependencies, companyId, { service: first.service as ServiceName, fields: first.fields })
    : [{ field: givenDocument, documentId: stored.document_id, document: documentHandleOf(storedDocument(stored)) }]
  const [given] = await withPages(dependencies, companyId, found.filter(({ field }) => field === givenDocument))
  return given
}

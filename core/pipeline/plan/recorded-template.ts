import type { Log } from '@dispatch/common'
import type { DispatchRecord, StepRecord } from '../../store/dispatch/dispatch-views.ts'
import type { StoredTemplate, Templates } from '../templates.ts'

/**
 * The template of a recorded step, in its version; undefined where the step has none. One that only a newer release can read is as one that
 * is gone.
 */
export async function recordedTemplate (
  { templates, log }: { templates: Templates, log: Log },
  record: DispatchRecord,
  step: StepRecord
): Promise<StoredTemplate | undefined> {
  const { company_id: companyId, dispatch_id: dispatchId } = record
  const { template_id: id, template_version: version, brand_version: brand } = step.position === 0 ? record : step
  if (id === null || version === null) return undefined
  try {
    return await templates.findVersion(companyId, id, version, brand)
  } catch (error) {
    log.warn({ err: error, companyId, dispatchId }, 'the template of a dispatch could not be read again')
    return undefined
  }
}

/** The data of a recorded step's template. */
export function recordedData (record: DispatchRecord, step: StepRecord): StepRecord['data'] {
  return step.position === 0 ? record.data : step.data
}

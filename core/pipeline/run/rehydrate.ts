import type { ServiceName } from '../../contract/service-names.ts'
import type { InstalledProvider } from '../../host/load/load.ts'
import { type DispatchRecord, findDispatch, type StepRecord } from '../../store/dispatch/dispatch-views.ts'
import type { StoredTemplate } from '../../store/templates/templates.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import { resumeRun, type Run } from './run.ts'

/** The run of a recorded dispatch, under a lease that was taken; undefined when what was asked for is kept no more. */
export async function rehydrateRun (
  parts: PipelineDependencies,
  companyId: number,
  dispatchId: string,
  runId: string
): Promise<Run | undefined> {
  const record = await findDispatch(parts.database, companyId, dispatchId)
  return record && rehydrateRecord(parts, record, runId)
}

/** The run of a record, as {@link rehydrateRun}. */
export async function rehydrateRecord (parts: PipelineDependencies, record: DispatchRecord, runId: string): Promise<Run | undefined> {
  return record.data === null ? undefined : rehydrateWhatIsKept(parts, record, runId)
}

/** The run with whatever is kept of it: enough to say what became of a step. */
export async function rehydrateWhatIsKept ({ host, templates }: PipelineDependencies, record: DispatchRecord, runId: string): Promise<Run> {
  const pinned = new Map<string, StoredTemplate>()
  for (const step of record.steps) {
    const { id, version } = templateOf(record, step)
    const template = id === null || version === null ? undefined : await templates.findVersion(record.company_id, id, version)
    if (template !== undefined) pinned.set(step.step_id, template)
  }
  const providerOf = ({ provider_code: code, service }: StepRecord): InstalledProvider | undefined => {
    const provider = code === null ? undefined : host.find(code)
    return provider?.verbs[service as ServiceName]?.dispatch === undefined ? undefined : provider
  }
  return resumeRun(record, { runId, providerOf, templateOf: (step) => pinned.get(step.step_id) })
}

/** That of a dispatch is its first step's. */
function templateOf (record: DispatchRecord, step: StepRecord): { id: number | null, version: number | null } {
  return step.position === 0
    ? { id: record.template_id, version: record.template_version }
    : { id: step.template_id, version: step.template_version }
}

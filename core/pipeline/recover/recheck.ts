import type { JsonObject } from '@dispatch/common'
import type { ServiceName } from '@dispatch/services'
import type { Actor } from '../../access/account.ts'
import { configurationUsed } from '../../configuration/sandbox.ts'
import { servingIn } from '../../configuration/serving.ts'
import { redactorsOf } from '../../configuration/vault.ts'
import type { DispatchRecord, StepRecord } from '../../store/dispatch/dispatch-views.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import { findEnclosed } from '../enclosures.ts'
import { checkAgain } from '../plan/check.ts'
import { recordedData, recordedTemplate } from '../plan/recorded-template.ts'
import { screenAll } from '../recipients.ts'

/**
 * Checks fields of a recorded step by the rules of its service and of its provider, as they are now. `actor`: who gives other ones, and may
 * name only documents that they may see. `made`: the field that its template made, or may have made.
 */
export async function recheck (
  dependencies: PipelineDependencies,
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
  await checkAgain({
    service,
    fields,
    settings: step.request_settings,
    enclosed: await findEnclosed(dependencies, record.company_id, { service, fields }, actor),
    at: (field) => `/${service}/${field}`,
    ...content,
    ...choice,
    ...(made === undefined ? {} : { made })
  }, {
    data,
    screened: await screenAll(dependencies.recipients, record.company_id, [{ service, fields, ...content }]),
    metadata: record.metadata,
    now,
    redactorFor: redactorsOf(keyring, record.company_id),
    otherServices: record.services.filter((name) => name !== service),
    ...(link === undefined ? {} : { link })
  })
}

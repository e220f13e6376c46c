import type { DocumentHandle, JsonObject } from '@dispatch/common'
import type { EnvelopeWindow } from '@dispatch/documents'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { refusal } from '../../contract/errors.ts'
import { capabilitiesOf } from '../../host/load/capabilities.ts'
import { isMeant } from '../../host/manifest/limits.ts'
import { providerRequestOf } from '../../requests/provider-request.ts'
import type { StepContent } from '../../services/content.ts'
import { services } from '../../services/index.ts'
import type { PageBefore } from '../../services/service.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import type { CallableStep, Step } from '../step.ts'
import type { Run } from './run.ts'

/** The page that is put before the document of a step, where its provider declares one and the request has it. */
function pageBefore ({ service, fields, requestSettings, by }: Step): PageBefore | undefined {
  const capabilities = capabilitiesOf(by?.provider, service)?.capabilities
  const page = capabilities && services[service].before?.(fields, capabilities)
  const asked = { ...providerRequestOf(service, fields, { data: {}, metadata: {} }, capabilities), settings: requestSettings }
  return page !== undefined && isMeant(page, asked) ? page : undefined
}

/** How many pages come before the document of a step. */
export function pagesBefore (step: Step): number {
  const page = pageBefore(step)
  return page === undefined ? 0 : page.blankBack ? 2 : 1
}

/** What a provider gets, and what ends the document that was made for this call alone. */
type Handed = { content: StepContent, drop: () => Promise<void> }

/**
 * The content of a step with the page before its document, where there is one. The document itself stays what it is: a chain hands it on,
 * and its links open it. A repeated call gets the same bytes. Throws `validation_failed` where the document takes no page.
 */
export async function withPageBefore (
  { templateWorkers, spool }: Pick<PipelineDependencies, 'templateWorkers' | 'spool'>,
  { companyId }: Run,
  step: CallableStep,
  { made, settings, read }: { made: StepContent, settings: JsonObject, read: (document: DocumentHandle) => Promise<Readable> }
): Promise<Handed> {
  const page = pageBefore(step)
  if (page === undefined || !('signatures' in made)) return { content: made, drop: () => Promise.resolve() }
  const { lines, blankBack } = page
  const { service, fields, by: { provider } } = step
  const paper = services[service].paper?.of(fields, capabilitiesOf(provider, service)) ?? 'A4'
  const job = { pdf: await buffer(await read(made.document)), page: { lines, blankBack, paper, window: windowOf(page, settings) } }
  const addressed = await templateWorkers.address(companyId, job)
  if (!addressed.ok) throw refusal('validation_failed', [{ path: '', ...addressed.problem }])
  const { filename, contentType } = made.document
  const document = await spool.keep(Readable.from([addressed.bytes]), { filename, contentType })
  return { content: { ...made, document }, drop: () => spool.drop(document) }
}

function windowOf ({ window, windows }: PageBefore, settings: JsonObject): EnvelopeWindow {
  const value = windows && settings[windows.setting]
  return (typeof value === 'string' ? windows?.places[value] : undefined) ?? window
}

import type { JsonObject } from '@dispatch/common'
import { type Api, type ApiAnswer, type DispatchRequestView, type DispatchView, withQuery } from '../session/api.ts'
import { consoleParts } from '../session/services.ts'
import type { Visit } from '../session/visit.ts'

/** A document that is to be taken back: its service, its template, its fields and data, and the dispatch that it was sent with. */
export type Credited = { service: string, templateId: number, dispatchId?: string, fields: JsonObject, data: JsonObject }

/** The document of a dispatch, if a template made it and it did not fail. */
function creditedIn (
  { dispatchId, template, status }: Pick<DispatchView, 'dispatchId' | 'template' | 'status'>,
  request: DispatchRequestView | undefined
): Credited | undefined {
  const [step] = request?.steps ?? []
  if (request === undefined || step === undefined || template === null || status === 'failed') return undefined
  return { service: step.service, templateId: template.id, dispatchId, fields: step.fields, data: request.data }
}

function creditOf ({ service, ...document }: Credited): { fields: JsonObject, data: JsonObject } | undefined {
  return consoleParts[service]?.takesBack?.(document)
}

/** Whether a credit note can be begun with what was dispatched. */
export function canBeCredited (dispatch: DispatchView, request: DispatchRequestView | undefined): boolean {
  const credited = creditedIn(dispatch, request)
  return credited !== undefined && creditOf(credited) !== undefined
}

/** Begins a draft of a credit note over a dispatch, and answers its id; undefined where there is none for it. Throws `ApiRefused`. */
export async function credit (visit: Visit, id: string): Promise<ApiAnswer<{ id: string }> | undefined> {
  const { api } = visit
  const path = `/api/v1/dispatches/${encodeURIComponent(id)}`
  const [dispatch, requested] = await Promise.all([
    api.read<DispatchView>(path),
    api.send<DispatchRequestView>('GET', `${path}/request`)
  ])
  if (!requested.ok) return requested
  const credited = creditedIn(dispatch, requested.body)
  return credited === undefined ? undefined : beginCredit(visit, credited)
}

/** Begins a draft that takes back a document, and answers its id; undefined where there is none for it. Throws `ApiRefused`. */
export async function beginCredit (
  { api, mode }: Pick<Visit, 'api' | 'mode'>,
  credited: Credited
): Promise<ApiAnswer<{ id: string }> | undefined> {
  const begun = creditOf(credited)
  if (begun === undefined) return undefined
  const { fields, data } = begun
  const template = { id: await templateFor(api, credited.templateId, fields), data }
  return api.send<{ id: string }>('POST', '/api/v1/drafts', {
    service: credited.service,
    request: { template, [credited.service]: fields },
    sandbox: mode === 'test'
  })
}

/** The template of the document, where it makes its credit note too; otherwise the first that does. */
async function templateFor (api: Api, own: number, { documentType }: JsonObject): Promise<number> {
  const requested = typeof documentType === 'string' ? documentType : ''
  const { data } = await api.read<{ data: { id: number }[] }>(
    withQuery('/api/v1/templates', { documentType: requested, status: 'published', limit: '100' })
  )
  return data.find(({ id }) => id === own)?.id ?? data[0]?.id ?? own
}

import type { JsonObject } from '@dispatch/common'
import type { ApiAnswer, DispatchRequestView, DispatchView } from '../session/api.ts'
import { givenServices } from '../session/services.ts'
import type { Visit } from '../session/visit.ts'

/** Whether the form under "Send" has a place for all that a dispatch was asked: it begins with a template or a given document. */
export function canBeDuplicated ({ template, services: [first = ''] }: DispatchView): boolean {
  return template !== null || givenServices.includes(first)
}

/** Begins a draft with what a dispatch was asked to do, and answers its id. Throws `ApiRefused`. */
export async function duplicate ({ api, mode }: Visit, id: string): Promise<ApiAnswer<{ id: string }>> {
  const path = `/api/v1/dispatches/${encodeURIComponent(id)}`
  const [{ steps, metadata, template }, requested] = await Promise.all([
    api.read<DispatchView>(path),
    api.send<DispatchRequestView>('GET', `${path}/request`)
  ])
  if (!requested.ok) return requested
  const done = requested.body.steps.filter((_, index) => steps[index]?.deferredState === undefined)
  const own = done.map(({ service, fields: { document: _document, ...fields } }) => [service, fields] as const)
  const document = done[0]?.fields['document']
  const request: JsonObject = {
    ...template !== null && { template: { id: template.id, data: requested.body.data } },
    ...document !== undefined && { document },
    ...Object.fromEntries(own.filter(([, fields]) => Object.keys(fields).length > 0)),
    ...Object.keys(metadata).length > 0 && { metadata }
  }
  return api.send<{ id: string }>('POST', '/api/v1/drafts', {
    service: done.map(({ service }) => service).join('/'),
    request,
    sandbox: mode === 'test'
  })
}

import type { BodyForm } from './body.ts'
import { headerNames, queryContent, readRequest, type WebhookRequest } from './event-request.ts'
import { placesOf, spelled, type Verifier } from './language.ts'
import { tokenOf } from './token.ts'

/** What an event that must wait keeps besides its content: what its verifiers read. */
export type KeptRequest = Omit<WebhookRequest, 'body' | 'headers'> & { headers: Record<string, string> }

/** The parts of a request that verifiers read: an event that must wait keeps only these. */
export function keptRequest (verifiers: readonly Verifier[], { headers, body: _, ...rest }: WebhookRequest): KeptRequest {
  const names = verifiers.flatMap((verify) => placesOf(spelled(verify))).flatMap((place) =>
    'header' in place ? headerNames(place.header) : []
  )
  return {
    ...rest,
    headers: Object.fromEntries(names.flatMap((name) => {
      const value = headers[name.toLowerCase()]
      return value === undefined ? [] : [[name.toLowerCase(), value]]
    }))
  }
}

/**
 * The content of an event, which its provider reads: the body; of a GET its query; of a token whose claims are the event that token,
 * wherever it stands.
 */
export async function contentOf (form: BodyForm | undefined, verifiers: readonly Verifier[], request: WebhookRequest): Promise<Uint8Array> {
  if (form === 'query') return Buffer.from(queryContent(request))
  if (form !== 'token') return request.body
  const [verify] = verifiers.map(spelled).flatMap((one) => one.kind === 'token' ? [one] : [])
  return Buffer.from(verify === undefined ? '' : await tokenOf(verify, readRequest(request, { form })) ?? '')
}

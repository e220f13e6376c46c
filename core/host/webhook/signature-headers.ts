import { standardHeaders } from './message-signature.ts'
import { bearerHeader, headerNames, type WebhookRequest } from './signature.ts'
import type { Verifier } from './webhook.ts'

/** The headers that verifiers read: an event that must wait keeps only these. */
export function signatureHeaders (verifiers: readonly Verifier[], { headers }: Pick<WebhookRequest, 'headers'>): Record<string, string> {
  return Object.fromEntries(verifiers.flatMap(headersOf).flatMap((name) => {
    const value = headers[name.toLowerCase()]
    return value === undefined ? [] : [[name.toLowerCase(), value]]
  }))
}

function headersOf (verify: Verifier): string[] {
  if (verify.kind === 'basic') return ['authorization']
  if (verify.kind === 'jws') return [verify.header]
  if (verify.kind === 'jwt') return [verify.header ?? bearerHeader]
  if (verify.kind === 'standard') return Object.values(standardHeaders(verify))
  if (verify.kind === 'stamped') return [verify.header]
  return [...headerNames(verify.header), ...(verify.timestamp === undefined ? [] : [verify.timestamp.header])]
}

import { type Accepted, type DocumentHandle, refused } from '@dispatch/core/provider'
import { answer, submit } from './api.ts'
import type { Call } from './settings.ts'

/** The words of an acknowledgement of a report. */
export const taken = { Pending: 'processing', Ok: 'available', Error: 'failed' } as const

/** Hands a report for the tax authority (Flux 10, the syntax FRR) to the platform, which sees by itself what is in it. */
export async function sendReport ({ document }: { document: DocumentHandle }, call: Call): Promise<Accepted> {
  const { filename: name, contentType, sha256 } = document
  if (contentType !== 'application/xml') {
    throw refused('no_report', 'A file for the platform is a report of e-reporting (Flux 10): XML. Send an e-invoice with "invoicing".')
  }
  return answer({ flowId: await submit(call, { flowSyntax: 'FRR', name, sha256 }, document) })
}

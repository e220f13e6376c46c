import { type DocumentHandle, shortened } from '@dispatch/core/provider'
import { type Call, Changed, checkDone, Envelope, envelopes, phoneWorkflow, withdraw } from './api.ts'
import { documentId, type Request, signersOf } from './signers.ts'

/** Makes a draft with the document and its signers. Nobody is told of it. Resolves to its id. */
export async function prepare (request: Request, call: Call): Promise<string> {
  const emailSubject = call.settings.emailSubject ?? shortened(request.document.filename, 100)
  const isCalled = call.settings.phoneAuthentication === true && request.esign.signers.some(({ phoneNumber }) => phoneNumber !== undefined)
  const signers = signersOf(request, { emailSubject, workflowId: isCalled ? await phoneWorkflow(call) : undefined })

  const [url, signedIn] = envelopes(call)
  const { envelopeId } = await call.http.post(url, { ...signedIn, json: draftOf(request, emailSubject, call) }, Envelope)
  call.onRefusal((http) => withdraw(envelopeId, call, http))
  const [place] = envelopes(call, envelopeId)
  const { document } = request
  checkDone(
    await call.http.put(`${place}/documents/${documentId}`, {
      ...signedIn,
      document,
      headers: { 'content-disposition': dispositionOf(document) }
    }, Changed)
  )
  checkDone(await call.http.post(`${place}/recipients`, { ...signedIn, json: { signers } }, Changed),
    ...signers.map((_, index) => `/signers/${index}`))
  return envelopeId
}

/** The key identifies Docusign's transaction for seven days. The reference stays with the envelope for its whole life. */
function draftOf ({ esign: { expiresInDays } }: Request, emailSubject: string, { idempotencyKey, reference }: Call): object {
  return {
    status: 'created',
    transactionId: idempotencyKey,
    emailSubject,
    notification: {
      useAccountDefaults: 'false',
      expirations: { expireEnabled: 'true', expireAfter: String(expiresInDays), expireWarn: '0' }
    },
    customFields: { textCustomFields: [{ name: 'dispatch_reference', value: reference, show: 'false', required: 'false' }] }
  }
}

/** Signers see the name; a header permits ASCII only. */
function dispositionOf ({ filename }: DocumentHandle): string {
  const plain = filename.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll(/[^\w .()-]/g, '_')
  return `file; filename="${plain}"; documentid=${documentId}; fileExtension="pdf"`
}

import { shortened, type Signing, signingOf, Type } from '@dispatch/core/provider'
import { ask, type Call, Created, pathOf, type Request, withdraw } from './api.ts'

/** The least size of a signature field, in points. */
const [leastWidth, leastHeight] = [85, 37]

const day = 86_400_000

/** A complete draft that only needs to be activated: https://developers.yousign.com/docs/email-managed-by-yousign-1. Resolves to its id. */
export async function prepare (request: Request, call: Call): Promise<string> {
  const { esign: { signers, expiresInDays, locale = 'en' }, document } = request
  const { id } = await call.http.post(...ask(call, '', {
    json: {
      name: shortened(document.filename, 128),
      delivery_mode: 'email',
      timezone: call.settings.timezone ?? 'Europe/Paris',
      expiration_date: new Date(call.now().getTime() + expiresInDays * day).toISOString().slice(0, 10),
      ordered_signers: new Set(signers.map(({ order = 1 }) => order)).size > 1,
      external_id: call.reference
    }
  }), Created)
  call.onRefusal((http) => withdraw(id, call, http))
  const file = await call.http.post(
    ...ask(call, `${pathOf(id)}/documents`, { multipart: { file: document, nature: 'signable_document' } }),
    Created
  )
  // With an order, the signers sign in the order in which they are added. Each has a place.
  for (const signing of signingOf(request)) {
    await call.http.post(...ask(call, `${pathOf(id)}/signers`, { json: signerOf(signing, { document: file.id, locale }) }), Type.Unknown())
  }
  return id
}

/** A signer confirms with a code: by SMS where there is a number, else by e-mail. */
function signerOf (
  { signer: { firstName, lastName, email, phoneNumber }, places }: Signing<Request['esign']['signers'][number]>,
  { document, locale }: { document: string, locale: string }
) {
  return {
    info: { first_name: firstName, last_name: lastName, email, locale, ...(phoneNumber !== undefined && { phone_number: phoneNumber }) },
    signature_level: 'electronic_signature',
    signature_authentication_mode: phoneNumber === undefined ? 'otp_email' : 'otp_sms',
    fields: places.map(({ page, x, y, width, height }) => ({
      type: 'signature',
      document_id: document,
      page,
      x: Math.round(x),
      y: Math.round(y),
      width: Math.max(leastWidth, Math.round(width)),
      height: Math.max(leastHeight, Math.round(height))
    }))
  }
}

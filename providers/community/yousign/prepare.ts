import { shortened, Type } from '@dispatch/core/provider'
import { ask, type Call, Created, pathOf, type Request, withdraw } from './api.ts'

type Signer = Request['esign']['signers'][number]
type Place = Request['signatures'][number]

/** The least size of a signature field, in points. */
const [leastWidth, leastHeight] = [85, 37]

/** Yousign wants a place for each signer. Without one in the template it is at the foot of the first page, beside those of the others. */
function footOf (index: number): Place {
  return {
    signer: index + 1,
    page: 1,
    x: 40 + 95 * (index % 5),
    y: 740 - 42 * Math.floor(index / 5),
    width: leastWidth,
    height: leastHeight
  }
}

const day = 86_400_000

/** A complete draft that only needs to be activated: https://developers.yousign.com/docs/email-managed-by-yousign-1. Resolves to its id. */
export async function prepare (
  { esign: { signers, expiresInDays, locale = 'en' }, document, signatures }: Request,
  call: Call
): Promise<string> {
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
  // With an order, the signers sign in the order in which they are added.
  const ordered = [...signers.entries()].sort(([, a], [, b]) => (a.order ?? 1) - (b.order ?? 1))
  for (const [index, signer] of ordered) {
    const own = signatures.filter((place) => place.signer === index + 1)
    const places = own.length === 0 ? [footOf(index)] : own
    await call.http.post(...ask(call, `${pathOf(id)}/signers`, { json: signerOf(signer, places, { document: file.id, locale }) }),
      Type.Unknown())
  }
  return id
}

/** A signer confirms with a code: by SMS where there is a number, else by e-mail. */
function signerOf (
  { firstName, lastName, email, phoneNumber }: Signer,
  places: Request['signatures'],
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

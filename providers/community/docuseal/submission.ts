import { type JsonObject, shareOfPage, signingOf } from '@dispatch/core/provider'
import type { Call, Request } from './settings.ts'

const day = 86_400_000

/** Our own id of a submitter, by which DocuSeal finds the submission. */
export function submitterId (reference: string, index: number): string {
  return `${reference}-${index}`
}

/** DocuSeal sends at once: there is no draft. */
export function submissionOf (request: Request, { settings: { paper = 'A4' }, reference, now }: Call): JsonObject {
  const { esign: { expiresInDays }, document } = request
  const signing = signingOf(request).map((one, index) => ({ ...one, role: `Signer ${index + 1}` }))
  const fields = signing.flatMap(({ role, places }) =>
    places.map((place, index) => {
      const { x, y, width: w, height: h } = shareOfPage(place, paper)
      return { name: `${role}, signature ${index + 1}`, type: 'signature', role, required: true, areas: [{ page: place.page, x, y, w, h }] }
    })
  )
  return {
    name: document.filename,
    send_email: true,
    order: signing.some(({ turn }) => turn > 1) ? 'preserved' : 'random',
    expire_at: new Date(now().getTime() + expiresInDays * day).toISOString().replace('T', ' ').replace(/\..*$/, ' UTC'),
    documents: [{ name: document.filename, file: document, fields }],
    submitters: signing.map(({ signer: { firstName, lastName, email, phoneNumber: phone }, role, turn }, index) => ({
      role,
      name: `${firstName} ${lastName}`,
      email,
      order: turn - 1,
      external_id: submitterId(reference, index),
      // A code by SMS opens the document.
      ...(phone !== undefined && { phone, require_phone_2fa: true })
    }))
  }
}

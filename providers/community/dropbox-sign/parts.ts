import { type HttpCall, shortened, signingOf } from '@dispatch/core/provider'
import type { Call, Request } from './settings.ts'

/** The most characters of a title. */
const longestTitle = 255
/** Places count in points, and sizes in eightieths of an inch: https://faq.hellosign.com/hc/en-us/articles/217115577. */
const dotsOfSize = 80 / 72
const secondsOfDay = 86_400

/** Dropbox Sign sends at once: there is no draft. */
export function partsOf (request: Request, { settings: { clientId }, reference, sandbox, now }: Call): NonNullable<HttpCall['multipart']> {
  const { esign: { expiresInDays }, document } = request
  const signing = signingOf(request)
  const isOrdered = signing.some(({ turn }) => turn > 1)
  const fields = signing.flatMap(({ places }, signer) => places.map((place) => ({ signer, place })))
  return {
    'files[0]': document,
    title: shortened(document.filename, longestTitle),
    ...Object.fromEntries(
      signing.flatMap(({ signer: { firstName, lastName, email, phoneNumber }, turn }, index) =>
        under(`signers[${index}]`, {
          name: `${firstName} ${lastName}`,
          email_address: email,
          ...(isOrdered && { order: turn - 1 }),
          // A code by SMS opens the document.
          ...(phoneNumber !== undefined && { sms_phone_number: phoneNumber, sms_phone_number_type: 'authentication' })
        })
      )
    ),
    ...Object.fromEntries(
      fields.flatMap(({ signer, place: { page, x, y, width, height } }, index) =>
        under(`form_fields_per_document[${index}]`, {
          document_index: 0,
          api_id: `signature-${index}`,
          type: 'signature',
          required: true,
          signer,
          page,
          x: Math.round(x),
          y: Math.round(y),
          width: Math.round(width * dotsOfSize),
          height: Math.round(height * dotsOfSize)
        })
      )
    ),
    'metadata[dispatch_reference]': reference,
    expires_at: String(Math.floor(now().getTime() / 1000) + expiresInDays * secondsOfDay),
    ...(clientId !== undefined && { client_id: clientId }),
    test_mode: String(sandbox)
  }
}

function under (name: string, fields: Readonly<Record<string, string | number | boolean>>): [string, string][] {
  return Object.entries(fields).map(([field, value]) => [`${name}[${field}]`, String(value)])
}

import { given, type JsonObject, shareOfPage, signingOf } from '@dispatch/core/provider'
import type { Call, Request } from './settings.ts'

/** As a share of the width of the page: that of the vendor's examples. */
const fontSize = 0.0168

/** Who has made the document stays one of its parties, and only views it. */
export function detailsOf (request: Request, { settings: { paper = 'A4' }, reference, webhookUrl }: Call, author: JsonObject): JsonObject {
  const { esign: { expiresInDays, locale } } = request
  const signers = signingOf(request).map(({ signer: { firstName, lastName, email, phoneNumber }, places, turn }) => ({
    is_signatory: true,
    signatory_role: 'signing_party',
    sign_order: turn,
    delivery_method: 'email',
    confirmation_delivery_method: 'email',
    // A code by SMS confirms the signature.
    authentication_method_to_sign: phoneNumber === undefined ? 'standard' : 'sms_pin',
    fields: [
      { type: 'name', order: 1, value: firstName },
      { type: 'name', order: 2, value: lastName },
      { type: 'email', value: email },
      ...phoneNumber === undefined ? [] : [{ type: 'mobile', value: phoneNumber }],
      ...places.map((place, index) => {
        const { x: xrel, y: yrel, width: wrel, height: hrel } = shareOfPage(place, paper)
        const placements = [{ xrel, yrel, wrel, hrel, fsrel: fontSize, page: place.page }]
        return { type: 'signature', name: `Signature ${index + 1}`, placements }
      })
    ]
  }))
  return {
    parties: [{ ...author, is_signatory: false, signatory_role: 'viewer' }, ...signers],
    days_to_sign: expiresInDays,
    tags: [{ name: 'reference', value: reference }],
    ...given({ lang: locale, api_callback_url: webhookUrl })
  }
}

import { type HttpCall, shareOfPage, signingOf } from '@dispatch/core/provider'
import type { Call, Request } from './settings.ts'

type Parts = NonNullable<HttpCall['multipart']>

/** Signaturit sends at once: there is no draft. */
export function partsOf (request: Request, { settings: { paper = 'A4', brandingId }, reference }: Call): Parts {
  const { esign: { signers, signatureType, expiresInDays, locale }, document } = request
  const isSequential = new Set(signers.map(({ order = 1 }) => order)).size > 1
  // The first of the list signs first.
  const recipients = signingOf(request).map(({ signer: { firstName, lastName, email, phoneNumber }, places: own }, position) => {
    const places = own.map((place) => {
      const { x: left, y: top, ...size } = shareOfPage(place, paper, 100)
      return { page: place.page, left, top, ...size }
    })
    return under(`recipients[${position}]`, {
      name: `${firstName} ${lastName}`,
      email,
      // A code by SMS opens the document.
      ...(phoneNumber !== undefined && { phone: phoneNumber.slice(1) }),
      ...Object.fromEntries(
        places.flatMap((place, nth) =>
          Object.entries({ type: 'signature', ...place }).map(([field, value]) => [`widgets][${nth}][${field}`, value])
        )
      )
    })
  })
  return {
    'files[0]': document,
    ...Object.fromEntries(recipients.flatMap(Object.entries<string>)),
    name: document.filename,
    type: signatureType === 'ADVANCED' ? 'advanced' : 'simple',
    delivery_type: 'email',
    signing_mode: isSequential ? 'sequential' : 'parallel',
    expire_time: String(expiresInDays),
    'data[dispatch_reference]': reference,
    ...(locale !== undefined && { locale }),
    ...(brandingId !== undefined && { branding_id: brandingId })
  }
}

function under (name: string, fields: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [`${name}[${field}]`, String(value)]))
}

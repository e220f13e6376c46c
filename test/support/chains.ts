import type { ServiceName } from '@dispatch/services'

/** The least that each service needs at the top of a body, beside its template, when it comes first. */
export const beginnings: Partial<Record<ServiceName, Record<string, unknown>>> = {
  invoicing: { documentType: 'INVOICE' },
  esign: { signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }] },
  postal: { postal: { recipient: { name: 'Ada', address: '1 rue', city: 'Paris', postalCode: '75002', country: 'FR' } } },
  file: {}
}

/** The same for what comes later. */
export const continuations: Partial<Record<ServiceName, Record<string, unknown>>> = {
  ...beginnings,
  email: {
    email: { from: 'demo@example.com', to: ['ada@example.com'], subject: 'Your document', body: 'See {{ generatedDocument.url }}' }
  },
  sms: { sms: { phoneNumber: '+33612345678', message: 'See {{ generatedDocument.url }}' } },
  upload: {}
}

/** The least body of a chain. */
export function chainBody (path: readonly ServiceName[], template: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return Object.assign({ template }, ...path.map((name, index) => (index === 0 ? beginnings : continuations)[name]), more) as Record<
    string,
    unknown
  >
}

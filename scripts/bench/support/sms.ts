import type { JsonObject } from '@dispatch/common'

/** The body that dispatches an SMS for a given order. */
export function smsRequest (order: string): JsonObject {
  return { sms: { phoneNumber: '+33612345678', message: 'Your invoice F-2026-001 is ready.' }, metadata: { order } }
}

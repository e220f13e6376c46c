import type { Hours, ServiceHours } from '../hours.ts'
import { countryOf } from '../phone.ts'

/**
 * Outside the quiet hours. Sources: for the US 47 CFR 64.1200(c)(1), no calls before 8 a.m. and after 9 p.m.; for France the rules of the
 * operators, Monday to Saturday from 8:00 to 20:00. Holidays are not known here. Elsewhere the narrower of the two, on any day.
 */
const byCountry: Readonly<Record<string, Hours>> = {
  FR: { notBefore: '08:00', notAfter: '20:00', days: [1, 2, 3, 4, 5, 6] },
  US: { notBefore: '08:00', notAfter: '21:00' }
}
const elsewhere: Hours = { notBefore: '08:00', notAfter: '20:00' }

export const hours: ServiceHours<{ phoneNumber: string }> = {
  country: ({ phoneNumber }) => countryOf(phoneNumber),
  usual: (country = '') => byCountry[country] ?? elsewhere
}

/**
 * Hours in which something may be sent, by the clock of a place: HH:MM from `notBefore` on and until `notAfter`, the whole day unless
 * given. `days`: of the week, 1 is Monday; all unless given.
 */
export type Hours = { notBefore?: string, notAfter?: string, days?: readonly number[] }

/** Where the recipient of a step is (ISO 3166-1 alpha-2; undefined where nobody knows), and when a company usually sends there. */
export type ServiceHours<Fields> = {
  country(fields: Fields): string | undefined
  usual(country: string | undefined): Hours
}

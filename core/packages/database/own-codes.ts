/**
 * Whether the database refused by one of our own codes. DC402: fewer credits are free than are to be held. DC409: the key is bound. DC410:
 * the company is being deleted. DC413: what a provider is to remember has no room. DC429: a hard budget is used up.
 */
export function hasCode (error: unknown, code: 'DC402' | 'DC409' | 'DC410' | 'DC413' | 'DC429'): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

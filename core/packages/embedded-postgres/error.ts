/** The embedded database cannot start or stop. The message is one sentence for the person who starts the service. */
export class StartError extends Error {
  override name = 'StartError'
}

/** The code of a system error (`EACCES`, `ENOSPC`, …), or the message of any other error. */
export function systemErrorText (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}

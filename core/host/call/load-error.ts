/** Why a folder cannot be loaded as a provider: one sentence for the operator. */
export class ProviderLoadError extends Error {
  override name = 'ProviderLoadError'
  /** The code of the provider, if it was already known. */
  readonly code: string | undefined
  /** File and line in the folder, such as `index.js:3`, or the file alone, once that is known. */
  readonly place: string | undefined

  constructor (reason: string, { code, place, cause }: { code?: string, place?: string | undefined, cause?: unknown } = {}) {
    super(reason, { cause })
    this.code = code
    this.place = place
  }
}

/** The message of any thrown value. */
export function errorMessageOf (thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

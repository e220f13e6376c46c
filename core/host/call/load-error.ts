/** Why a folder cannot be loaded as a provider: one sentence for the operator. */
export class ProviderLoadError extends Error {
  override name = 'Refusal'
  /** The code of the provider, if it was already known. */
  readonly code: string | undefined

  constructor (reason: string, { code, cause }: { code?: string, cause?: unknown } = {}) {
    super(reason, { cause })
    this.code = code
  }
}

/** The message of any thrown value. */
export function errorMessageOf (thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

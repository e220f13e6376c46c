/** Why a folder is not taken as a provider: one sentence for the operator. */
export class ProviderLoadError extends Error {
  override name = 'Refusal'
  /** The code that the provider would have had, once that is known. */
  readonly code: string | undefined

  constructor (reason: string, { code, cause }: { code?: string, cause?: unknown } = {}) {
    super(reason, { cause })
    this.code = code
  }
}

/** The sentence of anything that was thrown. */
export function errorMessageOf (thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

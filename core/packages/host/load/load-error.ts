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

/** Code was not loaded, or did not do what it was tried with, in time: it hangs, or the machine is busy. Nobody can tell which. */
export class LoadTimeout extends ProviderLoadError {
  override name = 'LoadTimeout'

  /** `limit`: in seconds. */
  constructor (limit: number, what = 'finish loading') {
    super(`It did not ${what} within ${limit} seconds.`)
  }
}

/** Why a folder that was too slow is not in service. */
export function refusedAsSlow ({ message }: LoadTimeout): string {
  return `${message} Its code does not end, or this machine is too busy: it is tried again when the folders are read next.`
}

/** A file whose bytes are not those that were stored, or that is missing. `what` is wrong, as the end of a sentence. */
export class FileDamaged extends Error {
  override name = 'FileDamaged'
  readonly key: string
  readonly what: string

  constructor (key: string, what: string, cause?: unknown) {
    super(`The file ${key} is not what was stored: ${what}.`, { cause })
    this.key = key
    this.what = what
  }
}

/** Nothing can be stored now (`full`: of a disk), or the storage cannot be used at all (`away`: of a bucket). Its cause says why. */
export class StorageUnavailable extends Error {
  override name = 'StorageUnavailable'
  readonly state: 'full' | 'away'

  constructor (state: 'full' | 'away', cause: unknown) {
    super(state === 'full' ? 'The storage takes nothing now.' : 'The storage cannot be used now.', { cause })
    this.state = state
  }
}

/** A data key is not in its place. `isGone`: it is lost for good, because its company has it no more; else it may come back. */
export class DataKeyMissing extends StorageUnavailable {
  readonly isGone: boolean

  constructor (path: string, isGone: boolean) {
    super('away', new Error(`The data key ${path} is not in DISPATCH_KEYS.`))
    this.isGone = isGone
  }
}

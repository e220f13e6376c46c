import { randomBytes } from 'node:crypto'
import { link, open, readFile, rm, stat } from 'node:fs/promises'

/** The master key cannot be read or created. The message is one sentence for the operator. */
export class MasterKeyError extends Error {
  override name = 'MasterKeyError'
}

/** Sources of a master key: `value` is base64; `file` must exist and be private to its owner; `made` is created if it does not exist. */
export type MasterKeySource = { value?: string | undefined, file?: string | undefined, made?: string | undefined }

/**
 * Reads the 32 bytes that protect every other secret, from the first source that is given. `variable` is the name that error messages use.
 * Throws a {@link MasterKeyError}.
 */
export async function readMasterKey ({ value, file, made }: MasterKeySource, variable = 'DISPATCH_MASTER_KEY'): Promise<Buffer> {
  if (value !== undefined && value !== '') return decode(value, variable)
  if (file !== undefined) return decode(await readPrivate(file, variable), file)
  if (made === undefined) {
    throw new MasterKeyError(`${variable} is not set: it needs 32 random bytes in base64, for example from \`openssl rand -base64 32\`.`)
  }
  return decode(await readText(made) ?? await createFile(made), made)
}

/** The file must be private to its owner. If root owns it, the group may read it too (PostgreSQL has the same rule for its TLS key). */
async function readPrivate (file: string, variable: string): Promise<string> {
  const { mode, uid } = await stat(file).catch((cause: unknown) => {
    throw unreadable(file, cause)
  })
  const others = uid === 0 ? 0o037 : 0o077
  if ((mode & others) !== 0) {
    throw new MasterKeyError(
      `${file} of ${variable}_FILE can be read or changed by other users (mode ${(mode & 0o777).toString(8)}): leave it to the ` +
        `service alone, for example with \`chmod 600\`.`
    )
  }
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw unreadable(file, cause)
  })
}

function unreadable (file: string, cause: unknown): MasterKeyError {
  return new MasterKeyError(`${file} cannot be read (${codeOf(cause)}).`, { cause })
}

function decode (text: string, source: string): Buffer {
  const trimmed = text.trim()
  if (!/^[A-Za-z0-9+/]{43}=$/.test(trimmed)) {
    throw new MasterKeyError(
      `${source} does not hold 32 bytes in base64 (44 characters): put the right key back; a new one cannot open the secrets ` +
        'stored under the old.'
    )
  }
  return Buffer.from(trimmed, 'base64')
}

async function readText (file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined
    throw unreadable(file, cause)
  }
}

/** Creates the file atomically and never overwrites one: if several processes start at once, the first one wins and all read its file. */
async function createFile (file: string): Promise<string> {
  const draft = `${file}.${randomBytes(8).toString('hex')}`
  try {
    await writeSynced(draft, `${randomBytes(32).toString('base64')}\n`)
    await link(draft, file).catch(unlessExists)
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new MasterKeyError(`${file} cannot be created (${codeOf(cause)}).`, { cause })
  } finally {
    await rm(draft, { force: true })
  }
}

async function writeSynced (file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function unlessExists (error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error
}

function codeOf (error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

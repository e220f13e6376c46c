import { randomBytes } from 'node:crypto'
import { link, open, readFile, rm } from 'node:fs/promises'

/** The master key cannot be read or made; the message is one sentence for the person who starts the service. */
export class MasterKeyError extends Error {
  override name = 'MasterKeyError'
}

/**
 * The 32 bytes that protect every other secret: `value` (DISPATCH_MASTER_KEY, base64), else the content of `file`,
 * which is made when absent. Production gives no `file`. Throws a {@link MasterKeyError}.
 */
export async function readMasterKey ({ value, file }: { value?: string | undefined, file?: string | undefined }): Promise<Buffer> {
  if (value !== undefined && value !== '') return decode(value, 'DISPATCH_MASTER_KEY')
  if (file === undefined) throw new MasterKeyError('DISPATCH_MASTER_KEY is not set: it needs 32 random bytes in base64, for example from `openssl rand -base64 32`.')
  return decode(await readText(file) ?? await createFile(file), file)
}

function decode (text: string, source: string): Buffer {
  const trimmed = text.trim()
  if (!/^[A-Za-z0-9+/]{43}=$/.test(trimmed)) throw new MasterKeyError(`${source} does not hold 32 bytes in base64 (44 characters): put the right key back; a new one cannot open the secrets stored under the old.`)
  return Buffer.from(trimmed, 'base64')
}

async function readText (file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined
    throw new MasterKeyError(`${file} cannot be read (${codeOf(cause)}).`, { cause })
  }
}

/** Makes the file whole or not at all, and never over another's: whoever comes first wins, everybody reads that one. */
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

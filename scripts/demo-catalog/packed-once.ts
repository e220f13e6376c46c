import { folderDigest } from '@dispatch/host'
import { integrityOf } from '@dispatch/marketplace'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A package that has passed the kit. `name`: that of its file. `at`: when it was packed. */
export type PackedAdapter = { name: string, bytes: Buffer, at: Date }

/** Where packages are kept, and for what: an adapter, and the digest of all that its package follows from. */
export type Keeping = { cache: string, adapter: string, digest: string }

/** Beside a package that is kept: its integrity. */
const integrityFile = 'integrity'

/** Whatever makes a package of a folder, and judges it. The versions of the libraries stand in the last one. */
const makers = ['../../core/packages/conformance', '../provider', '../../package.json'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url))
)

/** The digest of the kit and the packer: another one may make another package of the same folder, or none. */
export async function makersDigest (paths: readonly string[] = makers): Promise<string> {
  const digests = await Promise.all(
    paths.map(async (path) => (await stat(path)).isDirectory() ? await folderDigest(path) : await readFile(path, 'utf8'))
  )
  return createHash('sha256').update(digests.join('\0')).digest('hex')
}

/**
 * The package of an adapter: the one that is kept, else the one that `pack` makes, of which it answers the path. One is kept for each
 * adapter, that of the last digest; one whose bytes are not those that were kept is packed again. A folder that cannot be written keeps
 * none.
 */
export async function packedOnce ({ cache, adapter, digest }: Keeping, pack: () => Promise<string>): Promise<PackedAdapter> {
  const folder = join(cache, adapter, digest)
  const kept = await keptIn(folder).catch(() => undefined)
  if (kept !== undefined) return kept
  const packed = await read(await pack())
  await keep(packed).catch(() => undefined)
  return packed

  async function keep ({ name, bytes }: PackedAdapter): Promise<void> {
    await rm(join(cache, adapter), { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, integrityFile), integrityOf(bytes))
    // Another process may look meanwhile, and this one may be killed.
    const draft = join(folder, `${name}.${process.pid}`)
    await writeFile(draft, bytes)
    await rename(draft, join(folder, name))
  }
}

/** The package in a folder, if it is whole. */
async function keptIn (folder: string): Promise<PackedAdapter | undefined> {
  const name = (await readdir(folder)).find((one) => one.endsWith('.tgz'))
  if (name === undefined) return undefined
  const [packed, integrity] = await Promise.all([read(join(folder, name)), readFile(join(folder, integrityFile), 'utf8')])
  return integrityOf(packed.bytes) === integrity ? packed : undefined
}

async function read (path: string): Promise<PackedAdapter> {
  const [bytes, { mtime }] = await Promise.all([readFile(path), stat(path)])
  return { name: basename(path), bytes, at: mtime }
}

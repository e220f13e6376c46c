import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** A package that has passed the kit. `name`: that of its file. `at`: when it was packed. */
export type PackedAdapter = { name: string, bytes: Buffer, at: Date }

/** Where packages are kept, and for what: an adapter, and the digest of all that its package follows from. */
export type Keeping = { cache: string, adapter: string, digest: string }

/**
 * The package of an adapter: the one that is kept, else the one that `pack` makes, of which it answers the path. One is kept for each
 * adapter, that of the last digest. A folder that cannot be written keeps none.
 */
export async function packedOnce ({ cache, adapter, digest }: Keeping, pack: () => Promise<string>): Promise<PackedAdapter> {
  const kept = join(cache, adapter, digest)
  const [found] = existsSync(kept) ? (await readdir(kept)).filter((name) => name.endsWith('.tgz')) : []
  if (found !== undefined) return await read(join(kept, found))
  const packed = await read(await pack())
  await keep(packed).catch(() => undefined)
  return packed

  async function keep ({ name, bytes }: PackedAdapter): Promise<void> {
    await rm(join(cache, adapter), { recursive: true, force: true })
    await mkdir(kept, { recursive: true })
    // Another process may look meanwhile, and this one may be killed.
    const draft = join(kept, `${name}.${process.pid}`)
    await writeFile(draft, bytes)
    await rename(draft, join(kept, name))
  }
}

async function read (path: string): Promise<PackedAdapter> {
  const [bytes, { mtime }] = await Promise.all([readFile(path), stat(path)])
  return { name: basename(path), bytes, at: mtime }
}

/**
 * Packs each adapter of `providers/community` that is not packed yet into the catalog in the folder of its argument. One that fails, as it
 * may on a busy machine, is tried once more after the others, and keeps none of them out.
 */
import { folderDigest } from '@dispatch/core/host'
import { existsSync } from 'node:fs'
import { readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import core from '../../core/package.json' with { type: 'json' }
import { demoKey } from '../../plugins/config/catalogs.ts'
import { buildFolder, signFolder } from '../catalog/folder.ts'
import { packProvider } from '../provider/pack.ts'
import { demoDays, tryTwice } from './demo-catalog.ts'

/** The tarball of each adapter, and the digest of the folder that it was packed from. */
type Packed = Record<string, { digest: string, tarball: string }>

const community = fileURLToPath(new URL('../../providers/community', import.meta.url))
const folder = process.argv[2] ?? ''
const record = join(folder, 'packed.json')
const key = join(folder, `${demoKey}.private.json`)

setPriority(constants.priority.PRIORITY_LOW)
const packed: Packed = existsSync(record) ? JSON.parse(await readFile(record, 'utf8')) as Packed : {}

async function pack (name: string): Promise<void> {
  const source = await realpath(join(community, name))
  const digest = `${core.version} ${await folderDigest(source)}`
  const before = packed[name]
  if (before?.digest === digest && existsSync(join(folder, before.tarball))) return
  const { path } = await packProvider(source, { out: folder, key })
  if (before !== undefined && before.tarball !== basename(path)) await rm(join(folder, before.tarball), { force: true })
  await buildFolder(folder, { days: demoDays, now: new Date() })
  await signFolder(folder, key)
  packed[name] = { digest, tarball: basename(path) }
  await writeFile(`${record}.new`, JSON.stringify(packed))
  await rename(`${record}.new`, record)
  console.log(name)
}

for (const [name, error] of await tryTwice((await readdir(community)).sort(), pack)) {
  console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}

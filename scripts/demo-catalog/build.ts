/**
 * Packs each adapter of `providers/community` that is not packed yet into the catalog in the folder of its argument: a few at once, so that
 * there is something to install, and then the others at leisure. One that fails, as it may on a busy machine, is tried once more after the
 * others, and keeps none of them out.
 */
import { folderDigest } from '@dispatch/core/host'
import { buildingFile } from '@dispatch/marketplace'
import { existsSync } from 'node:fs'
import { readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import core from '../../core/package.json' with { type: 'json' }
import { demoKey } from '../../plugins/config/catalogs.ts'
import { attest as runKit, attestationOf } from '../catalog/attest.ts'
import { buildFolder, signFolder } from '../catalog/folder.ts'
import { packProvider } from '../provider/pack.ts'
import { demoDays, tryTwice } from './demo-catalog.ts'

/** The tarball of each adapter, and the digest of the folder that it was packed from. */
type Packed = Record<string, { digest: string, tarball: string }>

const community = fileURLToPath(new URL('../../providers/community', import.meta.url))
const folder = process.argv[2] ?? ''
const record = join(folder, 'packed.json')
const building = join(folder, buildingFile)
const key = join(folder, `${demoKey}.private.json`)

/** These come at once. */
const first = ['resend', 'brevo', 'vonage', 'yousign', 's3', 'webdav', 'xero']

/** After each of the others it rests for so many times as long as it has worked. */
const rests = 3

setPriority(constants.priority.PRIORITY_LOW)
const packed: Packed = existsSync(record) ? JSON.parse(await readFile(record, 'utf8')) as Packed : {}

async function pack (name: string): Promise<void> {
  const source = await realpath(join(community, name))
  const digest = `${core.version} ${await folderDigest(source)}`
  const before = packed[name]
  if (before?.digest === digest && existsSync(join(folder, before.tarball))) return
  const began = performance.now()
  // Each release checks the types of what it ships; the compiler would take most of the time.
  const { path, integrity, conformance } = await packProvider(source, { out: folder, typed: true, key })
  if (before !== undefined && before.tarball !== basename(path)) await rm(join(folder, before.tarball), { force: true })
  // The kit has just been run on it.
  const attest: typeof runKit = async (found, by) =>
    found.integrity === integrity && conformance.status === 'passed'
      ? { attested: attestationOf(conformance, by) }
      : await runKit(found, by)
  await buildFolder(folder, { days: demoDays, now: new Date(), attest })
  await signFolder(folder, key)
  packed[name] = { digest, tarball: basename(path) }
  await writeFile(`${record}.new`, JSON.stringify(packed))
  await rename(`${record}.new`, record)
  console.log(name)
  if (!first.includes(name)) await pause(rests * (performance.now() - began))
}

/** The first ones first. */
const inOrder = (names: readonly string[]): string[] => [...new Set([...first.filter((name) => names.includes(name)), ...names.toSorted()])]

const names = inOrder(await readdir(community))
let done = 0

/** How far it is, for who asks at the command line. */
async function tellProgress (): Promise<void> {
  await writeFile(`${building}.new`, JSON.stringify({ pid: process.pid, done, of: names.length }))
  await rename(`${building}.new`, building)
}

await tellProgress()
const failed = await tryTwice(names, async (name) => {
  await pack(name)
  done++
  await tellProgress()
})
await rm(building, { force: true })
for (const [name, error] of failed) {
  console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}

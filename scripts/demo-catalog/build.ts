/**
 * Packs each adapter of `providers/community` that is not packed yet into the catalog in the folder of its argument: the first ones
 * together, so that there is something to install, and then the others at leisure. What this checkout has packed before, for whichever data
 * directory, comes as it is. One that fails, as it may on a busy machine, is tried once more after the others, and keeps none of them out.
 */
import { folderDigest } from '@dispatch/host'
import { buildingFile, inspectPackage, readPrivateKey, signPackage } from '@dispatch/marketplace'
import { existsSync } from 'node:fs'
import { readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import core from '../../core/package.json' with { type: 'json' }
import { demoKey } from '../../plugins/config/catalogs.ts'
import { attest as runKit, attestationOf } from '../catalog/attest.ts'
import { buildFolder, signFolder } from '../catalog/folder.ts'
import { packProvider } from '../provider/pack.ts'
import { demoDays, tryTwice } from './demo-catalog.ts'
import { makersDigest, type PackedAdapter, packedOnce } from './packed-once.ts'

/** The tarball of each adapter, and the digest of the folder that it was packed from. */
type Packed = Record<string, { digest: string, tarball: string }>

const community = fileURLToPath(new URL('../../providers/community', import.meta.url))
const cache = fileURLToPath(new URL('../../node_modules/.cache/dispatch-adapters', import.meta.url))
const folder = process.argv[2] ?? ''
const record = join(folder, 'packed.json')
const building = join(folder, buildingFile)
/** What is being packed, each in a folder of its own. */
const bench = join(folder, 'packing')
const key = join(folder, `${demoKey}.private.json`)

/** These come at once, and so many of them are packed together: the kit waits more than it works. */
const first = ['resend', 'vonage', 'webdav', 's3', 'brevo', 'xero', 'yousign']
const together = 3

/** After each of the others that it has packed it rests for so many times as long as that took. */
const pauseFactor = 3

setPriority(constants.priority.PRIORITY_LOW)
await rm(bench, { recursive: true, force: true })
const madeBy = `${core.version}-${await makersDigest()}`
const packed: Packed = existsSync(record) ? JSON.parse(await readFile(record, 'utf8')) as Packed : {}

/** Resolves once the adapter is in the catalog, and says whether it had to be packed for that. */
async function add (name: string): Promise<boolean> {
  const source = await realpath(join(community, name))
  const digest = `${madeBy}-${await folderDigest(source)}`
  const before = packed[name]
  if (before?.digest === digest && existsSync(join(folder, before.tarball))) return false
  let isNew = false
  const adapter = await packedOnce({ cache, adapter: name, digest }, async () => {
    isNew = true
    // Each release checks the types of what it ships; the compiler would take most of the time.
    return (await packProvider(source, { out: join(bench, name), typed: true })).path
  })
  await inTurn(async () => {
    await list(adapter, before?.tarball)
    packed[name] = { digest, tarball: adapter.name }
    await replace(record, JSON.stringify(packed))
  })
  console.log(name)
  return isNew
}

/** Puts a package into the catalog, in place of the one before. */
async function list ({ name, bytes, at }: PackedAdapter, before: string | undefined): Promise<void> {
  const adapter = inspectPackage(bytes)
  const path = join(folder, name)
  if (before !== undefined && before !== name) await rm(join(folder, before), { force: true })
  await writeFile(`${path}.jws`, await signPackage(adapter, await readPrivateKey(await readFile(key, 'utf8'))))
  await writeFile(path, bytes)
  // The kit was run on it when it was packed.
  const attest: typeof runKit = async (found, by) => {
    const { integrity, manifest: { conformance } } = adapter
    return found.integrity === integrity && conformance.status === 'passed'
      ? { attested: attestationOf(conformance, by, at) }
      : await runKit(found, by)
  }
  await buildFolder(folder, { days: demoDays, now: new Date(), attest })
  await signFolder(folder, key)
}

let last: Promise<unknown> = Promise.resolve()

/** The catalog is changed by one at a time. */
async function inTurn (work: () => Promise<void>): Promise<void> {
  const turn = last.then(work)
  last = turn.catch(() => undefined)
  await turn
}

async function replace (path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
}

const names = (await readdir(community)).toSorted()
let done = 0

/** How far it is, for who asks at the command line. */
async function tellProgress (): Promise<void> {
  await replace(building, JSON.stringify({ pid: process.pid, done, of: names.length }))
}

async function counted (name: string): Promise<boolean> {
  const isNew = await add(name)
  done++
  await inTurn(tellProgress)
  return isNew
}

await tellProgress()
const failed = [
  ...await tryTwice(first.filter((name) => names.includes(name)), counted, together),
  ...await tryTwice(names.filter((name) => !first.includes(name)), async (name) => {
    const began = performance.now()
    if (await counted(name)) await pause(pauseFactor * (performance.now() - began))
  })
]
await rm(bench, { recursive: true, force: true })
await rm(building, { force: true })
for (const [name, error] of failed) {
  console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}

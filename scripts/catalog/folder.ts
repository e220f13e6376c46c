import { compile } from '@dispatch/common'
import { type AdapterPackage, type Attestation, buildCatalog, catalogFile, CatalogPayload, inspectPackage, MarketplaceRefusal, npmVersionIn,
  type PlacedPackage, PublicKey, publicRegistry, Publisher, readFromRegistry, readPrivateKey, signCatalog,
  Withdrawal } from '@dispatch/marketplace'
import { existsSync } from 'node:fs'
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, type TSchema, Type } from 'typebox'
import { attest as runKit, kitVersion } from './attest.ts'

/** The content of the catalog, not signed. The next one has its serial and the dates of its versions from it. */
const contentFile = 'catalog.json'
/** What the keeper of a catalog says of it. The file may be absent. */
const planFile = 'catalog.config.json'

const Plan = Type.Partial(
  Type.Object({
    /** Who runs the kit, for those who read what it said. */
    keeper: Type.String({ minLength: 1, maxLength: 200 }),
    /** Packages at a registry of npm, such as `npm:dispatch-provider-acme@1.0.0`; the folder has none of them. */
    packages: Type.Array(Type.String({ maxLength: 300 }), { maxItems: 1_000 }),
    registry: Type.String({ maxLength: 500 }),
    keys: Type.Array(PublicKey),
    publishers: Type.Array(Publisher),
    yanked: Type.Array(Withdrawal),
    revoked: Type.Array(Withdrawal)
  }),
  { additionalProperties: false }
)

/** `attest`: runs the kit on a package. `tell`: is told of packages that are listed without a statement. */
type Building = { days: number, now: Date, attest?: typeof runKit, tell?: (sentence: string) => void }

/**
 * Writes the content of a catalog of all tarballs in a folder and all packages at a registry that its plan names. The kit is run on each;
 * what it said of the same bytes before is not asked again.
 */
export async function buildFolder (folder: string, { days, now, attest = runKit, tell }: Building): Promise<CatalogPayload> {
  const plan = await readJson(join(folder, planFile), Plan) ?? {}
  const previous = await readJson(join(folder, contentFile), CatalogPayload)
  const { keeper = 'the keeper of this catalog', packages: named = [], ...rest } = plan
  const placed = [...await packagesIn(folder), ...await packagesAt(folder, named, plan.registry ?? publicRegistry)]
  if (placed.length === 0) throw new Error(`${folder} has no tarball: "npm run provider pack" makes one.`)
  const packages: PlacedPackage[] = []
  for (const one of placed) packages.push({ ...one, attested: await attestedOf(one) })
  const catalog = await buildCatalog(packages, { ...rest, ...(previous !== undefined && { previous }), days, now })

  async function attestedOf ({ place, bytes }: PlacedPackage): Promise<Attestation | undefined> {
    const found = inspected(place, bytes)
    const before = previous?.adapters.flatMap(({ versions }) => versions).find(({ integrity }) => integrity === found.integrity)?.attested
    if (before?.kit === kitVersion && before.by === keeper) return before
    const { publisher, conformance } = found.manifest
    const isPrivate = !plan.publishers?.some(({ id, tier }) => id === publisher && tier !== 'private')
    // Whoever packs for a service of their own without the kit is taken at their word.
    if (conformance.status === 'not_run' && isPrivate) return undefined
    const outcome = await attest(found, keeper)
    if ('attested' in outcome) return outcome.attested
    tell?.(`${place}: nothing is said of conformance, because it failed ${outcome.failed} cases of the kit.`)
    return undefined
  }
  await replaceFile(join(folder, contentFile), `${JSON.stringify(catalog, null, 2)}\n`)
  return catalog
}

/** Signs the content of the catalog in a folder, and resolves to the path of the signed catalog. */
export async function signFolder (folder: string, keyFile: string): Promise<string> {
  const content = await readJson(join(folder, contentFile), CatalogPayload)
  if (content === undefined) throw new Error(`${folder} has no ${contentFile}: "npm run catalog -- build ${folder}" writes it.`)
  const path = join(folder, catalogFile)
  await replaceFile(path, await signCatalog(content, await readPrivateKey(await readFile(keyFile, 'utf8'))))
  return path
}

async function packagesIn (folder: string): Promise<PlacedPackage[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.tgz')).sort()
  return await Promise.all(
    files.map(async (place) => ({ place, bytes: await readFile(join(folder, place)), ...await signatureBeside(folder, place) }))
  )
}

/** Packages at a registry, in turn. The signature of a publisher lies in the folder, under the name that "npm pack" gives the tarball. */
async function packagesAt (folder: string, named: readonly string[], registry: string): Promise<PlacedPackage[]> {
  const found: PlacedPackage[] = []
  for (const place of named) {
    const npm = npmVersionIn(place)
    if (npm === undefined) throw new Error(`${planFile}: "${place}" must be npm:<name>@<version>.`)
    const { bytes } = await readFromRegistry(registry, npm, { fetch })
    found.push({ place, bytes, ...await signatureBeside(folder, `${npm.name.replace(/^@/, '').replace('/', '-')}-${npm.version}.tgz`) })
  }
  return found
}

async function signatureBeside (folder: string, tarball: string): Promise<{ signature?: string }> {
  const path = join(folder, `${tarball}.jws`)
  return existsSync(path) ? { signature: (await readFile(path, 'utf8')).trim() } : {}
}

function inspected (place: string, bytes: Uint8Array): AdapterPackage {
  try {
    return inspectPackage(bytes)
  } catch (cause) {
    if (!(cause instanceof MarketplaceRefusal)) throw cause
    throw new MarketplaceRefusal(cause.code, `${place}: ${cause.message}`, { cause })
  }
}

/** Undefined where there is no such file. */
async function readJson<S extends TSchema> (path: string, schema: S): Promise<Static<S> | undefined> {
  if (!existsSync(path)) return undefined
  const fit = compile(schema)(JSON.parse(await readFile(path, 'utf8')))
  if (fit.ok) return fit.value
  throw new Error(`${path}: ${fit.problems.map((problem) => `${problem.path} ${problem.message}`.trim()).join(' ')}`)
}

/** A reader sees the old file or the new one, and never a part. */
async function replaceFile (path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}`
  await writeFile(draft, text)
  await rename(draft, path)
}

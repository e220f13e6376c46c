import { compile } from '@dispatch/common'
import { buildCatalog, catalogFile, CatalogPayload, type PlacedPackage, PublicKey, Publisher, readPrivateKey, signCatalog,
  Withdrawal } from '@dispatch/marketplace'
import { existsSync } from 'node:fs'
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, type TSchema, Type } from 'typebox'

/** The content of the catalog, not signed. The next one has its serial and the dates of its versions from it. */
const contentFile = 'catalog.json'
/** What the keeper of a catalog says of it. The file may be absent. */
const planFile = 'catalog.config.json'

const Plan = Type.Partial(
  Type.Object({
    keys: Type.Array(PublicKey),
    publishers: Type.Array(Publisher),
    yanked: Type.Array(Withdrawal),
    revoked: Type.Array(Withdrawal)
  }),
  { additionalProperties: false }
)

/** Writes the content of a catalog of all tarballs in a folder. */
export async function buildFolder (folder: string, { days, now }: { days: number, now: Date }): Promise<CatalogPayload> {
  const [plan = {}, previous] = [await readJson(join(folder, planFile), Plan), await readJson(join(folder, contentFile), CatalogPayload)]
  const catalog = buildCatalog(await packagesIn(folder), { ...plan, ...(previous !== undefined && { previous }), days, now })
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
  const places = (await readdir(folder)).filter((name) => name.endsWith('.tgz')).sort()
  if (places.length === 0) throw new Error(`${folder} has no tarball: "npm run provider pack" makes one.`)
  return await Promise.all(places.map(async (place) => {
    const [path, signed] = [join(folder, place), join(folder, `${place}.jws`)]
    return { place, bytes: await readFile(path), ...(existsSync(signed) && { signature: (await readFile(signed, 'utf8')).trim() }) }
  }))
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

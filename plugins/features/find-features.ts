import type { Migrations } from '@dispatch/tables'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Feature } from './feature.ts'

/** Where features stand. */
const home = fileURLToPath(new URL('../../core/packages/features/', import.meta.url))

const require = createRequire(import.meta.url)

/**
 * The features of this installation, each after those that it needs: the folders of `folder`, as providers are found. Throws one clear
 * sentence where one cannot be loaded, needs what nobody provides, or has what another one has.
 */
export async function findFeatures (folder = home): Promise<Feature[]> {
  if (!existsSync(folder)) return []
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name).sort()
  return inOrder(names.map((name) => load(folder, name)))
}

function load (folder: string, name: string): Feature {
  const path = join(folder, name, 'index.ts')
  const { default: feature } = require(path) as { default?: Feature }
  if (typeof feature?.bind !== 'function') throw new Error(`The default export of ${path} is no feature: it is made by defineFeature.`)
  if (feature.name !== name) throw new Error(`The feature of ${path} is called "${feature.name}": its name is that of its folder.`)
  const astray = Object.keys(feature.migrations ?? {}).find((migration) => !migration.startsWith(`${name}/`))
  if (astray !== undefined) throw new Error(`The migration "${astray}" of the feature "${name}" must be called "${name}/…".`)
  return feature
}

/** Each feature after those whose provisions it needs, else by name. */
export function inOrder (features: readonly Feature[]): Feature[] {
  const providers = new Map<string, Feature>()
  for (const feature of features) {
    for (const name of feature.provided) {
      const other = providers.get(name)
      if (other !== undefined) throw new Error(`The features "${other.name}" and "${feature.name}" both provide "${name}".`)
      providers.set(name, feature)
    }
  }
  const ordered = new Set<Feature>()
  const visit = (feature: Feature, way: readonly string[]): void => {
    if (ordered.has(feature)) return
    if (way.includes(feature.name)) throw new Error(`The features need each other: ${[...way, feature.name].join(' → ')}.`)
    for (const { name, by } of Object.values(feature.needs)) {
      if (by === 'service') continue
      const provider = providers.get(name)
      if (provider === undefined) throw new Error(`The feature "${feature.name}" needs "${name}", which no feature provides.`)
      if (provider !== feature) visit(provider, [...way, feature.name])
    }
    ordered.add(feature)
  }
  for (const feature of features) visit(feature, [])
  return [...ordered]
}

/** The migrations of all features, in their order. */
export function migrationsOf (features: readonly Feature[]): Migrations {
  return Object.assign({}, ...features.map(({ migrations }) => migrations)) as Migrations
}

import 'reflect-metadata'
import { createRecentOthers } from '@dispatch/common'
import { createChanges } from '@dispatch/core'
import { createFreshness } from '@dispatch/database'
import { randomUUIDv7 } from 'node:crypto'
import { container, instanceCachingFactory } from 'tsyringe'
import type { Config } from './config/config.ts'
import type { Dependencies, Factories, Get } from './container/dependencies.ts'
import { dispatches } from './container/dispatches.ts'
import { documents } from './container/documents.ts'
import { people } from './container/people.ts'
import { providers } from './container/providers.ts'
import type { BoundFeature, Feature } from './features/feature.ts'
import { findFeatures } from './features/find-features.ts'
import { ports } from './features/ports.ts'
import type { Resolve } from './features/token.ts'
import { admissionLimits } from './hooks/admission-control.ts'
import { transportLimits } from './server/transport-limits.ts'
import { type Opening, openParts, type Registry } from './start.ts'

export type { Get } from './container/dependencies.ts'

/** What stands in a container in the place of what it would make. */
export type Replacements = Partial<Dependencies>

/**
 * The service with all its dependencies and its features, bound to what they need. `close` waits for the running dispatches, then closes
 * everything that was opened. `find`: what features provide.
 */
export type App = { get: Get, find: Resolve, features: readonly BoundFeature[], close: () => Promise<void> }

/**
 * How each dependency is created from others, when it is first requested. tsyringe's decorators inject into constructors of classes, by
 * types that Node's type stripping removes. The dependencies are made by functions, so factories are registered by name.
 */
const factories: Factories<keyof Dependencies> = {
  newId: () => () => randomUUIDv7(),
  transportLimits: () => transportLimits,
  admissionLimits: () => admissionLimits,
  othersLately: () => createRecentOthers(othersWork),
  traces: () => undefined,
  leaving: () => new AbortController(),
  freshness: (get) => createFreshness(get('database')),
  changes: (get) => createChanges({ database: get('database'), dispatchRows: get('dispatchRows'), log: get('log') }),
  ...people,
  ...providers,
  ...documents,
  ...dispatches
}

/**
 * `signal` ends the wait for the database. `time` replaces the database's clock in tests, `load` how they load a provider into the process.
 * `features` replaces those of the installation.
 * Any dependency can be replaced under its name.
 */
export type AppOptions = Opening & { features?: readonly Feature[] } & Replacements

/**
 * Opens the database (`databaseUrl`), waits until it can be reached, migrates its schema, loads the providers and creates the dependencies.
 * Throws an error with one clear sentence; then nothing is left open.
 */
export async function createApp (
  config: Config,
  { databaseUrl, log, signal, databaseLimits, time, features: given, load, ...replacements }: AppOptions
): Promise<App> {
  const found = given ?? await findFeatures()
  const registry = createRegistry(found, replacements)
  const opened = new AsyncDisposableStack()
  try {
    await openParts({ ...registry, config, opened, found, replacements, opening: { databaseUrl, log, signal, databaseLimits, time, load } })
  } catch (error) {
    // An error while closing must not hide the error that ended the start.
    await opened.disposeAsync().catch((after: unknown) => {
      log.warn({ err: after }, 'the service could not be closed after a failed start')
    })
    throw error
  }
  const { get, find, features } = registry
  return { get, find, features, close: () => opened.disposeAsync() }
}

/** The container: what the factories and the features make, and what a start puts beside it. Throws where two bring the same. */
function createRegistry (found: readonly Feature[], replacements: Replacements): Registry {
  const dependencies = container.createChildContainer()
  const ofFeatures = new Map<string, string>()
  const requireFree = (name: string): void => {
    const feature = ofFeatures.get(name)
    if (feature !== undefined) throw new Error(`The feature "${feature}" provides "${name}", which the service itself has.`)
  }
  const registry: Registry = {
    get: (name) => dependencies.resolve(name),
    find: ({ name }) => dependencies.resolve(name),
    put (name, dependency) {
      requireFree(name)
      if (!Object.hasOwn(replacements, name)) dependencies.registerInstance(name, dependency)
    },
    features: found.map((feature): BoundFeature => feature.bind((token) => registry.find(token)))
  }
  const { get, features } = registry
  for (const name of Object.keys(factories) as (keyof Dependencies)[]) {
    dependencies.register(name, { useFactory: instanceCachingFactory(() => factories[name]?.(get)) })
  }
  for (const { name: feature, provisions } of features) {
    for (const { name, create } of provisions) {
      ofFeatures.set(name, feature)
      if (Object.hasOwn(factories, name)) requireFree(name)
      dependencies.register(name, { useFactory: instanceCachingFactory(create) })
    }
  }
  const [lacking] = Object.keys(ports).filter((name) => !ofFeatures.has(name))
  if (lacking !== undefined) throw new Error(`No feature provides "${lacking}", without which no service is started.`)
  for (const [name, dependency] of Object.entries(replacements)) dependencies.registerInstance(name, dependency)
  return registry
}

/** For how many milliseconds a company is at work that has begun a request. */
const othersWork = 1_000

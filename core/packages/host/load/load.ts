import { errorMessageOf, type JsonObject, withTimeLimit } from '@dispatch/common'
import { deliveryServices } from '@dispatch/contract'
import { serviceNames } from '@dispatch/services'
import { basename, relative } from 'node:path'
import { runAs } from '../contain/stray-errors.ts'
import { type CheckContext, checkContextOf } from '../manifest/context.ts'
import { deriveManifest } from '../manifest/derive.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AnyProviderCheck, ProviderChecks } from '../manifest/provider-check.ts'
import { type EventReader, type EventReaders, isVerb, type Verb, verbNames, type Verbs } from '../manifest/verbs.ts'
import type { SettingsMigration } from '../settings/migration.ts'
import { LoadTimeout, ProviderLoadError } from './load-error.ts'
import { importAnew } from './modules.ts'
import { readPackage } from './package.ts'
import type { Publisher } from './pins.ts'
import { placeIn } from './place.ts'

/** A loaded provider. It never changes: another version of its folder is another object. */
export type InstalledProvider = Readonly<{
  state: 'installed'
  /** The real path of the folder. */
  folder: string
  code: string
  version: string
  /** The SHA-256 of the folder. */
  digest: string
  publisher: Publisher
  /** It comes from elsewhere than the directories, and an operator can remove it while the service runs. */
  isAdapter?: true
  /** The companies that it is offered to; all unless given. */
  companies?: readonly number[]
  /** The older version that it has replaced: it serves the configurations that only it accepts. */
  before?: InstalledProvider
  manifest: Manifest
  verbs: Verbs
  /** Asks the vendor whether the credentials work, of a provider that can. */
  check?: Verb
  /** Asks the vendor which values a setting may have, of each setting that has suggestions. */
  suggestions: Readonly<Partial<Record<string, Verb>>>
  /** Makes its settings of those of an older version, of an adapter that can. */
  migrateSettings?: SettingsMigration
  /** The check of a request before anything is made, of each service that has one. */
  checks: ProviderChecks
  /** The function that reads the events, of each webhook. */
  eventReaders: EventReaders
}>

/**
 * Loads the provider in a folder (a real path). Throws a {@link ProviderLoadError} when the folder is not a provider, when its code throws,
 * or when it takes longer than `limit` seconds. A module that blocks the process cannot be stopped here: `trials.ts` tries folders first.
 */
export async function loadProvider (folder: string, digest: string, limit: number): Promise<InstalledProvider> {
  const { version, entry, publisher } = await readPackage(folder)
  const definition = defaultOf(await importWithin(folder, entry, limit))
  const fit = deriveManifest(definition, version)
  if (!fit.ok) {
    throw new ProviderLoadError(`Invalid manifest: ${fit.problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' ')}`, {
      ...codeIn(definition),
      place: relative(folder, entry)
    })
  }
  const { code } = fit.value
  return Object.freeze({
    state: 'installed',
    folder,
    code,
    version,
    digest,
    publisher,
    manifest: fit.value,
    verbs: verbsOf(definition),
    ...checkOf(definition),
    suggestions: suggestionsOf(definition, fit.value),
    checks: checksOf(definition),
    eventReaders: readersOf(definition)
  })
}

async function importWithin (folder: string, entry: string, limit: number): Promise<unknown> {
  try {
    return await withTimeLimit(limit * 1000, runAs({ provider: basename(folder) }, () => importAnew(folder, entry)), () =>
      new LoadTimeout(limit))
  } catch (cause) {
    throw cause instanceof ProviderLoadError
      ? cause
      : new ProviderLoadError(`It throws an error when it is loaded: ${errorMessageOf(cause)}`, {
        cause,
        place: cause instanceof Error ? placeIn(cause.stack ?? '', folder) : undefined
      })
  }
}

function defaultOf (module: unknown): unknown {
  return field(module, 'default')
}

function codeIn (definition: unknown): { code?: string } {
  const code = field(definition, 'code')
  return typeof code === 'string' ? { code } : {}
}

/** The verbs of every service, each bound to its own object. */
function verbsOf (definition: unknown): Verbs {
  const services = field(definition, 'services')
  return Object.fromEntries(serviceNames.map((name) => [name, boundVerbs(field(services, name))]))
}

function checkOf (definition: unknown): { check?: Verb } {
  const check = field(definition, 'check')
  return isVerb(check) ? { check: asking(check.bind(definition)) } : {}
}

function suggestionsOf (definition: unknown, { suggestions: names = [] }: Manifest): InstalledProvider['suggestions'] {
  const all = field(definition, 'suggestions')
  return Object.fromEntries(names.flatMap((name) => {
    const suggest = field(all, name)
    return isVerb(suggest) ? [[name, asking(suggest.bind(all))]] : []
  }))
}

/** A function that asks the vendor about the settings. */
function asking (bound: unknown): Verb {
  const ask = bound as (context: CheckContext<JsonObject>) => unknown
  return (_request, context) => ask(checkContextOf(context))
}

function checksOf (definition: unknown): ProviderChecks {
  const services = field(definition, 'services')
  return Object.fromEntries(serviceNames.flatMap((name): [string, AnyProviderCheck][] => {
    const service = field(services, name)
    const check = field(service, 'check')
    if (!isVerb(check)) return []
    const bound = check.bind(service) as unknown as AnyProviderCheck
    return [[name, (requested, known) => bound(requested, known)]]
  }))
}

function readersOf (definition: unknown): EventReaders {
  const webhooks = field(definition, 'webhooks')
  return Object.fromEntries(deliveryServices.flatMap((service): [string, EventReader][] => {
    const webhook = field(webhooks, service)
    const read = field(webhook, 'read')
    if (!isVerb(read)) return []
    const bound = read.bind(webhook) as unknown as EventReader
    return [[service, (event) => bound(event)]]
  }))
}

function boundVerbs (service: unknown): Partial<Record<string, Verb>> {
  return Object.fromEntries(verbNames.flatMap((name) => {
    const verb = field(service, name)
    return isVerb(verb) ? [[name, onlyRequested(verb.bind(service))]] : []
  }))
}

/** A verb that is given its request and its context, and nothing of who calls. */
function onlyRequested (verb: Verb): Verb {
  return (request, context) => verb(request, context)
}

function field (value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

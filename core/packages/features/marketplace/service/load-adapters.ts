import { errorMessageOf, type Log } from '@dispatch/common'
import type { ProviderSource } from '@dispatch/core/source'
import type { Database } from '@dispatch/database'
import { type InstalledProvider, isSamePublisher, publisherInWords, sdkVersion } from '@dispatch/host'
import { isForSdk } from '@dispatch/marketplace'
import type { Sandbox } from '@dispatch/sandbox'
import { failureError } from '@dispatch/vendor-io/outcome'
import { isDeepStrictEqual } from 'node:util'
import { type InstalledAdapter, listInstalledAdapters, type RunnablePackage } from '../store/adapters.ts'
import { rolesOf } from '../store/roles.ts'
import type { AdapterFiles } from './adapter-files.ts'
import { crashCounter } from './crashes.ts'
import { type LockedAdapter, lockedOut, type LockFile } from './lock-file.ts'
import { asSentence } from './sentence.ts'
import { entryName } from './try-package.ts'

type Entry = Awaited<ReturnType<ProviderSource['load']>>[number]
type LoadedAdapter = Extract<Entry, { state: 'installed' }>

type AdapterHost = { database: Database, files: AdapterFiles, lock: LockFile, sandbox: () => Promise<Sandbox>, log: Log }

/**
 * Loads the adapters that the database wants to run. Nothing of them runs until they are called: what they say of themselves is known from
 * when they were taken in. One that cannot be loaded is refused, and does not affect the others; its loaded version stays in service.
 */
export function createAdapterLoader (host: AdapterHost): ProviderSource['load'] {
  let loaded: ReadonlyMap<string, LoadedAdapter> = new Map()
  return async () => {
    const desired = await listInstalledAdapters(host.database)
    const locked = await host.lock.read().catch(errorMessageOf)
    const entries = (await Promise.all(desired.map((adapter) => entriesOf(host, adapter, { running: loaded.get(adapter.code), locked }))))
      .flat()
    loaded = new Map(entries.flatMap((entry) => entry.state === 'installed' ? [[entry.code, entry]] : []))
    if (typeof locked !== 'string') await relock(host, desired, { locked, loaded })
    return entries
  }
}

/** What runs is locked, and what can be rolled back to; what was locked stays so for as long as it is one of them. */
async function relock (
  { lock, log }: Pick<AdapterHost, 'lock' | 'log'>,
  desired: readonly InstalledAdapter[],
  { locked, loaded }: { locked: readonly LockedAdapter[], loaded: ReadonlyMap<string, InstalledProvider> }
): Promise<void> {
  const kept = desired.flatMap(({ code, taken, previous }) =>
    [taken, previous].flatMap((wished) => {
      if (wished === undefined) return []
      const { version, integrity } = wished
      const known = locked.find((one) => one.code === code && one.version === version)
      const isTrusted = wished !== taken || loaded.get(code)?.digest === integrity
      return known ?? (isTrusted ? { code, version, integrity } : [])
    })
  )
  await lock.write(kept).catch((err: unknown) => {
    log.error({ err }, 'the file that locks the adapters could not be written')
  })
}

/** Forgets what is not installed any more, where no process of the service follows that. */
export async function unlockRemoved ({ database, lock, log }: Pick<AdapterHost, 'database' | 'lock' | 'log'>): Promise<void> {
  const installed = new Set((await listInstalledAdapters(database)).map(({ code }) => code))
  await lock.read().then((locked) => lock.write(locked.filter(({ code }) => installed.has(code)))).catch((err: unknown) => {
    log.error({ err }, 'the file that locks the adapters could not be written')
  })
}

/** `running`: what this process has loaded. `locked`: what has run on this machine, or why nobody knows. */
type Known = { running: LoadedAdapter | undefined, locked: readonly LockedAdapter[] | string }

async function entriesOf (
  host: AdapterHost,
  adapter: InstalledAdapter,
  { running, locked }: Known
): Promise<Entry[]> {
  const { code, companies } = adapter
  const { running: taken, beside: before } = rolesOf(adapter.taken, availableBefore(adapter))
  const { integrity } = taken
  const refused = { state: 'refused', folder: integrity, code, ...(companies !== null && { companies }) } as const
  const notice = noticeOf(adapter, taken)
  if (notice !== undefined) return [{ ...refused, reason: notice, notice }]
  const reason = obstacleOf(adapter, taken)
  if (reason !== undefined) return [{ ...refused, reason }]
  if (running !== undefined && isStill(running, { taken, companies }, before)) return [running]
  const lockedReason = typeof locked === 'string' ? locked : lockedOut(locked, taken)
  // What was revoked is no way out where the one before cannot run.
  const stays = running === undefined || (taken !== adapter.taken && running.digest === adapter.taken.integrity) ? [] : [running]
  if (lockedReason !== undefined) return [...stays, { ...refused, reason: lockedReason }]
  try {
    return [await load(host, { taken, companies }, before)]
  } catch (error) {
    return [...stays, { ...refused, reason: errorMessageOf(error) }]
  }
}

/** Why an adapter is not to run, in a sentence for everybody. */
function noticeOf ({ code, enabled }: InstalledAdapter, { version, revoked }: RunnablePackage): string | undefined {
  if (revoked !== null) return `Version ${version} of the provider "${code}" was revoked: ${asSentence(revoked)}`
  return enabled ? undefined : `The operator of the service has disabled the provider "${code}".`
}

/** Why a version may not run here, in a sentence for operators. */
function obstacleOf ({ code, pin }: InstalledAdapter, { sdk, publisher }: RunnablePackage): string | undefined {
  if (!isForSdk(sdk, sdkVersion)) return `It is made for @dispatch/core ${sdk}, but this is ${sdkVersion}.`
  if (pin === undefined || isSamePublisher(pin, publisher)) return undefined
  return `The code "${code}" belongs to ${publisherInWords(pin)}; this is ${publisherInWords(publisher)}.`
}

/** The version before, where it may run here. */
function availableBefore (adapter: InstalledAdapter): RunnablePackage | undefined {
  const { previous } = adapter
  return previous === undefined || obstacleOf(adapter, previous) !== undefined ? undefined : previous
}

/** What is loaded of an adapter: a version, and to whom it is offered. */
type Desired = Pick<InstalledAdapter, 'taken' | 'companies'>

function isStill (running: InstalledProvider, { taken, companies }: Desired, before: RunnablePackage | undefined): boolean {
  return running.digest === taken.integrity && running.before?.digest === before?.integrity &&
    isDeepStrictEqual(running.companies ?? null, companies)
}

async function load (
  host: AdapterHost,
  { companies, taken }: Desired,
  replaced: RunnablePackage | undefined
): Promise<LoadedAdapter> {
  await host.files.place(taken)
  const provider = await open(host, taken)
  const before = replaced && await open(host, replaced)
  return Object.freeze({ ...provider, isAdapter: true, ...(companies !== null && { companies }), ...(before !== undefined && { before }) })
}

/** A version of an adapter. Its files are verified before each start of its process. */
async function open ({ files, sandbox, database, log }: AdapterHost, version: RunnablePackage): Promise<InstalledProvider> {
  const { code, integrity, definition, publisher } = version
  const verify = async (): Promise<void> => {
    await files.place(version).catch((err: unknown) => {
      log.error({ err, provider: code, version: version.version }, 'the files of an adapter are not what was taken in')
      throw failureError({ word: 'provider_unavailable', message: `The provider "${code}" cannot be started here.`, ours: true }, err)
    })
  }
  const folder = files.folderOf(integrity)
  const onCrash = crashCounter({ database, log }, integrity)
  const place = { folder, digest: integrity, version: version.version, publisher, entry: `${folder}/${entryName}`, verify, onCrash }
  return (await sandbox()).open(place, definition)
}

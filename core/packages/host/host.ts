import type { Log } from '@dispatch/common'
import { resolve } from 'node:path'
import { discover, type ProviderEntry, type RefusedFolder } from './load/discover.ts'
import { type InstalledProvider, loadProvider } from './load/load.ts'
import { createMemoryPins, type Pins } from './load/pins.ts'
import { createTrials, memoryOfTrials, noTrials, type PassedTrials } from './load/trials.ts'

/** The providers of this process. */
export type Host = {
  /** The installed providers by code, then the refused folders by name. A folder whose new version is refused is in both. */
  entries: () => readonly ProviderEntry[]
  find: (code: string) => InstalledProvider | undefined
  /**
   * Reads the directories again. A changed folder is loaded again, an unchanged one keeps its object, and a removed one disappears. Calls
   * in progress keep their object. Reloads run one after the other.
   */
  reload: () => Promise<readonly ProviderEntry[]>
}

/** An installed provider that comes from elsewhere than the directories. */
export type InstalledAdapter = InstalledProvider & { isAdapter: true }

/** The providers that come from elsewhere than the directories. What has not changed keeps its object. */
export type OtherProviders = () => Promise<readonly (InstalledAdapter | RefusedFolder)[]>

/**
 * `loadLimit`: the time limit in seconds for loading one provider. `load` loads a provider into this process in another way, `loadOutside`
 * into a process of its own. By default pins and passed trials are kept for as long as the process runs. A code of a directory's provider
 * is refused to `others`, and one of the first of them to the later ones.
 */
export type HostOptions = {
  directories: readonly string[]
  others?: readonly OtherProviders[]
  log: Log
  loadLimit?: number
  load?: typeof loadProvider
  loadOutside?: typeof loadProvider
  pins?: Pins
  passedTrials?: PassedTrials
}

/** Loads each subfolder of the directories that holds a provider. A refused folder becomes an entry and a log line. */
export async function createHost ({
  directories,
  others = [],
  log,
  loadLimit = 10,
  load = loadProvider,
  loadOutside,
  pins = createMemoryPins(),
  passedTrials = memoryOfTrials
}: HostOptions): Promise<Host> {
  const roots = directories.map((directory) => resolve(directory))
  // What is loaded into a process of its own needs no trial: nothing of it runs here.
  const trials = loadOutside === undefined ? createTrials({ passed: passedTrials, limit: loadLimit, log }) : noTrials
  let entries: readonly ProviderEntry[] = []
  let installed: ReadonlyMap<string, InstalledProvider> = new Map()
  let turn: Promise<readonly ProviderEntry[]> = Promise.resolve([])

  async function scan (): Promise<readonly ProviderEntry[]> {
    const own = await discover(roots, { serving: installed, pins, trials, load: loadOutside ?? load, loadLimit })
    const found: ProviderEntry[] = [...own]
    for (const other of others) found.push(...yielding(await other(), found.filter(isInstalled)))
    found.sort(byCodeThenFolder)
    report(log, entries, found)
    entries = found
    installed = new Map(found.filter(isInstalled).map((entry) => [entry.code, entry]))
    return entries
  }

  function reload (): Promise<readonly ProviderEntry[]> {
    turn = turn.then(scan, scan)
    return turn
  }

  await reload()
  return { entries: () => entries, find: (code) => installed.get(code), reload }
}

/** The same providers without one, which is not available to everybody. */
export function withoutProvider (host: Host, code: string): Host {
  return onlyThose(host, (entry) => entry.code !== code)
}

/** The same providers without those that are not offered to a company. */
export function offeredTo (host: Host, companyId: number): Host {
  return onlyThose(host, ({ companies }) => companies === undefined || companies.includes(companyId))
}

/** What everybody may be told of why a provider does not run; undefined where there is nothing to tell. */
export function noticeOf (host: Host, code: string): string | undefined {
  return host.entries().flatMap((entry) => entry.state === 'refused' && entry.code === code ? [entry.notice] : [])
    .find((notice) => notice !== undefined)
}

function onlyThose (host: Host, isThere: (entry: ProviderEntry) => boolean): Host {
  return {
    entries: () => host.entries().filter(isThere),
    find (code) {
      const provider = host.find(code)
      return provider !== undefined && isThere(provider) ? provider : undefined
    },
    reload: async () => (await host.reload()).filter(isThere)
  }
}

/** What comes from elsewhere, refused where somebody else has a provider with the same code. */
function yielding (others: readonly ProviderEntry[], own: readonly InstalledProvider[]): ProviderEntry[] {
  return others.map((entry) => {
    const holder = entry.state === 'installed' ? own.find(({ code }) => code === entry.code) : undefined
    if (holder === undefined) return entry
    const { folder, code } = entry
    const place = holder.isAdapter === true ? 'another source of providers' : `${holder.folder}, a folder of the providers' directory`
    const reason = `The code "${code}" belongs to ${place}.`
    return { state: 'refused', folder, ...(code !== undefined && { code }), reason }
  })
}

function report (log: Log, before: readonly ProviderEntry[], after: readonly ProviderEntry[]): void {
  const reported = new Set(before)
  for (const entry of after) {
    // A folder with a notice is refused on purpose.
    if (entry.state === 'refused' && entry.notice === undefined) {
      const { folder, code, reason, place } = entry
      log.error({ folder, code, reason, place }, 'provider refused')
    }
  }
  const fresh = after.filter(isInstalled).filter((entry) => !reported.has(entry))
  if (fresh.length > 0) log.info({ providers: fresh.map(({ code, version }) => `${code} ${version}`) }, 'providers installed')
  const codes = new Set(after.filter(isInstalled).map(({ code }) => code))
  for (const { code, folder } of before.filter(isInstalled)) {
    if (!codes.has(code)) log.warn({ folder, code }, 'provider removed')
  }
}

function isInstalled (entry: ProviderEntry): entry is InstalledProvider {
  return entry.state === 'installed'
}

function byCodeThenFolder (a: ProviderEntry, b: ProviderEntry): number {
  return rank(a) < rank(b) ? -1 : 1
}

function rank (entry: ProviderEntry): string {
  return entry.state === 'installed' ? `0 ${entry.code}` : `1 ${entry.folder}`
}

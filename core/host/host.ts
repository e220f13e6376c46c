import { resolve } from 'node:path'
import { discover, type Entry } from './load/discover.ts'
import type { Installed } from './load/load.ts'
import type { Log } from './call/log.ts'

/** The providers of this process. */
export type Host = {
  /** Installed ones by code, then refused ones by folder. */
  entries: () => readonly Entry[]
  find: (code: string) => Installed | undefined
  /**
   * Reads the directories again: a changed folder is loaded afresh, an unchanged one stays what it is, a removed one is
   * found no more. Calls in flight keep the object that they began with. One reload at a time.
   */
  reload: () => Promise<readonly Entry[]>
}

/** `loadLimit`: seconds that one provider may take to load. */
export type HostOptions = { directories: readonly string[], log: Log, loadLimit?: number }

/** Takes every subfolder of the directories that holds a provider. What is refused is an entry and a line of the log. */
export async function createHost ({ directories, log, loadLimit = 10 }: HostOptions): Promise<Host> {
  const roots = directories.map((directory) => resolve(directory))
  let entries: readonly Entry[] = []
  let installed: ReadonlyMap<string, Installed> = new Map()
  let turn: Promise<readonly Entry[]> = Promise.resolve([])

  async function scan (): Promise<readonly Entry[]> {
    const known = new Map(entries.filter(isInstalled).map((entry) => [entry.folder, entry]))
    const found = (await discover(roots, { known, loadLimit })).sort(byCodeThenFolder)
    report(log, entries, found)
    entries = found
    installed = new Map(found.filter(isInstalled).map((entry) => [entry.code, entry]))
    return entries
  }

  function reload (): Promise<readonly Entry[]> {
    turn = turn.then(scan, scan)
    return turn
  }

  await reload()
  return { entries: () => entries, find: (code) => installed.get(code), reload }
}

/** The same providers without one that is not for everybody. */
export function withoutProvider (host: Host, code: string): Host {
  const others = (entries: readonly Entry[]): readonly Entry[] => entries.filter((entry) => entry.code !== code)
  return { entries: () => others(host.entries()), find: (wanted) => wanted === code ? undefined : host.find(wanted), reload: async () => others(await host.reload()) }
}

function report (log: Log, before: readonly Entry[], after: readonly Entry[]): void {
  const told = new Set(before)
  for (const entry of after) {
    if (entry.state === 'refused') log.error({ folder: entry.folder, code: entry.code, reason: entry.reason }, 'provider refused')
  }
  const fresh = after.filter(isInstalled).filter((entry) => !told.has(entry))
  if (fresh.length > 0) log.info({ providers: fresh.map(({ code, version }) => `${code} ${version}`) }, 'providers installed')
  const codes = new Set(after.filter(isInstalled).map(({ code }) => code))
  for (const { code, folder } of before.filter(isInstalled)) {
    if (!codes.has(code)) log.warn({ folder, code }, 'provider removed')
  }
}

function isInstalled (entry: Entry): entry is Installed {
  return entry.state === 'installed'
}

function byCodeThenFolder (a: Entry, b: Entry): number {
  return rank(a) < rank(b) ? -1 : 1
}

function rank (entry: Entry): string {
  return entry.state === 'installed' ? `0 ${entry.code}` : `1 ${entry.folder}`
}

import { errorMessageOf } from '@dispatch/common'
import { folderDigest, providerFolders, realFolder } from './folder.ts'
import { LoadTimeout, ProviderLoadError, refusedAsSlow } from './load-error.ts'
import type { InstalledProvider, loadProvider } from './load.ts'
import { readPackage } from './package.ts'
import { isSamePublisher, type Pin, type Pins, publisherInWords } from './pins.ts'
import { loadTimeoutFactor, type Trial, type TrialFolder, type Trials } from './trials.ts'

/**
 * A folder (or a whole directory) that was refused, with the reason. `place`: the file and line in it. `notice`: what everybody may be
 * told. `companies`: those that it is offered to; all unless given.
 */
export type RefusedFolder = Readonly<{
  state: 'refused'
  folder: string
  code?: string
  reason: string
  place?: string
  notice?: string
  companies?: readonly number[]
}>
export type ProviderEntry = InstalledProvider | RefusedFolder

/** `serving`: the loaded providers by code. `load` loads one provider. `loadLimit` is in seconds. */
type Reading = {
  serving: ReadonlyMap<string, InstalledProvider>
  pins: Pins
  trials: Trials
  load: typeof loadProvider
  loadLimit: number
}

/** A changed folder, not loaded yet. */
type Changed = TrialFolder & { state: 'changed' }

/**
 * All provider folders of the directories. A folder is loaded, or keeps its provider if nothing in it has changed. A broken folder is
 * refused and does not affect the others; its loaded version stays in service. Of several providers with the same code the loaded one wins,
 * then the one that was installed first.
 */
export async function discover (directories: readonly string[], reading: Reading): Promise<ProviderEntry[]> {
  const found = (await Promise.all(directories.map((directory) => readDirectory(directory, reading)))).flat()
  const trials = await reading.trials(found.filter((entry) => entry.state === 'changed'))
  const loaded = await Promise.all(
    found.map(async (entry) => entry.state === 'changed' ? await loadChanged(entry, trials.get(entry.folder), reading) : entry)
  )
  return await assignCodes(loaded, reading)
}

async function readDirectory (directory: string, reading: Reading): Promise<(ProviderEntry | Changed)[]> {
  try {
    const folders = await providerFolders(directory)
    return await Promise.all(folders.map((folder) => readFolder(directory, folder, reading)))
  } catch (cause) {
    return [{ state: 'refused', folder: directory, reason: `The directory cannot be read: ${errorMessageOf(cause)}` }]
  }
}

async function readFolder (directory: string, folder: string, { serving }: Reading): Promise<ProviderEntry | Changed> {
  let real = folder
  try {
    real = await realFolder(directory, folder)
    const digest = await folderDigest(real)
    const before = serving.values().find((provider) => provider.folder === real)
    return before?.digest === digest ? before : { state: 'changed', folder: real, digest, entry: (await readPackage(real)).entry }
  } catch (error) {
    return refusedFolder(real, error)
  }
}

async function loadChanged ({ folder, digest }: Changed, trial: Trial = {}, { load, loadLimit }: Reading): Promise<ProviderEntry> {
  if (trial.fault !== undefined) return { state: 'refused', folder, reason: trial.fault }
  try {
    return await load(folder, digest, loadTimeoutFactor * loadLimit)
  } catch (error) {
    // Node tells where a syntax error is only when it ends a process, that of the trial.
    return refusedFolder(folder, error, trial.place)
  }
}

function refusedFolder (folder: string, error: unknown, otherPlace?: string): RefusedFolder {
  const { code, place = otherPlace } = error instanceof ProviderLoadError ? error : {}
  const known = { ...(code !== undefined && { code }), ...(place !== undefined && { place }) }
  return { state: 'refused', folder, reason: error instanceof LoadTimeout ? refusedAsSlow(error) : errorMessageOf(error), ...known }
}

/** One provider for each code; what is refused is listed after it. */
async function assignCodes (found: readonly ProviderEntry[], { serving, pins }: Reading): Promise<ProviderEntry[]> {
  const loaded = found.filter((entry) => entry.state === 'installed')
  const assigned: ProviderEntry[] = []
  for (const code of new Set([...loaded, ...serving.values()].map((entry) => entry.code))) {
    const candidates = loaded.filter((entry) => entry.code === code)
    assigned.push(...await assignCode(code, candidates, goesOn(found, serving.get(code)), pins))
  }
  return [...assigned, ...found.filter((entry) => entry.state === 'refused')]
}

/** The version that serves, as long as its folder is there and has not become another provider. */
function goesOn (found: readonly ProviderEntry[], before: InstalledProvider | undefined): InstalledProvider | undefined {
  const now = found.find(({ folder }) => folder === before?.folder)
  return now === undefined || (now.state === 'installed' && now.code !== before?.code) ? undefined : before
}

async function assignCode (
  code: string,
  candidates: readonly InstalledProvider[],
  before: InstalledProvider | undefined,
  pins: Pins
): Promise<ProviderEntry[]> {
  const first = before ?? candidates[0]
  if (first === undefined) return []
  const pin = await pins.claim(code, { ...first.publisher, folder: first.folder })
  const own = candidates.filter(({ publisher }) => isSamePublisher(publisher, pin))
  const holder = own.find(({ folder }) => folder === before?.folder) ??
    [before].find((entry) => entry !== undefined && isSamePublisher(entry.publisher, pin)) ??
    own.find(({ folder }) => folder === pin.folder) ?? own[0]
  const refused = candidates.filter((entry) => entry !== holder).map(({ folder, publisher }): RefusedFolder => ({
    state: 'refused',
    folder,
    code,
    reason: holder !== undefined && isSamePublisher(publisher, pin)
      ? `The code "${code}" belongs to ${holder.folder}, which was installed first.`
      : foreign(code, publisher, pin)
  }))
  return holder === undefined ? refused : [holder, ...refused]
}

function foreign (code: string, publisher: InstalledProvider['publisher'], pin: Pin): string {
  return `The code "${code}", and the secrets that are stored for it, belong to ${publisherInWords(pin)}; ` +
    `this is ${publisherInWords(publisher)}. An operator may give them to it: npm run dispatch -- providers accept ${code} ` +
    [publisher.packageName, publisher.author].filter((text) => text !== null).map(quoted).join(' ')
}

/** A word of a shell's command: a folder could say anything, and operators copy the command. */
function quoted (text: string): string {
  return `'${text.replaceAll('\'', '\'\\\'\'')}'`
}

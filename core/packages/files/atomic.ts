import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { draftEnding, isMissing, makeFolder, writeAtomically } from './files.ts'

/** Files with one ending in a folder. Each is complete or not there, whenever its process dies. Several processes may share the folder. */
export type AtomicFiles = {
  /** Resolves when the file is safe against a power failure. A file that could not be written leaves nothing behind. */
  write: (name: string, text: string) => Promise<void>
  /** How many files there are, and how many were set aside. */
  count: () => Promise<SpoolCounts>
  /** The names of the files, sorted. */
  names: () => Promise<string[]>
  /**
   * Calls `take` with what `read` makes of each file, in the order of their names. Where `read` throws, the file is set aside. A file that
   * the disk cannot read stays. Another process may drain the same files. None of this stops the others. Rejects where `take` rejects.
   */
  drain: <Content>(read: (text: string) => Content, take: (content: Content) => Promise<DrainResult>) => Promise<void>
}

/** Files of a spool: those that wait, and those that were set aside. */
export type SpoolCounts = { waiting: number, unreadable: number, unknown: number }

/** What to do with a file: remove it (`done`), keep it (`later`), or set it aside and log these facts (`unknown`). */
export type DrainResult = 'done' | 'later' | { unknown: object }

/** Milliseconds after which a draft is abandoned. Writing takes seconds, but the process may have been stopped meanwhile. */
export const draftLifetime = 24 * 3600 * 1000

type Log = Record<'warn' | 'error', (facts: object, message: string) => void>

/** Opens the folder, and makes it where it is missing. `ending`: with its dot. */
export async function openAtomicFiles ({ folder, ending, log }: { folder: string, ending: string, log: Log }): Promise<AtomicFiles> {
  await makeFolder(folder)
  const pathOf = (name: string): string => join(folder, name)
  /** Files whose failure was logged. */
  const reported = new Set<string>()

  /** Answers undefined where another process was faster, or the disk refuses. */
  async function attempt<T> (name: string, work: Promise<T>): Promise<T | undefined> {
    try {
      return await work
    } catch (error) {
      if (isMissing(error) || reported.has(name)) return undefined
      reported.add(name)
      log.error({ err: error, file: pathOf(name) }, 'nothing can be done with a file of the spool; it stays')
      return undefined
    }
  }

  /** Renames a file, so that it is not read again. */
  async function setAside (name: string, why: 'unreadable' | 'unknown', facts: object): Promise<void> {
    const aside = pathOf(`${name}.${why}`)
    const isMine = await attempt(name, rename(pathOf(name), aside).then(() => true))
    if (isMine === true) log.error({ ...facts, file: aside }, `a file of the spool is ${why}; it is set aside`)
  }

  async function removeDraft (name: string): Promise<void> {
    const { mtimeMs } = await stat(pathOf(name))
    if (Date.now() - mtimeMs < draftLifetime) return
    await rm(pathOf(name), { force: true })
    log.warn({ file: pathOf(name) }, 'a draft that a process left when it ended is removed')
  }

  async function drainOne<Content> (
    name: string,
    read: (text: string) => Content,
    take: (content: Content) => Promise<DrainResult>
  ): Promise<void> {
    const text = await attempt(name, readFile(pathOf(name), 'utf8'))
    if (text === undefined) return
    let content: Content
    try {
      content = read(text)
    } catch (error) {
      return setAside(name, 'unreadable', { err: error })
    }
    const taken = await take(content)
    if (taken === 'done') await attempt(name, rm(pathOf(name), { force: true }))
    else if (taken !== 'later') await setAside(name, 'unknown', taken.unknown)
  }

  const namesWith = async (end: string): Promise<string[]> => (await readdir(folder)).filter((name) => name.endsWith(end)).sort()
  return {
    async write (name, text) {
      await writeAtomically(pathOf(name), (file) => file.writeFile(text))
    },
    async count () {
      const all = await readdir(folder)
      const ended = (end: string): number => all.filter((name) => name.endsWith(end)).length
      return { waiting: ended(ending), unreadable: ended(`${ending}.unreadable`), unknown: ended(`${ending}.unknown`) }
    },
    names: () => namesWith(ending),
    async drain (read, take) {
      for (const name of await namesWith(ending + draftEnding)) await attempt(name, removeDraft(name))
      for (const name of await namesWith(ending)) await drainOne(name, read, take)
    }
  }
}

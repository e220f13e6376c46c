import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Log } from '../../host/call/log.ts'
import { draftEnding, isMissing, makeFolder, writeAtomically } from './files.ts'

/** Files of one ending in a folder, each of them whole or not there, whenever their process dies. Processes may share the folder. */
export type AtomicFiles = {
  /** Resolves when the file would survive a loss of power. What could not be written leaves nothing behind. */
  write: (name: string, text: string) => Promise<void>
  /** Their names, sorted. */
  names: () => Promise<string[]>
  /**
   * Hands over what `read` makes of each file, in the order of their names. One that `read` throws at is set aside; one that the
   * disk does not hand out stays; another process may be at the same ones. None of that keeps the others back. Rejects where `take` does.
   */
  drain: <Content>(read: (text: string) => Content, take: (content: Content) => Promise<DrainResult>) => Promise<void>
}

/** What becomes of a file: it is removed, it stays, or it is set aside, with these facts in the log. */
export type DrainResult = 'done' | 'later' | { unknown: object }

/** Milliseconds after which nobody writes a draft any more: a file is written within seconds, and a process may have been stopped. */
export const draftLifetime = 24 * 3600 * 1000

/** Opens the folder, which is made where there is none. `ending`: with its dot. */
export async function openAtomicFiles ({ folder, ending, log }: { folder: string, ending: string, log: Log }): Promise<AtomicFiles> {
  await makeFolder(folder)
  const pathOf = (name: string): string => join(folder, name)
  /** Files of which the log has that nothing can be done with them. */
  const told = new Set<string>()

  /** Undefined where another process was faster, or the disk does not do it. */
  async function attempt<T> (name: string, work: Promise<T>): Promise<T | undefined> {
    try {
      return await work
    } catch (error) {
      if (isMissing(error) || told.has(name)) return undefined
      told.add(name)
      log.error({ err: error, file: pathOf(name) }, 'nothing can be done with a file of the spool; it stays')
      return undefined
    }
  }

  /** Keeps a file from being read again. */
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
      await writeAtomically(pathOf(name), Readable.from([Buffer.from(text)]))
    },
    names: () => namesWith(ending),
    async drain (read, take) {
      for (const name of await namesWith(ending + draftEnding)) await attempt(name, removeDraft(name))
      for (const name of await namesWith(ending)) await drainOne(name, read, take)
    }
  }
}

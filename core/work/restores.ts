import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Log } from '../host/call/log.ts'
import type { Database } from '../store/db/database.ts'
import { draftEnding, type FileStore, readIfThere, writeAtomically } from '../store/db/files.ts'
import { advanceEpoch, beginLineage, type Lineage, readLineage } from '../store/db/lineage.ts'
import { type RepeatingTask, runEvery } from './queue/repeat.ts'

/** What is remembered of a database outside of it. */
type Mark = Pick<Lineage, 'lineage' | 'epoch' | 'before'>

/** A file outside the database, which outlives its restore. `every`: it is written once in so many times that the database advances. */
type MarkPlace = {
  name: string
  read: () => Promise<Uint8Array | undefined>
  write: (bytes: Uint8Array) => Promise<void>
  every: number
}

/** Milliseconds between two times that the database advances: a restore to a moment that is less ago may not be noticed. */
const advancedEvery = 5_000

/** The file, in the folder and in the bucket. */
const file = 'database.json'

/** Of so many times that the database advances, one is remembered in the bucket: once a minute. */
const everyOfBucket = 12

/** Where a process remembers: its data directory, and the bucket of the documents, which a new machine has too. */
export function markPlaces ({ folder, bucket }: { folder: string, bucket?: Pick<FileStore, 'read' | 'put'> }): MarkPlace[] {
  const path = join(folder, file)
  return [
    {
      name: path,
      every: 1,
      read: () => readIfThere(path),
      // Processes may share the folder: each has a draft of its own.
      write: (bytes) => writeAtomically(path, (written) => written.writeFile(bytes), `${path}.${randomUUID()}${draftEnding}`)
    },
    ...bucket === undefined
      ? []
      : [{
        name: `${file} of the bucket`,
        every: everyOfBucket,
        read: () => bucket.read(file),
        write: (bytes: Uint8Array) => bucket.put(file, bytes)
      }]
  ]
}

/** `milliseconds`: between two times that the database advances. */
type Options = { database: Database, places: readonly MarkPlace[], log: Log, milliseconds?: number }

/**
 * Notices where the database was put back to what it was before, now and while the process runs: it is behind what is remembered of it. A
 * process that remembers nothing, such as a new one, finds nothing; so does one whose database was moved as it was.
 */
export async function followRestores ({ database, places, log, milliseconds = advancedEvery }: Options): Promise<RepeatingTask> {
  const lives = new Set<string>()
  let present = await readLineage(database)
  const mark = (): Mark => ({ lineage: present.lineage, epoch: present.epoch, before: [...lives] })

  async function compare (remembered: Mark): Promise<void> {
    present = await readLineage(database)
    const verdict = judge(remembered, present)
    if (verdict === 'other') {
      log.warn({}, 'the data directory was used with another database: if this one was restored from a backup, stop every process, and ' +
        'run "npm run dispatch -- restored" before the next start')
      return
    }
    for (const life of [...remembered.before, remembered.lineage]) lives.add(life)
    if (verdict === 'same') return
    const steps = await beginLineage(database, present)
    if (steps !== undefined) {
      log.error({ restoredTo: present.at, steps },
        'the database was restored: what may have been sent since is looked up, by its key or by a person, before anything of it is sent')
    }
    present = await readLineage(database)
  }

  /** The places that could not be written last time: each is said once. */
  const failing = new Set<string>()
  let times = 0
  async function advance (): Promise<void> {
    let epoch = await advanceEpoch(database, present)
    if (epoch === undefined) {
      await compare(mark())
      epoch = await advanceEpoch(database, present)
    }
    if (epoch === undefined) return
    present = { ...present, epoch }
    for (const life of present.before) lives.add(life)
    lives.delete(present.lineage)
    // Only now, when the database has it on its disk.
    const bytes = Buffer.from(JSON.stringify(mark()))
    for (const { name, write, every } of places) {
      if (times % every > 0) continue
      try {
        await write(bytes)
        if (failing.delete(name)) log.info({ file: name }, 'how far the database is is remembered again')
      } catch (error) {
        if (!failing.has(name)) {
          log.warn({ err: error, file: name }, 'how far the database is could not be remembered: a restore may not be noticed')
        }
        failing.add(name)
      }
    }
    times++
  }

  for (const place of places) {
    const remembered = await readMark(place, log)
    if (remembered !== undefined) await compare(remembered)
  }
  await advance()
  return runEvery(milliseconds, advance, (error) => {
    log.debug({ err: error }, 'how far the database is could not be noted')
  })
}

/** Whether a database is the one that is remembered, is behind it, or is another one. */
function judge (mark: Mark, { lineage, epoch, before }: Lineage): 'same' | 'restored' | 'other' {
  if (mark.lineage === lineage) return mark.epoch > epoch ? 'restored' : 'same'
  // Another process has noticed the restore.
  if (before.includes(mark.lineage)) return 'same'
  return mark.before.includes(lineage) ? 'restored' : 'other'
}

async function readMark ({ name, read }: MarkPlace, log: Log): Promise<Mark | undefined> {
  const bytes = await read()
  if (bytes === undefined) return undefined
  try {
    const { lineage, epoch, before } = JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>
    if (typeof lineage === 'string' && typeof epoch === 'number' && Array.isArray(before)) {
      return { lineage, epoch, before: before.map(String) }
    }
  } catch {
    // It says no more than a file without what is expected.
  }
  log.warn({ file: name }, 'what is remembered of the database cannot be read: it is written anew')
  return undefined
}

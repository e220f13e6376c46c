import type { Log } from '@dispatch/common'
import { advanceEpoch, beginLineage, type Database, type Lineage, markRestored, readLineage } from '@dispatch/database'
import { draftEnding, type FileStore, readIfThere, writeAtomically } from '@dispatch/files'
import { type RepeatingTask, runEvery } from '@dispatch/queue'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

/** What is remembered of a database outside of it. */
type Mark = Pick<Lineage, 'lineage' | 'epoch' | 'before'>

/**
 * A place outside the database, which outlives its restore. `read`: what it remembers of a database in this life. `every`: it is written
 * once in so many milliseconds, at most.
 */
type MarkLocation = {
  name: string
  read: (lineage: string) => Promise<Uint8Array | undefined>
  write: (lineage: string, bytes: Uint8Array) => Promise<void>
  every: number
}

/**
 * Milliseconds between two polls of how far the database has come, and seconds between two notes of that: while something is begun, and
 * while nothing is. So a database that is put back by a second is behind.
 */
const [pollInterval, advanceEvery, idleAdvanceEvery] = [400, 0.35, 5]

/** Milliseconds between two times that the bucket remembers it. */
const bucketEvery = 60_000

/**
 * Where a process remembers: its data directory, and the bucket of the documents, which a new machine has too. The bucket has a file for
 * each life of a database: a copy of it that was restored beside it, as for a drill, has a life and a file of its own.
 */
export function markLocations ({ folder, bucket }: { folder: string, bucket?: Pick<FileStore, 'read' | 'put'> }): MarkLocation[] {
  const path = join(folder, 'database.json')
  return [
    {
      name: path,
      every: 0,
      read: () => readIfThere(path),
      // Processes may share the folder: each has a draft of its own.
      write: (_lineage, bytes) => writeAtomically(path, (written) => written.writeFile(bytes), `${path}.${randomUUID()}${draftEnding}`)
    },
    ...bucket === undefined ? [] : [{ name: 'the bucket of the documents', every: bucketEvery, ...inBucket(bucket) }]
  ]
}

function inBucket (bucket: Pick<FileStore, 'read' | 'put'>): Pick<MarkLocation, 'read' | 'write'> {
  const keyOf = (lineage: string): string => `database/${lineage}.json`
  return {
    // One file for all lives: what the release before has written.
    read: async (lineage) => await bucket.read(keyOf(lineage)) ?? bucket.read('database.json'),
    write: (lineage, bytes) => bucket.put(keyOf(lineage), bytes)
  }
}

/** `milliseconds`: between two looks at how far the database has come. */
type Options = {
  database: Pick<Database, 'vital' | 'session' | 'time' | 'now' | 'life'>
  locations: readonly MarkLocation[]
  log: Log
  milliseconds?: number
}

/**
 * Notices where the database was put back to what it was before, now and while the process runs: it is behind what is remembered of it, or
 * is not the one that is. A process that remembers nothing, such as a new one, finds nothing; so does one whose database was moved as it
 * was. Until it is noticed, the database refuses to begin anything for this process, and then until all that it may have done is marked.
 */
export async function followRestores ({ database, locations, log, milliseconds = pollInterval }: Options): Promise<RepeatingTask> {
  const lives = new Set<string>()
  let present = await readLineage(database)
  const mark = (): Mark => ({ lineage: present.lineage, epoch: present.epoch, before: [...lives] })

  async function compare (remembered: Mark): Promise<void> {
    const found = await readLineage(database)
    const verdict = judge(remembered, found)
    if (verdict === 'same') {
      if (!found.marked) await finishMarking()
    } else {
      // An earlier release began this life: nothing says when its backup was made.
      const to = verdict === 'other' ? found.firstAt : found.at
      if (await beginLineage(database, { lineage: found.lineage, to })) {
        log.error({ restoredTo: to },
          `${reasons[verdict]}: what may have been sent since is looked up, by its key or by a person, before ` +
            'anything of it is sent')
      }
      await finishMarking()
    }
    for (const life of [...remembered.before, remembered.lineage]) lives.add(life)
    present = await readLineage(database)
  }

  async function finishMarking (): Promise<void> {
    const steps = await markRestored(database)
    if (steps !== undefined) log.info({ steps }, 'what the database may have done before it was restored is marked')
  }

  /** The locations that could not be written last time: each is logged once. */
  const failing = new Set<string>()
  /** What each place remembers, and since when. */
  const written = new Map<string, { mark: string, at: number }>()

  async function remember (): Promise<void> {
    const text = JSON.stringify(mark())
    for (const { name, write, every } of locations) {
      const last = written.get(name)
      if (last?.mark === text || (last !== undefined && performance.now() - last.at < every)) continue
      try {
        await write(present.lineage, Buffer.from(text))
        written.set(name, { mark: text, at: performance.now() })
        if (failing.delete(name)) log.info({ file: name }, 'how far the database is is remembered again')
      } catch (error) {
        if (!failing.has(name)) {
          log.warn({ err: error, file: name }, 'how far the database is could not be remembered: a restore may not be noticed')
        }
        failing.add(name)
      }
    }
  }

  async function advance (seconds: number): Promise<void> {
    let further = await advanceEpoch(database, present, seconds)
    if (further === undefined) {
      await compare(mark())
      further = await advanceEpoch(database, present, 0)
    }
    if (further === undefined) return
    const { epoch, advanced } = further
    present = { ...present, epoch }
    database.life.note(present, { advanced })
    for (const life of present.before) lives.add(life)
    lives.delete(present.lineage)
    // Only now, when the database has it on its disk.
    await remember()
  }

  // A process has ended in the middle of it.
  if (!present.marked) await finishMarking()
  for (const { name, read } of locations) {
    const remembered = readMark(name, await read(present.lineage), log)
    if (remembered !== undefined) await compare(remembered)
  }
  await advance(0)
  return runEvery(milliseconds, () => advance(database.life.isBehindWork() ? advanceEvery : idleAdvanceEvery), (error) => {
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

const reasons = {
  restored: 'the database was restored',
  other: 'the database is not the one that was used here before'
} as const

function readMark (name: string, bytes: Uint8Array | undefined, log: Log): Mark | undefined {
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

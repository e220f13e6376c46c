import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Arrival } from '../store/inbound.ts'
import { createGathering } from './gather.ts'

/** Events on the local disk, for as long as the database cannot take them. */
export type EventSpool = {
  /** Resolves when the event is on the disk to stay. */
  put: (arrival: Arrival) => Promise<void>
  /** How many of this process's own events are waiting to be drained. */
  size: () => number
  /** Hands over everything in the order in which it came, group by group, and deletes what was taken. Rejects where `take` does. */
  drain: (take: (arrivals: readonly Arrival[]) => Promise<unknown>) => Promise<void>
}

/** The most events in one file. */
const most = 500

/**
 * A spool in a folder, which may be shared by processes: an event that two of them drain is the same event. Every group of
 * events is one file, written under another name, synced and renamed: a file is whole or not there.
 */
export async function openEventSpool ({ folder, now, newId }: { folder: string, now: () => Date, newId: () => string }): Promise<EventSpool> {
  await mkdir(folder, { recursive: true })
  let size = 0
  let last = 0

  /** Names sort as they were given, in one process exactly and between processes by the clock. */
  function nextName (): string {
    last = Math.max(last + 1, now().getTime() * 1000)
    return `${String(last).padStart(17, '0')}-${newId()}.jsonl`
  }

  const gathering = createGathering<Arrival>({
    most,
    async write (arrivals) {
      await writeWhole(folder, nextName(), arrivals.map((arrival) => `${toLine(arrival)}\n`).join(''))
      size += arrivals.length
    }
  })

  return {
    put: gathering.put,
    size: () => size,
    async drain (take) {
      const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort()
      for (const name of names) {
        const arrivals = await readLines(join(folder, name))
        await take(arrivals)
        await rm(join(folder, name), { force: true })
        size = Math.max(0, size - arrivals.length)
      }
      if (names.length === 0) size = 0
    }
  }
}

async function writeWhole (folder: string, name: string, text: string): Promise<void> {
  const part = join(folder, `${name}.part`)
  const file = await open(part, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(part, join(folder, name))
  const directory = await open(folder, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** The events of a file; none when another process has drained it. */
async function readLines (path: string): Promise<Arrival[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  })
  return text.split('\n').filter((line) => line !== '').map(fromLine)
}

function toLine ({ body, receivedAt, ...rest }: Arrival): string {
  return JSON.stringify({ ...rest, receivedAt: receivedAt.toISOString(), body: Buffer.from(body).toString('base64') })
}

function fromLine (line: string): Arrival {
  // Only this file writes these lines, each of them whole.
  const { body, receivedAt, ...rest } = JSON.parse(line) as Omit<Arrival, 'body' | 'receivedAt'> & { body: string, receivedAt: string }
  return { ...rest, receivedAt: new Date(receivedAt), body: Buffer.from(body, 'base64') }
}

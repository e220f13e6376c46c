import { createBatcher, lazyUnlessFailed, type Log } from '@dispatch/common'
import { DatabaseUnavailable } from '@dispatch/database'
import { type AtomicFiles, openAtomicFiles } from '@dispatch/files'
import { token } from '@dispatch/plugins/feature'
import type { InboundEvent } from '../store/inbound.ts'

/** Events on the local disk, until the database can take them. */
export type EventSpool = {
  /** Resolves when the file of the event is synced to the disk. */
  put: (arrival: InboundEvent) => Promise<void>
  count: AtomicFiles['count']
  /**
   * Passes all events to `take`, in the order in which they came and in groups, and deletes those that were taken. Rejects when `take`
   * finds no database.
   */
  drain: (take: (arrivals: readonly InboundEvent[]) => Promise<unknown>) => Promise<void>
}

export const eventSpool = token<EventSpool>('eventSpool')

const mebibyte = 1024 * 1024

/** The limits of the events in one file, and in one transaction. */
export const eventBatchLimits = { maxBatch: 500, maxBytes: 8 * mebibyte }

type Options = { folder: string, now: () => Date, newId: () => string, log: Log }

/** A spool that is opened when it is first used. Where that fails, the next use tries it again. */
export function openLately (options: Options): EventSpool {
  const opened = lazyUnlessFailed(() => openEventSpool(options))
  return {
    put: async (arrival) => (await opened()).put(arrival),
    count: async () => (await opened()).count(),
    drain: async (take) => (await opened()).drain(take)
  }
}

/**
 * Opens the spool in a folder. Processes may share it: an event that two of them drain is recorded once. Throws where the folder cannot be
 * used.
 */
export async function openEventSpool ({ folder, now, newId, log }: Options): Promise<EventSpool> {
  const files = await openAtomicFiles({ folder, ending: '.jsonl', log })
  let last = 0

  /** File names sort in the order of arrival: exactly within a process, by the clock between processes. */
  function nextName (): string {
    last = Math.max(last + 1, now().getTime() * 1000)
    return `${String(last).padStart(17, '0')}-${newId()}.jsonl`
  }

  const batcher = createBatcher<InboundEvent, undefined>(
    (arrivals) => files.write(nextName(), arrivals.map((arrival) => `${toLine(arrival)}\n`).join('')),
    { ...eventBatchLimits, bytesOf: ({ body }) => body.byteLength }
  )

  return {
    put: (arrival) => batcher.put(arrival),
    count: files.count,
    drain: (take) =>
      files.drain(readLines, async (arrivals) => {
        try {
          await take(arrivals)
          return 'done'
        } catch (error) {
          if (error instanceof DatabaseUnavailable) throw error
          log.error({ err: error, events: arrivals.map(({ inboundId }) => inboundId) },
            'events of the spool could not be recorded; they are kept')
          return 'later'
        }
      })
  }
}

function readLines (text: string): InboundEvent[] {
  return text.split('\n').filter((line) => line !== '').map(fromLine)
}

function toLine ({ body, receivedAt, ...rest }: InboundEvent): string {
  return JSON.stringify({ ...rest, receivedAt: receivedAt.toISOString(), body: Buffer.from(body).toString('base64') })
}

function fromLine (line: string): InboundEvent {
  // The cast is safe: only this file writes these lines, each of them whole.
  const { body, receivedAt, ...rest } = JSON.parse(line) as Omit<InboundEvent, 'body' | 'receivedAt'> & { body: string, receivedAt: string }
  return { ...rest, receivedAt: new Date(receivedAt), body: Buffer.from(body, 'base64') }
}

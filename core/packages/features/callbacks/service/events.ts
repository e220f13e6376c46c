import { refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { EventStream } from '@dispatch/plugins/routes'
import { eventId, type EventsView } from '../contract/events.ts'
import { readFeed } from '../store/event-feeds.ts'
import type { FollowFeed } from './feeds.ts'

type Body = EventsView['data'][number]['body']

/** The most events that a stream reads at once. */
const read = 20

/** The events of a company after the one with this id. Throws `validation_error` for an id that no event of the company has had. */
export async function listEvents (
  database: Database,
  companyId: number,
  { after = '0', limit }: { after?: string | undefined, limit: number }
): Promise<EventsView> {
  const { since, last, events } = await readFeed(database, companyId, { after: positionOf(after), limit: limit + 1 })
  if (positionOf(after) > last) throw unknownId(`The newest event of the company has the id ${last}.`)
  return {
    since: since.toISOString(),
    data: events.slice(0, limit).map(({ position, body }) => ({ id: String(position), body: JSON.parse(body) as Body })),
    more: events.length > limit
  }
}

/** Where a stream begins: after the event that its client names, or after the newest one. Throws as {@link listEvents}. */
export async function beginning (database: Database, companyId: number, after: string | undefined): Promise<number> {
  const { last } = await readFeed(database, companyId, { after: 0, limit: 0 })
  if (after === undefined) return last
  if (positionOf(after) > last) throw unknownId(`The newest event of the company has the id ${last}.`)
  return positionOf(after)
}

type Following = { database: Database, follow: FollowFeed, failed: (error: unknown) => void }

/** Sends the events of a company from a place on. Answers the function that ends it. */
export function sendEvents (
  { database, follow, failed }: Following,
  companyId: number,
  from: number,
  { send, mark, taken }: EventStream
): () => void {
  let [at, isSending, isOver] = [from, false, false]

  async function sendNew (): Promise<void> {
    let events
    do {
      ;({ events } = await readFeed(database, companyId, { after: at, limit: read }))
      for (const { position, body } of events) {
        // A client that takes them slowly is waited for.
        await taken()
        send('event', JSON.parse(body) as object, String(position))
        at = position
      }
    } while (events.length === read && !isOver)
  }

  mark(String(at))
  const leave = follow(companyId, (last) => {
    if (isSending || last <= at) return
    isSending = true
    sendNew().catch(failed).finally(() => {
      isSending = false
    })
  })
  return () => {
    isOver = true
    leave()
  }
}

function positionOf (id: string): number {
  if (!eventId.test(id)) throw unknownId('The id of an event has up to 15 digits.')
  return Number(id)
}

function unknownId (message: string) {
  return refusal('validation_error', [{ path: '/query/after', code: 'unknown', message: `No event has this id. ${message}` }])
}

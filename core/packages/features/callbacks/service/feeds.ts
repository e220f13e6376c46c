import type { Log } from '@dispatch/common'
import { createPoll, pollInterval } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { readLastPositions } from '../store/event-feeds.ts'

/**
 * Follows the feed of a company: each poll passes on the number of its last event. Without a feed there is none. Answers the function that
 * ends it.
 */
export type FollowFeed = (companyId: number, look: (last: number) => void) => () => void

export const feeds = token<FollowFeed>('feeds')

/**
 * Looks at the feeds that somebody follows, all by one query each {@link pollInterval} milliseconds. A query that fails is logged, and the
 * next one follows.
 */
export function createFeeds ({ database, log }: { database: Database, log: Log }): FollowFeed {
  return createPoll((ids: readonly number[]) => readLastPositions(database, ids), {
    pause: pollInterval,
    failed: (err) => log.warn({ err }, 'feeds of events cannot be read; the next look follows')
  })
}

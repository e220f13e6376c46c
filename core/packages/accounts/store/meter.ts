import { createRecent } from '@dispatch/common'
import type { RateLimitStatus } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { sql } from 'kysely'
import type { RateLimit } from './rate-limiter.ts'

/**
 * Meters what each owner takes, against a limit that all processes share, by the generic cell rate algorithm (ITU-T I.371): up to `quota`
 * at once, which comes back evenly within `window` seconds. Nothing waits for the database: a process tells it of what has been taken a
 * part of the quota at a time, and learns what others have taken. So the processes together let pass at most one part each beyond the
 * quota, and what comes while a message is under way; who takes less than a part costs no message.
 */
export type Meter = {
  /** Takes an amount, unless the limit is reached; then `reset` are the seconds until it can be taken. */
  take: (owner: string, amount?: number) => RateLimitStatus & { exceeded: boolean }
}

type Options = { now: () => Date, onError: (error: unknown) => void }

/** How many owners a process remembers. What it forgets of others, they have back. */
const maxOwners = 10_000

/** Which part of the quota is told at a time. */
const parts = 50

/**
 * `fullAt`: when the owner has the whole quota again, in milliseconds. `untold`: milliseconds of it that the database does not know of;
 * it is told when they are `tellAt`.
 */
type State = { fullAt: number, untold: number, tellAt: number, isTelling: boolean }

/**
 * Creates a meter. `quota`: of the unit that is taken, in `window` seconds. `now`: the clock of this process. `onError`: where the database
 * cannot be told; what was taken is told with what comes next.
 */
export function createMeter (database: Database, { name, quota, window }: RateLimit, { now, onError }: Options): Meter {
  const [max, each] = [window * 1000, window * 1000 / quota]
  const part = max / parts
  const states = createRecent<string, State>(maxOwners)

  async function tell (owner: string, state: State): Promise<void> {
    const reported = state.untold
    Object.assign(state, { untold: 0, isTelling: true })
    try {
      const left = await addToMeter(database, `${name}:${owner}`, Math.ceil(reported))
      Object.assign(state, { fullAt: now().getTime() + left + state.untold, tellAt: part })
    } catch (error) {
      onError(error)
      state.untold += reported
      // Until the database is back, this process counts by itself, and asks now and then.
      state.tellAt = state.untold + part
    } finally {
      state.isTelling = false
    }
  }

  return {
    take (owner, amount = 1) {
      const at = now().getTime()
      const state = states.get(owner) ?? { fullAt: at, untold: 0, tellAt: part, isTelling: false }
      states.set(owner, state)
      const [cost, used] = [amount * each, Math.max(0, state.fullAt - at)]
      const budgetOf = (taken: number, milliseconds: number): RateLimitStatus => ({
        policy: name,
        quota,
        window,
        remaining: Math.max(0, Math.floor((max - taken) / each)),
        reset: Math.max(1, Math.ceil(milliseconds / 1000))
      })
      if (used + cost > max) return { ...budgetOf(max, used + cost - max), exceeded: true }
      state.fullAt = at + used + cost
      state.untold += cost
      if (state.untold >= state.tellAt && !state.isTelling) void tell(owner, state)
      return { ...budgetOf(used + cost, used + cost), exceeded: false }
    }
  }
}

/** Adds milliseconds to what an owner has used. Answers after how many the whole quota is there again. */
async function addToMeter ({ owner, now }: Database, key: string, milliseconds: number): Promise<number> {
  const at = sql`(extract(epoch from ${now}) * 1000)::bigint`
  const { rows: [row] } = await sql<{ left: string }>`
    insert into limits as known (key, points, expire) values (${key}, 0, ${at} + ${milliseconds}::bigint)
    on conflict (key) do update set expire = greatest(known.expire, ${at}) + ${milliseconds}::bigint
    returning expire - ${at} as left`.execute(owner)
  return Number(row?.left ?? 0)
}

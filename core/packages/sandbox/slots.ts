import { createFairSemaphore, once, type Permit } from '@dispatch/common'
import { failureError } from '@dispatch/vendor-io/outcome'
import type { Adapter, Worker } from './adapter.ts'

/** Something that has a slot: it gives it back once, and before that may leave it to others for as long as it only waits. */
export type Slot = { release: () => void, park: () => void }

/** The slots of the processes: those who work with one process share one. */
export type Slots = {
  /** A slot for the process of a key. Throws a failure where none is free in time. */
  hold: (key: string, adapter: Adapter, worker: Worker) => Promise<Slot>
  close: () => void
}

/**
 * Those who use the process of an account together; after a while others have their turn. Where all of them are parked, the slot has been
 * left to others: the process goes on without one, and whoever comes joins it.
 */
type Holding = { permit: Permit, users: number, parked: number, left: boolean, since: number }

/** How much work of one company, and of all, may wait for a slot. */
const [maxWaiting, maxWaitingInAll] = [200, 2_000]
/** Milliseconds that an account keeps its slot while others wait for one. */
const turn = 1_000

/**
 * `maxProcesses` slots, and as many more for those that only wait for somebody else. Work waits for one for `waitLimit` milliseconds, and
 * then throws `provider_unavailable`.
 */
export function createSlots ({ maxProcesses, waitLimit }: { maxProcesses: number, waitLimit: number }): Slots {
  const holdings = new Map<string, Holding>()
  const slots = createFairSemaphore({
    total: maxProcesses,
    max: 2 * maxProcesses,
    perOwner: maxProcesses,
    ...(maxProcesses >= 8 && { kept: maxProcesses / 4 }),
    waiting: maxWaiting,
    waitingInAll: maxWaitingInAll,
    timeLimit: waitLimit
  })

  async function newHolding (key: string, { code }: Adapter, { account, ended }: Worker): Promise<Holding> {
    const [company = ''] = account.split('|')
    const permit = await slots.acquire(company, ended === undefined ? undefined : () => ended)
    if (permit === undefined) {
      throw failureError({
        word: 'provider_unavailable',
        message: `No process came free for the provider "${code}": too much of this company is under way. Nothing was sent.`,
        ours: true
      })
    }
    const holding = { permit, users: 0, parked: 0, left: false, since: Date.now() }
    holdings.set(key, holding)
    return holding
  }

  function join (key: string, holding: Holding): Slot {
    let parked = false
    const park = once(() => {
      parked = true
      holding.parked++
      leaveIfParked(holding)
    })
    holding.users++
    return {
      park,
      release () {
        holding.users--
        if (parked) holding.parked--
        if (holding.users > 0) {
          leaveIfParked(holding)
          return
        }
        if (holdings.get(key) === holding) holdings.delete(key)
        holding.permit.release()
      }
    }
  }

  return {
    async hold (key, adapter, worker) {
      const known = holdings.get(key)
      const joins = known !== undefined && (known.left || slots.demand() === 0 || Date.now() - known.since < turn)
      return join(key, joins ? known : await newHolding(key, adapter, worker))
    },
    close: slots.close
  }
}

function leaveIfParked (holding: Holding): void {
  if (holding.left || holding.parked < holding.users) return
  holding.left = true
  holding.permit.park()
}

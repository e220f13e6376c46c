import { withTimeLimit } from '@dispatch/common'
import type { Log } from '@dispatch/host/provider'
import { randomUUID } from 'node:crypto'
import type { Adapter, Worker } from './adapter.ts'
import type { Child } from './child.ts'
import { createCrashes } from './crashes.ts'
import { createMembers } from './members.ts'
import { createSlots } from './slots.ts'
import type { Walls } from './walls.ts'

/** Work in the process of an adapter. `parks` tells that it only waits for somebody else from now on, such as the vendor. */
export type Work<Result> = (child: Child, parks: () => void) => Promise<Result>

/** The processes of all adapters. */
export type Pool = {
  /**
   * Runs work in the process of an adapter for an account, which no other account shares: one that is there, or a new one. Companies share
   * the slots of the pool fairly. Throws a failure where no slot is free in time, and while the adapter rests after crashes: the work has
   * not begun then.
   */
  run: <Result>(adapter: Adapter, worker: Worker, work: Work<Result>) => Promise<Result>
  /** Runs work in a process for this alone, which has ended when the promise settles. */
  runOnce: <Result>(adapter: Adapter, work: Work<Result>, worker?: Worker) => Promise<Result>
  /** Ends the process that does not answer any more, unless it answers at once. */
  probe: (child: Child) => Promise<void>
  /** How many processes there are, the adapters that rest after crashes for at least one account, and the walls of each process. */
  state: () => { processes: number, resting: string[], walls: Walls[] }
  close: () => Promise<void>
}

/**
 * `maxProcesses` are at work at once, and as many more only wait for somebody else. Work waits for a slot for `waitLimit` milliseconds.
 * Each process is ended after `idle` milliseconds unused, or beyond `memory` bytes. One that has nothing to do is ended too
 * once it holds more than `resting` bytes of its own, or has been used `uses` times: another one takes its place when it is needed.
 */
export type PoolOptions = {
  log: Log
  maxProcesses?: number
  waitLimit?: number
  idle?: number
  memory?: number
  resting?: number
  uses?: number
  startLimit?: number
  now?: () => number
}

/** Work of the service itself, such as the description of an adapter. */
const nobody: Worker = { account: '' }

const mebibyte = 1024 * 1024
/** Milliseconds in which a process answers that is not stuck. */
const answerWithin = 1_000

/**
 * The processes of a sandbox, of which each runs one adapter. `waitLimit`, `idle`: milliseconds; `memory`, `resting`: bytes; `uses`: calls
 * after which a process is replaced.
 */
export function createPool ({
  log,
  maxProcesses = 16,
  waitLimit = 10_000,
  idle = 600_000,
  memory = 512 * mebibyte,
  resting = 60 * mebibyte,
  uses = 10_000,
  startLimit = 10_000,
  now = Date.now
}: PoolOptions): Pool {
  const slots = createSlots({ maxProcesses, waitLimit })
  const crashes = createCrashes(log)
  const members = createMembers({
    ...{ log, maxProcesses, idle, memory, resting, uses, startLimit, now },
    onCrash (key, { code, onCrash }, why) {
      crashes.note(key, code)
      onCrash?.(why)
    }
  })

  async function run<Result> (adapter: Adapter, worker: Worker, work: Work<Result>, own = worker.account): Promise<Result> {
    const key = `${adapter.code} ${adapter.entry} ${own}`
    crashes.refuseWhileResting(key, adapter)
    const slot = await slots.hold(key, adapter, worker)
    try {
      const result = await members.use(key, adapter, (child) => work(child, slot.park))
      crashes.forget(key)
      return result
    } finally {
      slot.release()
    }
  }

  return {
    run: (adapter, worker, work) => run(adapter, worker, work),
    async runOnce (adapter, work, worker = nobody) {
      let started: Child | undefined
      try {
        return await run(adapter, worker, (child, parks) => {
          started = child
          return work(child, parks)
        }, `once ${randomUUID()}`)
      } finally {
        started?.kill()
        await started?.ended
      }
    },
    async probe (child) {
      await withTimeLimit(answerWithin, child.ask('ping', {})).catch(() => child.kill('It does not answer any more.'))
    },
    state: () => ({ processes: members.size(), resting: crashes.resting(), walls: members.walls() }),
    async close () {
      slots.close()
      await members.close()
    }
  }
}

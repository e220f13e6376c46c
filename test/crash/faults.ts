import { setTimeout as pause } from 'node:timers/promises'
import type { Installation } from './installation.ts'
import { fillDisk, type Kept } from './processes.ts'

/**
 * What may happen beside the death of processes. `weight`: how often, of all of them; `seconds`: from, to; `does` is about the process that
 * gets the requests first.
 */
type Kind = {
  weight: number
  seconds: readonly [number, number]
  does: (installation: Installation, victim: Kept, seconds: number) => Promise<void>
}

/** More than a lease is good for (15), and more than it takes until it is surely taken away (5 more). */
const [longerThanLease, untilTaken] = [[16, 20], [24, 28]] as const

/** Every kind of fault. Clocks are not among them: those of the processes are ahead or behind all the time. */
export const faults = {
  /** Connections to the database are cut. */
  cut: { weight: 20, seconds: [0, 0], does: ({ database }) => database.cut() },
  /** The database crashes, and is there again at once. */
  failover: { weight: 10, seconds: [0, 1], does: ({ database }, _victim, seconds) => database.fail('SIGQUIT', seconds) },
  /** Its postmaster alone is killed. */
  postmaster: { weight: 10, seconds: [1, 2], does: ({ database }, _victim, seconds) => database.fail('SIGKILL', seconds) },
  /** The database is away for longer than an outcome waits for it. */
  outage: { weight: 2, seconds: longerThanLease, does: ({ database }, _victim, seconds) => database.fail('SIGQUIT', seconds) },
  /** The database is restored from a backup, after all processes were ended; they come again. */
  restore: {
    weight: 3,
    seconds: [8, 14],
    does: ({ database, processes }, _victim, seconds) =>
      database.restore(seconds, () => {
        for (const process of processes) process.kill()
      })
  },
  /** The database takes no changes. */
  readOnly: { weight: 15, seconds: [1, 3], does: ({ database }, _victim, seconds) => database.readOnly(seconds) },
  /** The network to the database stalls, for a while or for longer than a lease. */
  databaseStall: { weight: 10, seconds: [1, 4], does: ({ database }, _victim, seconds) => database.stall(seconds) },
  longDatabaseStall: { weight: 2, seconds: longerThanLease, does: ({ database }, _victim, seconds) => database.stall(seconds) },
  /** The network to the vendor stalls, for less than its answers may take. */
  vendorStall: {
    weight: 10,
    seconds: [1, 3],
    async does ({ way }, _victim, seconds) {
      way.silence()
      await pause(seconds * 1000)
      way.speak()
    }
  },
  /** The disk is full: a file may have no more than 1,000 bytes. */
  diskFull: { weight: 15, seconds: [1, 3], does: async (_installation, victim, seconds) => fillDisk(await victim.ready(), 1_000, seconds) },
  /** A process stands still for longer than its leases are good. */
  asleep: { weight: 4, seconds: longerThanLease, does: (_installation, victim, seconds) => victim.sleep(seconds) },
  /** A process stands still while its connections to the vendor come about, and wakes when its leases have been taken away. */
  asleepInHandshake: {
    weight: 4,
    seconds: untilTaken,
    async does ({ way }, victim, seconds) {
      await victim.ready()
      way.hold()
      for (let waits = 0; way.waiting() < 3 && waits < 40; waits++) await pause(100)
      const asleep = victim.sleep(seconds)
      await pause(300)
      way.release()
      await asleep
    }
  }
} satisfies Readonly<Record<string, Kind>>

export type FaultName = keyof typeof faults
export const faultNames = Object.keys(faults) as FaultName[]

/** Seconds from which on a fault goes on beside the lives that follow. */
export const long = 5

import { withTimeLimit } from '@dispatch/common'
import { LoadTimeout } from '@dispatch/host'
import type { Log } from '@dispatch/host/provider'
import type { Adapter } from './adapter.ts'
import { type Child, startChild } from './child.ts'
import { ownMemory, residentMemory } from './memory.ts'
import type { Walls } from './walls.ts'

/** The processes that there are, by the key of those who may use them: one for each. */
export type Members = {
  /** Uses the process of a key: the one that is there, or a new one. */
  use: <Result>(key: string, adapter: Adapter, work: (child: Child) => Promise<Result>) => Promise<Result>
  size: () => number
  walls: () => Walls[]
  /** Ends all, and waits for their ends. */
  close: () => Promise<void>
}

/** As in the options of the pool. `onCrash` is told of each that ended otherwise than it was asked to. */
export type MembersOptions = {
  log: Log
  onCrash: (key: string, crashed: Adapter, why: string) => void
  maxProcesses: number
  idle: number
  memory: number
  resting: number
  uses: number
  startLimit: number
  now: () => number
}

/** A process that has loaded its adapter. */
type Member = { child: Child, walls: Walls, usedAt: number, uses: number }

const mebibyte = 1024 * 1024
/** Milliseconds between two checks of what is unused or too large. */
const checkEvery = 1_000

/**
 * The processes of a pool, one for each adapter that is at work. `idle`: milliseconds; `memory`, `resting`: bytes; `uses`: calls after
 * which a process is replaced. Getting one throws where its adapter cannot be started.
 */
export function createMembers ({ log, onCrash, maxProcesses, idle, memory, resting, uses, startLimit, now }: MembersOptions): Members {
  const members = new Map<string, Promise<Member>>()
  const settled = new Map<string, Member>()
  /** How many use the process of each key, or are about to. */
  const users = new Map<string, number>()
  const checking = setInterval(endSpent, checkEvery).unref()

  async function memberOf (key: string, adapter: Adapter): Promise<Member> {
    const known = members.get(key)
    if (known !== undefined) return await known
    makeRoom()
    const starting = start(key, adapter)
    members.set(key, starting)
    return await starting
  }

  async function start (key: string, adapter: Adapter): Promise<Member> {
    const child = await startProcess(adapter, log).catch((error: unknown) => {
      members.delete(key)
      throw error
    })
    const starting = members.get(key)
    void child.ended.then((why) => {
      // One that was ended on purpose may have a successor by now.
      if (members.get(key) === starting) {
        members.delete(key)
        settled.delete(key)
      }
      if (why !== undefined) onCrash(key, adapter, why)
    })
    const begun = performance.now()
    const walls = await loadInto(child, adapter, startLimit)
    log.debug({ provider: adapter.code, pid: child.pid, ms: Math.round(performance.now() - begun) }, 'the process of an adapter started')
    const member = { child, walls, usedAt: now(), uses: 0 }
    settled.set(key, member)
    return member
  }

  /** Ends what has been unused for longest where there is no place for one more. */
  function makeRoom (): void {
    if (members.size < maxProcesses) return
    const [longest] = [...settled.entries()].filter(([key]) => !users.has(key)).sort(([, a], [, b]) => a.usedAt - b.usedAt)
    if (longest !== undefined) remove(...longest)
  }

  function remove (key: string, { child }: Member): void {
    members.delete(key)
    settled.delete(key)
    child.kill()
  }

  function endSpent (): void {
    for (const [key, member] of settled) {
      if (!users.has(key) && isSpent(member)) remove(key, member)
      else if (residentMemory(member.child.pid) > memory) member.child.kill(`It took more than ${memory / mebibyte} MiB of memory.`)
    }
  }

  /** Whether a process that has nothing to do is not worth keeping. */
  function isSpent ({ child, usedAt, uses: used }: Member): boolean {
    return now() - usedAt >= idle || used >= uses || ownMemory(child.pid) > resting
  }

  return {
    async use (key, adapter, work) {
      users.set(key, (users.get(key) ?? 0) + 1)
      try {
        const member = await memberOf(key, adapter)
        const result = await work(member.child)
        member.usedAt = now()
        member.uses++
        return result
      } finally {
        const left = (users.get(key) ?? 1) - 1
        if (left > 0) users.set(key, left)
        else users.delete(key)
      }
    },
    size: () => members.size,
    walls: () => [...settled.values()].map(({ walls }) => walls),
    async close () {
      clearInterval(checking)
      const all = [...settled.entries()]
      for (const [key, member] of all) remove(key, member)
      await Promise.all(all.map(([, { child }]) => child.ended))
    }
  }
}

async function startProcess ({ code, folder, launch, verify }: Adapter, log: Log): Promise<Child> {
  await verify?.()
  return startChild({ launch: await launch(), folder, code, log })
}

/** Has a process load its adapter, and answers the walls that it found before. It is ended where that fails, or takes too long. */
async function loadInto (child: Child, { entry, admit, loadLimit }: Adapter, startLimit: number): Promise<Walls> {
  const load = async (): Promise<Walls> => {
    const walls = await child.ask('walls', {})
    admit(walls)
    await child.ask('load', { entry })
    return walls
  }
  const limit = loadLimit ?? startLimit
  return await withTimeLimit(limit, load(), () => new LoadTimeout(limit / 1000)).catch((error: unknown) => {
    child.kill('It could not be loaded.')
    throw error
  })
}

import type { Log } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import type { Host } from '@dispatch/host'
import { runEvery } from '@dispatch/queue'
import type { RunningProvider } from '@dispatch/tables'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { forgetProcess, listProcesses, type ProviderProcess, readReloads, recordProcess,
  requestReload } from '../store/vendor/provider-processes.ts'

/** A process that loads providers. `converged`: it has made the last reload, and runs what the process that answers runs. */
export type ProcessState = ProviderProcess & { converged: boolean }

/** Keeps the providers of all processes, of the API and of the queue, the same. */
export type ProviderSync = {
  /** Reloads this process's providers and has every other process reload its own; waits up to 2 seconds for them. */
  reload: () => Promise<ProcessState[]>
  processes: () => Promise<ProcessState[]>
  close: () => Promise<void>
}

/** Milliseconds between two looks at whether a reload was asked for. */
const lookEvery = 500
/** Looks between two signs of life. */
const livesEvery = 10
/** Milliseconds. */
const longestWait = 2_000
const waitStep = 100

/** For a process that loads no providers: waits up to 2 seconds until every other one has made the last reload. */
export async function waitForReloads (database: Database): Promise<void> {
  const latest = await readReloads(database)
  const begun = performance.now()
  while (performance.now() - begun < longestWait) {
    if ((await listProcesses(database)).every(({ number }) => number >= latest)) return
    await pause(waitStep)
  }
}

/** Begins to follow the reloads that any process asks for. `templateLanguage`: what the others are told that this one reads. */
export async function startProviderSync ({ database, host, log, newId, templateLanguage }: {
  database: Database
  host: Host
  log: Log
  newId: () => string
  templateLanguage: number
}): Promise<ProviderSync> {
  const own = { processId: newId(), machine: hostname(), pid: process.pid, templateLanguage }
  let number = await readReloads(database)
  let polls = 0

  const runs = (): RunningProvider[] =>
    host.entries().flatMap((entry) =>
      entry.state === 'installed' ? [{ code: entry.code, version: entry.version, digest: entry.digest }] : []
    )

  async function record (): Promise<void> {
    await recordProcess(database, { ...own, number, providers: runs() })
  }

  async function follow (): Promise<void> {
    polls += 1
    const desired = await readReloads(database)
    if (desired <= number && polls % livesEvery !== 0) return
    if (desired > number) await host.reload()
    number = Math.max(number, desired)
    await record()
  }

  async function processes (): Promise<ProcessState[]> {
    const mine = runs()
    const [latest, all] = [await readReloads(database), await listProcesses(database)]
    return all.map((one) => ({ ...one, converged: one.number >= latest && isDeepStrictEqual(one.providers, mine) }))
  }

  await record()
  const following = runEvery(lookEvery, follow, (err) => {
    log.warn({ err }, 'it could not be found out whether the providers are to be reloaded')
  })
  return {
    processes,
    async reload () {
      // What passes its trial here needs none in the other processes.
      await host.reload()
      number = await requestReload(database)
      await record()
      const begun = performance.now()
      let states = await processes()
      while (states.some(({ converged }) => !converged) && performance.now() - begun < longestWait) {
        await pause(waitStep)
        states = await processes()
      }
      for (const { machine, pid } of states.filter(({ converged }) => !converged)) {
        log.warn({ machine, pid }, 'a process does not run the same providers')
      }
      return states
    },
    async close () {
      await following.close()
      await forgetProcess(database, own.processId).catch((err: unknown) => {
        log.debug({ err }, 'this process stays listed until it counts as ended')
      })
    }
  }
}

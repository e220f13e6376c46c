import { createSemaphore, SemaphoreFull } from '@dispatch/common'
import { Piscina } from 'piscina'
import { begin, type ThreadJob } from './thread-job.ts'

export type ThreadsOptions = {
  /** The module that the threads run; its default export does one job. */
  module: URL
  threads: number
  /** After how many seconds without a job a thread ends. It starts when it is needed. */
  idle: number
  /** How many jobs may wait for a thread. */
  waiting: number
  /** The JavaScript heap limit of each thread in MiB. */
  memoryLimit: number
}

/** Threads for work that must not delay the event loop. Each job has a limit of time and memory. */
export type Threads<Job, Answer> = {
  /** The answer, within so many seconds after a thread has started the job. Rejects with {@link SemaphoreFull} or {@link ThreadStopped}. */
  run: (job: Job, seconds: number) => Promise<Answer>
  /** Finishes the started jobs and ends the threads. */
  close: () => Promise<void>
}

/** A job exceeded its limit, and its thread was ended. */
export class ThreadStopped extends Error {
  override name = 'ThreadStopped'
  readonly limit: 'time' | 'memory'

  constructor (limit: 'time' | 'memory', cause: Error) {
    super(`A thread was stopped: too much ${limit}.`, { cause })
    this.limit = limit
  }
}

/** MiB for short-lived objects. With V8's default of 48, a thread uses 30 MiB more without being faster; with 16, it is a fifth slower. */
const youngMemory = 32

/** A pool of threads. A job that is stopped at a limit ends its thread, and a new thread replaces it. */
export function createThreads<Job, Answer> ({ module, threads, idle, waiting, memoryLimit }: ThreadsOptions): Threads<Job, Answer> {
  const pool = new Piscina<ThreadJob<Job>, Answer>({
    filename: module.href,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: idle * 1000,
    resourceLimits: { maxOldGenerationSizeMb: memoryLimit, maxYoungGenerationSizeMb: youngMemory }
  })
  // The pool replaces a thread that fails between two jobs. No caller waits for it.
  pool.on('error', (error: Error) => {
    process.emitWarning(error)
  })
  // The pool has its own queue, but its signal would count the waiting time as time of the job.
  const semaphore = createSemaphore(threads, waiting)
  /** The pool itself would drop a job whose thread is still starting when it closes. */
  const begun = new Set<Promise<unknown>>()
  return {
    async run (job, seconds) {
      if (!await semaphore.acquire()) throw new SemaphoreFull('Too many jobs are waiting for a thread.')
      const limit = limitOf(seconds)
      try {
        const running = pool.run({ job, begun: limit.begun }, { signal: limit.signal })
        begun.add(running)
        return await running.finally(() => begun.delete(running))
      } catch (error) {
        throw stopped(error) ?? error
      } finally {
        limit.clear()
        semaphore.release()
      }
    },
    async close () {
      await Promise.allSettled(begun)
      await pool.close()
    }
  }
}

/** The time limit in milliseconds for the start of a thread. */
const startLimit = 60_000

/** The end of a job's time limit, so many seconds after a thread has started the job. The start of the thread itself does not count. */
function limitOf (seconds: number): { begun: Int32Array<SharedArrayBuffer>, signal: AbortSignal, clear: () => void } {
  const begun = new Int32Array(new SharedArrayBuffer(4))
  const end = new AbortController()
  const abort = (): void => {
    end.abort()
  }
  const progress = { timer: setTimeout(abort, startLimit + seconds * 1000), over: false }
  // Without a time limit of its own, which would keep memory until its end even when the thread has long begun.
  void Promise.resolve(Atomics.waitAsync(begun, 0, 0).value).then(() => {
    if (progress.over) return
    clearTimeout(progress.timer)
    progress.timer = setTimeout(abort, seconds * 1000)
  })
  return {
    begun,
    signal: end.signal,
    clear () {
      progress.over = true
      clearTimeout(progress.timer)
      begin(begun)
    }
  }
}

function stopped (error: unknown): ThreadStopped | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.name === 'AbortError') return new ThreadStopped('time', error)
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ThreadStopped('memory', error) : undefined
}

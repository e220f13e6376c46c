import { createSemaphore, SemaphoreFull } from '@dispatch/common'
import { Piscina } from 'piscina'
import { begin, type ThreadJob } from './thread-job.ts'

export type ThreadsOptions = {
  /** What the threads run: a module whose default export does one job. */
  module: URL
  threads: number
  /** Whether the threads are there before the first job; they end half a minute after the last one otherwise. */
  start: 'at once' | 'when needed'
  /** Jobs that may wait for a thread. */
  waiting: number
  /** MiB of JavaScript heap for each thread. */
  memoryLimit: number
}

/** Threads for work that must not hold up the event loop, each job within a time and a memory of its own. */
export type Threads<Job, Answer> = {
  /** The answer within so many seconds after a thread has begun. Rejects with {@link SemaphoreFull} or {@link ThreadStopped}. */
  run: (job: Job, seconds: number) => Promise<Answer>
  /** Finishes the jobs that have begun and ends the threads. */
  close: () => Promise<void>
}

/** A job went beyond its limit, and its thread was ended with it. */
export class ThreadStopped extends Error {
  override name = 'ThreadStopped'
  readonly limit: 'time' | 'memory'

  constructor (limit: 'time' | 'memory', cause: Error) {
    super(`A thread was stopped: too much ${limit}.`, { cause })
    this.limit = limit
  }
}

/**
 * MiB for what a job leaves behind at once: with V8's own 48 a thread holds 30 more without being faster, with 16 it takes a fifth longer.
 */
const youngMemory = 32

/** Milliseconds that a thread which is there only when needed waits for the next job. */
const idleFor = 30_000

/** A pool of threads. A job that is stopped at a limit takes its thread with it; another one takes its place. */
export function createThreads<Job, Answer> ({ module, threads, start, waiting, memoryLimit }: ThreadsOptions): Threads<Job, Answer> {
  const pool = new Piscina<ThreadJob<Job>, Answer>({
    filename: module.href,
    minThreads: start === 'at once' ? threads : 0,
    maxThreads: threads,
    idleTimeout: idleFor,
    resourceLimits: { maxOldGenerationSizeMb: memoryLimit, maxYoungGenerationSizeMb: youngMemory }
  })
  // A thread that fails between two jobs is replaced by the pool; nobody waits for an answer.
  pool.on('error', (error: Error) => {
    process.emitWarning(error)
  })
  // The pool has a queue too, but its signal would count the time spent there as time of the job.
  const semaphore = createSemaphore(threads, waiting)
  return {
    async run (job, seconds) {
      if (!await semaphore.acquire()) throw new SemaphoreFull('Too many jobs are waiting for a thread.')
      const limit = limitOf(seconds)
      try {
        return await pool.run({ job, begun: limit.begun }, { signal: limit.signal })
      } catch (error) {
        throw stopped(error) ?? error
      } finally {
        limit.clear()
        semaphore.release()
      }
    },
    close: () => pool.close()
  }
}

/** Milliseconds within which a thread must have started. */
const startLimit = 60_000

/** The end of a job, so many seconds after a thread has begun it: that a thread must start first is not the job's fault. */
function limitOf (seconds: number): { begun: Int32Array<SharedArrayBuffer>, signal: AbortSignal, clear: () => void } {
  const begun = new Int32Array(new SharedArrayBuffer(4))
  const end = new AbortController()
  const progress: { timer?: NodeJS.Timeout, over: boolean } = { over: false }
  void Promise.resolve(Atomics.waitAsync(begun, 0, 0, startLimit).value).then(() => {
    if (!progress.over) {
      progress.timer = setTimeout(() => {
        end.abort()
      }, seconds * 1000)
    }
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

import { createFairSemaphore, SemaphoreFull } from '@dispatch/common'
import { Piscina } from 'piscina'
import { begin, createMeter, type Meter, type ThreadJob } from './thread-job.ts'

export type ThreadsOptions = {
  /** The module that the threads run; its default export does one job. */
  module: URL
  threads: number
  /** How many of the threads one company may use at once; all but one unless told, if there are several. */
  perOwner?: number
  /** After how many seconds without a job a thread ends. It starts when it is needed. */
  idle: number
  /** How many jobs may wait for a thread. */
  waiting: number
  /** The JavaScript heap limit of each thread in MiB. */
  memoryLimit: number
  /** Milliseconds for the start of a thread, by default a minute. */
  startLimit?: number
}

/**
 * Threads for work that must not delay the event loop. Each job has a limit of processor time and memory. A thread is kept for companies
 * that use none, and of those that wait, the one whose jobs have taken the least processor time goes first.
 */
export type Threads<Job, Answer> = {
  /**
   * The answer, from at most so many seconds of processor time. Time in which the thread does not run, because the machine is busy or the
   * process is stopped, does not count. Rejects with {@link SemaphoreFull} (the job was not started) or {@link ThreadStopped}.
   */
  run: (companyId: number, job: Job, seconds: number) => Promise<Answer>
  /** The same for a job that is large: it is loaded once a thread is free for it, so that those that wait take no memory. */
  runLoaded: (companyId: number, load: () => Promise<Job>, seconds: number) => Promise<Answer>
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

/**
 * A pool of threads. A job that is stopped at a limit ends its thread, and a new thread replaces it. A job throws `SemaphoreFull` where too
 * many wait.
 */
export function createThreads<
  Job,
  Answer
> ({
  module,
  threads,
  perOwner = Math.max(threads - 1, 1),
  idle,
  waiting,
  memoryLimit,
  startLimit = 60_000
}: ThreadsOptions): Threads<Job, Answer> {
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
  const semaphore = createFairSemaphore({ waiting, waitingInAll: waiting, perOwner, total: threads })
  /** The pool itself would drop a job whose thread is still starting when it closes. */
  const begun = new Set<Promise<unknown>>()

  /** The processor time of a running job in microseconds; 0 while it has not started. */
  async function timeOf ({ thread, times }: Meter): Promise<number> {
    const worker = pool.threads.find(({ threadId }) => threadId === thread[0])
    if (worker === undefined) return 0
    const { user, system } = await worker.cpuUsage()
    return user + system - (times[0] ?? 0)
  }

  async function tracked (running: Promise<Answer>): Promise<Answer> {
    begun.add(running)
    try {
      return await running
    } finally {
      begun.delete(running)
    }
  }

  /** Whose jobs came since the first thread was started. */
  const since: { company?: number, others?: boolean } = {}

  /**
   * Where a job comes while all threads work, one more is started at once, although the job may have to wait for another one of its
   * company: so whoever comes next does not wait for the start. As long as one company alone comes, there is nobody to keep it for: a
   * thread takes 65 MB.
   */
  function startKept (companyId: number): void {
    if (pool.threads.length === 0) Object.assign(since, { company: companyId, others: false })
    since.others ||= since.company !== companyId
    if (!since.others || begun.size === 0 || pool.threads.length > begun.size || pool.threads.length === threads) return
    tracked(pool.run('start')).catch((error: unknown) => {
      process.emitWarning(error as Error)
    })
  }

  /** `used` gets the milliseconds of the job. A thread that was stopped has used all that it may. */
  async function measured (job: Job, seconds: number, used: (milliseconds: number) => void): Promise<Answer> {
    const meter = createMeter()
    const limit = limitOf(meter, { seconds, startLimit }, () => timeOf(meter))
    try {
      return await pool.run({ job, meter }, { signal: limit.signal })
    } catch (error) {
      throw stopped(error) ?? error
    } finally {
      limit.clear()
      const [start = 0, end = 0] = meter.times
      used(end > 0 ? (end - start) / 1000 : seconds * 1000)
    }
  }

  async function runLoaded (companyId: number, load: () => Promise<Job>, seconds: number): Promise<Answer> {
    startKept(companyId)
    const permit = await semaphore.acquire(companyId)
    if (permit === undefined) throw new SemaphoreFull('Too many jobs are waiting for a thread.')
    let cost = 0
    try {
      return await tracked(load().then((job) =>
        measured(job, seconds, (milliseconds) => {
          cost = milliseconds
        })
      ))
    } finally {
      permit.release(cost)
    }
  }

  return {
    run: (companyId, job, seconds) => runLoaded(companyId, () => Promise.resolve(job), seconds),
    runLoaded,
    async close () {
      await Promise.allSettled(begun)
      await pool.close()
    }
  }
}

/**
 * The end of a job's limit: so many seconds of the processor time of its thread, which `used` tells in microseconds. A thread needs at
 * least as long as that for it, so that the usual job is asked nothing. A thread that does not start in time ends the job too.
 */
function limitOf (
  meter: Meter,
  { seconds, startLimit }: { seconds: number, startLimit: number },
  used: () => Promise<number>
): { signal: AbortSignal, clear: () => void } {
  const end = new AbortController()
  const notStarted = (): void => {
    end.abort(new SemaphoreFull('A thread does not start.'))
  }
  const progress = { timer: setTimeout(notStarted, startLimit), over: false }

  function check (milliseconds: number): void {
    progress.timer = setTimeout(() => {
      void used().then((time) => {
        const left = seconds * 1000 - time / 1000
        if (progress.over) return
        if (left > 0) check(Math.ceil(left))
        else end.abort()
        // A thread that has ended in the meantime tells nothing: its job has ended with it.
      }, () => undefined)
    }, milliseconds)
  }

  // Without a time limit of its own, which would keep memory until its end even when the thread has long begun.
  void Promise.resolve(Atomics.waitAsync(meter.thread, 0, 0).value).then(() => {
    if (progress.over) return
    clearTimeout(progress.timer)
    check(seconds * 1000)
  })
  return {
    signal: end.signal,
    clear () {
      progress.over = true
      clearTimeout(progress.timer)
      begin(meter.thread, -1)
    }
  }
}

function stopped (error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.name === 'AbortError') return error.cause instanceof SemaphoreFull ? error.cause : new ThreadStopped('time', error)
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ThreadStopped('memory', error) : undefined
}

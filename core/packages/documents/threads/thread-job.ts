import { threadId } from 'node:worker_threads'

/** A job on its way to a thread, which writes into `meter` what the job costs; or nothing but the start of a thread. */
export type ThreadJob<Job> = { job: Job, meter: Meter } | 'start'

/**
 * What a job costs, in memory that both threads see. `thread`: the number of its thread, 0 before it has started. `times`: the processor
 * time of that thread at the start of the job and at its end, in microseconds; 0 before.
 */
export type Meter = { readonly thread: Int32Array<SharedArrayBuffer>, readonly times: Float64Array<SharedArrayBuffer> }

/** A meter for a job that has not started. */
export function createMeter (): Meter {
  return { thread: new Int32Array(new SharedArrayBuffer(4)), times: new Float64Array(new SharedArrayBuffer(16)) }
}

/** The export of a thread's module: it does jobs with `work`. */
export function inThread<Job> (work: (job: Job) => unknown): (threadJob: ThreadJob<Job>) => Promise<unknown> {
  return async (threadJob) => {
    if (threadJob === 'start') return
    const { job, meter: { thread, times } } = threadJob
    times[0] = processorTime()
    begin(thread, threadId)
    try {
      return await work(job)
    } finally {
      times[1] = processorTime()
    }
  }
}

/** The processor time of this thread in microseconds. */
function processorTime (): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** Signals that a job has started in the thread with this number, or will not start any more. */
export function begin (thread: Meter['thread'], number: number): void {
  Atomics.store(thread, 0, number)
  Atomics.notify(thread, 0)
}

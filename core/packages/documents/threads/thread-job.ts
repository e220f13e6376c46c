/** A job on its way to a thread. It signals its start. */
export type ThreadJob<Job> = { job: Job, begun: Int32Array<SharedArrayBuffer> }

/** The export of a thread's module: it does jobs with `work`. */
export function inThread<Job> (work: (job: Job) => unknown): (threadJob: ThreadJob<Job>) => unknown {
  return ({ job, begun }) => {
    begin(begun)
    return work(job)
  }
}

/** Signals that a job has started. */
export function begin (begun: Int32Array<SharedArrayBuffer>): void {
  Atomics.store(begun, 0, 1)
  Atomics.notify(begun, 0)
}

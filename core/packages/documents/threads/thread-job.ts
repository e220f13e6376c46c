/** A job on its way to a thread, which says when it has begun. */
export type ThreadJob<Job> = { job: Job, begun: Int32Array<SharedArrayBuffer> }

/** What the module of a thread exports: does jobs with `work`. */
export function inThread<Job> (work: (job: Job) => unknown): (threadJob: ThreadJob<Job>) => unknown {
  return ({ job, begun }) => {
    begin(begun)
    return work(job)
  }
}

/** Says that a job has begun. */
export function begin (begun: Int32Array<SharedArrayBuffer>): void {
  Atomics.store(begun, 0, 1)
  Atomics.notify(begun, 0)
}

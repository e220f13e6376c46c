import { createFairSemaphore, SemaphoreFull } from '@dispatch/common'
import { availableParallelism } from 'node:os'
import { RenderError, renderError } from '../model/errors.ts'
import type { Format, Rendered, RenderJob, RenderResult } from '../render/job.ts'
import { createThreads, ThreadStopped } from './threads.ts'

export type { Format, Rendered, RenderJob } from '../render/job.ts'

export type RendererOptions = {
  /** Threads that make documents: unless given, one for each processor but one, which is left to everything else; at most four. */
  threads?: number
  /** Jobs of a company that may wait for its turn, and turns that may wait for a thread. */
  waiting?: number
  /** Seconds that a document may take once its thread has begun, by whose its template is. */
  timeLimits?: Readonly<Record<Customer['template'], number>>
  /** MiB of JavaScript heap for each thread. */
  memoryLimit?: number
}

/** For whom a document is made, and whether of a template that every company can use or of one that the company has written. */
export type Customer = { companyId: number, template: 'shared' | 'own' }

/** Makes documents in threads of its own, never on the event loop. Companies that wait take turns. */
export type Renderer = {
  /** A RenderError when the data do not fit the template or take too long or too much memory; a RendererBusy when too many jobs wait. */
  render: <F extends Format>(job: RenderJob<F>, customer: Customer) => Promise<Rendered<F>>
  /** Finishes the jobs that have begun and ends the threads. */
  close: () => Promise<void>
}

/** Too many jobs wait for a thread; the job was not begun. */
export class RendererBusy extends Error {
  constructor (options?: ErrorOptions) {
    super('Too many documents are waiting to be made; try again later.', options)
    this.name = 'RendererBusy'
  }
}

/** What a company has written may hold a thread for no longer than where it was tried out, in the workshop. */
const seconds = { shared: 30, own: 10 }

/**
 * Starts the threads. A job that is stopped at a limit takes its thread with it; another one takes its place. One company leaves a
 * thread to the others where there are several; a single one goes to whoever has waited longest, with one job of each company in that line.
 */
export function createRenderer ({
  threads = Math.min(Math.max(availableParallelism() - 1, 1), 4),
  waiting = 500,
  timeLimits = seconds,
  memoryLimit = 256
}: RendererOptions = {}): Renderer {
  const pool = createThreads<RenderJob, RenderResult>({
    module: new URL('worker.ts', import.meta.url),
    threads,
    start: 'at once',
    waiting,
    memoryLimit
  })
  const semaphore = createFairSemaphore(waiting, Math.max(threads - 1, 1))
  return {
    async render<F extends Format> (job: RenderJob<F>, { companyId, template }: Customer) {
      const timeLimit = timeLimits[template]
      try {
        // The thread answers in the format of its job; the pool's type knows only that it is one of them.
        const outcome = await semaphore.run(companyId, () => pool.run(job, timeLimit)) as RenderResult<F>
        if (outcome.ok) return outcome.rendered
        throw new RenderError(outcome.problems)
      } catch (error) {
        if (error instanceof SemaphoreFull) throw new RendererBusy({ cause: error })
        throw error instanceof ThreadStopped ? stopped(error, timeLimit, memoryLimit) : error
      }
    },
    close: () => pool.close()
  }
}

/** What is said of a thread that was stopped at a limit. */
function stopped (error: ThreadStopped, seconds: number, megabytes: number): RenderError {
  if (error.limit === 'time') return renderError('', 'render_timeout', `The document was not finished within ${seconds} seconds.`, error)
  return renderError('', 'render_memory', `The document needs more than ${megabytes} MiB of memory.`, error)
}

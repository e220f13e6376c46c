import { SemaphoreFull } from '@dispatch/common'
import { availableParallelism } from 'node:os'
import type { Format } from '../formats/file-formats.ts'
import type { Rendered, RenderJob, RenderResult } from '../job.ts'
import { RenderError, renderError } from '../model/errors.ts'
import { templatePoster } from './posted-template.ts'
import { createThreads, ThreadStopped } from './threads.ts'
import type { PostedJob } from './worker.ts'

export type { Rendered, RenderJob } from '../job.ts'

export type RendererOptions = {
  /**
   * The number of threads: by default one less than the processors, which leaves one for everything else, and two to four. With two, a
   * company that keeps one busy leaves the other.
   */
  threads?: number
  /** How many jobs may wait for a thread. */
  waiting?: number
  /** The limits of a document in seconds of the processor time of its thread, by the owner of its template. */
  timeLimits?: Readonly<Record<Customer['template'], number>>
  /** The JavaScript heap limit of each thread in MiB. */
  memoryLimit?: number
}

/** The company of a document, and whether its template is available to every company or was written by this one. */
export type Customer = { companyId: number, template: 'shared' | 'own' }

/** Makes documents in its own threads, never on the event loop. Companies share them by the processor time that they have used. */
export type Renderer = {
  /**
   * Throws a RenderError when the data do not fit the template, or take too much time or memory. Throws a RendererBusy when too many jobs
   * wait.
   */
  render: <F extends Format>(job: RenderJob<F>, customer: Customer) => Promise<Rendered<F>>
  /** Finishes the started jobs and ends the threads. */
  close: () => Promise<void>
}

/** Too many jobs wait for a thread. The job was not started. */
export class RendererBusy extends Error {
  constructor (options?: ErrorOptions) {
    super('Too many documents are waiting to be made; try again later.', options)
    this.name = 'RendererBusy'
  }
}

/** A company's own template may use a thread no longer than it could when it was checked. */
const seconds = { shared: 30, own: 10 }

/**
 * Starts the threads. A job that is stopped at a limit ends its thread, and a new thread replaces it. With several threads, one company can
 * never use them all. A job throws `RenderError` where its document cannot be made, and `RendererBusy` where too many wait.
 */
export function createRenderer ({
  threads = Math.min(Math.max(availableParallelism() - 1, 2), 4),
  waiting = 500,
  timeLimits = seconds,
  memoryLimit = 256
}: RendererOptions = {}): Renderer {
  const pool = createThreads<PostedJob, RenderResult>({
    module: new URL('worker.ts', import.meta.url),
    threads,
    idle: 60,
    waiting,
    memoryLimit
  })
  const post = templatePoster()
  return {
    async render<F extends Format> (job: RenderJob<F>, { companyId, template }: Customer) {
      const timeLimit = timeLimits[template]
      const posted = { ...job, template: post(job.template) }
      try {
        // The thread answers in the format of its job. The pool's type knows only the union of all formats.
        const outcome = await pool.run(companyId, posted, timeLimit) as RenderResult<F>
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

/** The error for a job whose thread was stopped at a limit. */
function stopped (error: ThreadStopped, seconds: number, megabytes: number): RenderError {
  if (error.limit === 'time') {
    return renderError('', 'render_timeout', `The document takes more than ${seconds} seconds of processor time.`, error)
  }
  return renderError('', 'render_memory', `The document needs more than ${megabytes} MiB of memory.`, error)
}

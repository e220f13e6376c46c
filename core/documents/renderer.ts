import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import { RenderError, renderError } from './errors.ts'
import { createGate } from './gate.ts'
import type { Format, Outcome, Rendered, RenderJob } from './job.ts'

export type { Format, Rendered, RenderJob } from './job.ts'

export type RendererOptions = {
  /** Threads that make documents: unless given, one for each processor but one, which is left to everything else; at most four. */
  threads?: number
  /** Jobs that may wait for a thread. */
  waiting?: number
  /** Seconds that a document may take once its thread has begun. */
  timeLimit?: number
  /** MiB of JavaScript heap for each thread. */
  memoryLimit?: number
}

/** Makes documents in threads of its own, never on the event loop. */
export type Renderer = {
  /** A RenderError when the data do not fit the template or take too long or too much memory; a RendererBusy when too many jobs wait. */
  render: <F extends Format>(job: RenderJob<F>) => Promise<Rendered<F>>
  /** Finishes the jobs that have begun and ends the threads. */
  close: () => Promise<void>
}

/** Too many jobs wait for a thread; the job was not begun. */
export class RendererBusy extends Error {
  constructor () {
    super('Too many documents are waiting to be made; try again later.')
    this.name = 'RendererBusy'
  }
}

/** MiB for what a document leaves behind at once: with V8's own 48 a thread holds 30 more without being faster, with 16 it takes a fifth longer. */
const youngMemory = 32

/** Starts the threads. A job that is stopped at a limit takes its thread with it; another one takes its place. */
export function createRenderer ({ threads = Math.min(Math.max(availableParallelism() - 1, 1), 4), waiting = 500, timeLimit = 30, memoryLimit = 256 }: RendererOptions = {}): Renderer {
  const pool = new Piscina<RenderJob, Outcome>({
    filename: new URL('worker.ts', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    resourceLimits: { maxOldGenerationSizeMb: memoryLimit, maxYoungGenerationSizeMb: youngMemory }
  })
  // A thread that fails between two jobs is replaced by the pool; nobody waits for an answer.
  pool.on('error', (error: Error) => { process.emitWarning(error) })
  // The pool has a queue too, but its signal would count the time spent there as time of the document.
  const gate = createGate(threads, waiting)
  return {
    async render<F extends Format> (job: RenderJob<F>) {
      if (!await gate.enter()) throw new RendererBusy()
      try {
        // The thread answers in the format of its job; the pool's type knows only that it is one of them.
        const outcome = await pool.run(job, { signal: AbortSignal.timeout(timeLimit * 1000) }) as Outcome<F>
        if (outcome.ok) return outcome.rendered
        throw new RenderError(outcome.problems)
      } catch (error) {
        throw stopped(error, timeLimit, memoryLimit) ?? error
      } finally {
        gate.leave()
      }
    },
    close: () => pool.close()
  }
}

/** The error of a thread that was stopped at a limit. */
function stopped (error: unknown, seconds: number, megabytes: number): RenderError | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.name === 'AbortError') return renderError('', 'render_timeout', `The document was not finished within ${seconds} seconds.`, error)
  if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') return renderError('', 'render_memory', `The document needs more than ${megabytes} MiB of memory.`, error)
  return undefined
}

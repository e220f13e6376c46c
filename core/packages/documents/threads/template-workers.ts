import { createFairSemaphore, type Problem, SemaphoreFull } from '@dispatch/common'
import type { DataFindings } from '../data/data-check.ts'
import { RenderError } from '../model/errors.ts'
import type { Format, Rendered, RenderJob, RenderResult } from '../render/job.ts'
import type { Inspection, TemplateDraft } from '../source/inspect.ts'
import type { Picture, TemplateTask, TemplateTaskKind, TemplateTasks } from './template-task.ts'
import { createThreads, ThreadStopped } from './threads.ts'

export type { Picture } from './template-task.ts'

/**
 * Where everything happens that a company has written: its templates, the schemas of their data, its pictures. In threads of
 * their own, each job within bounds, one of a company at a time: nothing in it can hold up the service, or the documents of others.
 * All reject with `provider_unavailable` when too many jobs wait.
 */
export type TemplateWorkers = {
  inspect: (companyId: number, draft: TemplateDraft) => Promise<Inspection>
  /** What the company's template says about data, once it is evaluated with them. */
  check: (companyId: number, job: TemplateTasks['check']['job']) => Promise<DataFindings>
  /** Makes a document that is only looked at. Rejects with a RenderError as the renderer does. */
  render: <F extends Format>(companyId: number, job: RenderJob<F>) => Promise<Rendered<F>>
  /** Makes a picture (data URI) what it is kept as; or tells what is wrong with it. */
  flatten: (companyId: number, uri: string) => Promise<Picture | { fault: string }>
  /** Finishes the jobs that have begun and ends the threads. */
  close: () => Promise<void>
}

/** Too many jobs wait for a thread of the workshop; the job was not begun. */
export class TemplateWorkersBusy extends Error {
  override name = 'WorkshopBusy'

  constructor (options?: ErrorOptions) {
    super('Too many templates are being looked at; nothing was done: try again later.', options)
  }
}

/** `timeLimits` in seconds; `memoryLimit` in MiB for each thread. */
export type TemplateWorkersOptions = {
  threads?: number
  waiting?: number
  timeLimits?: Readonly<Record<TemplateTaskKind, number>>
  memoryLimit?: number
}

const seconds: Readonly<Record<TemplateTaskKind, number>> = { inspect: 10, check: 5, render: 10, flatten: 10 }

/** Opens the workshop; its threads are there while there is something to do. */
export function createTemplateWorkers ({ threads = 2, waiting = 50, timeLimits = seconds, memoryLimit = 256 }: TemplateWorkersOptions =
  {}): TemplateWorkers
{
  const pool = createThreads<TemplateTask, unknown>({
    module: new URL('template-worker.ts', import.meta.url),
    threads,
    start: 'when needed',
    waiting,
    memoryLimit
  })
  const semaphore = createFairSemaphore(waiting)

  /** `refuse` makes an answer of what stopped the job. */
  async function run<K extends TemplateTaskKind> (
    companyId: number,
    job: TemplateTask<K>,
    refuse: (problem: Omit<Problem, 'path'>) => TemplateTasks[K]['answer']
  ): Promise<TemplateTasks[K]['answer']> {
    const limit = timeLimits[job.kind]
    try {
      return await semaphore.run(companyId, () => pool.run(job as TemplateTask, limit)) as TemplateTasks[K]['answer']
    } catch (error) {
      if (error instanceof SemaphoreFull) throw new TemplateWorkersBusy({ cause: error })
      if (error instanceof ThreadStopped) return refuse(stopped(error, limit, memoryLimit))
      throw error
    }
  }

  return {
    inspect: (companyId, job) =>
      run(companyId, { kind: 'inspect', job }, (problem) => ({ ok: false, problems: [{ path: '', ...problem }] })),
    check: (companyId, job) =>
      run(companyId, { kind: 'check', job }, (problem) => ({ problems: [{ path: job.at, ...problem }], warnings: [], signers: 0 })),
    async render<F extends Format> (companyId: number, job: RenderJob<F>) {
      // The thread answers in the format of its job; its type knows only that it is one of them.
      const outcome = await run(companyId, { kind: 'render', job },
        (problem) => ({ ok: false, problems: [{ path: '', ...problem }] })) as RenderResult<F>
      if (outcome.ok) return outcome.rendered
      throw new RenderError(outcome.problems)
    },
    flatten: (companyId, job) => run(companyId, { kind: 'flatten', job }, ({ message }) => ({ fault: message })),
    close: () => pool.close()
  }
}

function stopped ({ limit }: ThreadStopped, seconds: number, megabytes: number): Omit<Problem, 'path'> {
  return limit === 'time'
    ? { code: 'too_slow', message: `It was not finished within ${seconds} seconds: make the template, its schema or the data simpler.` }
    : { code: 'too_large', message: `It needs more than ${megabytes} MiB of memory: make the template, its schema or the data smaller.` }
}

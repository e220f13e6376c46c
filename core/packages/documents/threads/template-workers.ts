import { type Problem, SemaphoreFull } from '@dispatch/common'
import { LRUCache } from 'lru-cache'
import type { DataFindings, SubjectFindings } from '../data/data-check.ts'
import type { Format } from '../formats/file-formats.ts'
import type { Addressed, AddressPage } from '../given/address-page.ts'
import type { JoinedPdf, PdfReading } from '../given/join-pdfs.ts'
import type { Rendered, RenderJob, RenderResult } from '../job.ts'
import { RenderError } from '../model/errors.ts'
import type { PartialDraft, PartialInspection } from '../source/inspect-partial.ts'
import type { Inspection, TemplateDraft } from '../source/inspect.ts'
import type { InvoiceReading, Picture, ProfilesReport, Refusals, TemplateTask, TemplateTaskKind, TemplateTasks } from './template-task.ts'
import { createThreads, ThreadStopped } from './threads.ts'

export type { InvoiceReading, Picture, ProfilesReport } from './template-task.ts'

/**
 * The threads for everything that a company has written, and for files that it has from strangers: its templates, the schemas of their
 * data, its pictures, e-invoices. Each job has limits, and a company runs one job at a time, so that none of this can delay the service or
 * the documents of others. All functions reject with `provider_unavailable` when too many jobs wait.
 */
export type TemplateWorkers = {
  inspect: (companyId: number, draft: TemplateDraft) => Promise<Inspection>
  inspectPartial: (companyId: number, draft: PartialDraft) => Promise<PartialInspection>
  /** The result of the company's template for data, from evaluating it with them. */
  check: (companyId: number, job: TemplateTasks['check']['job']) => Promise<DataFindings>
  /** The subject of a mail, filled with data, where the template has one. */
  subject: (companyId: number, job: TemplateTasks['subject']['job']) => Promise<SubjectFindings>
  /** How many of several data the company's template refuses; undefined where that takes too long to say. */
  refuse: (companyId: number, job: TemplateTasks['refuse']['job']) => Promise<Refusals | undefined>
  /** Makes a document for a preview. Rejects with a RenderError in the same way as the renderer. */
  render: <F extends Format>(companyId: number, job: RenderJob<F>) => Promise<Rendered<F>>
  /** What data are in each profile of e-invoices, or of those that are named. `at`: where they stand. */
  profiles: (companyId: number, job: TemplateTasks['profiles']['job']) => Promise<ProfilesReport>
  /** Reads the e-invoice in a file, or tells why it cannot be read. */
  read: (companyId: number, bytes: Uint8Array) => Promise<InvoiceReading>
  /** Puts a page with an address before a PDF, or tells why it cannot. `read`: called once a thread is free; without it, the page alone. */
  address: (companyId: number, page: AddressPage, read?: () => Promise<Uint8Array>) => Promise<Addressed>
  /** The pages of a PDF, or why it cannot be read. `sha256`: of what `read` gives, which is called once a thread is free, or not at all. */
  pages: (companyId: number, sha256: string, read: () => Promise<Uint8Array>) => Promise<PdfReading>
  /** Joins PDFs in their order, or tells which of them cannot be joined, if it is one. `read`: called once a thread is free. */
  join: (companyId: number, read: () => Promise<readonly Uint8Array[]>) => Promise<JoinedPdf>
  /** Turns a picture (data URI) into its stored form, or returns what is wrong with it. */
  flatten: (companyId: number, uri: string) => Promise<Picture | { fault: string }>
  /** Finishes the started jobs and ends the threads. */
  close: () => Promise<void>
}

/** Too many template jobs wait for a thread. The job was not started. */
export class TemplateWorkersBusy extends Error {
  override name = 'TemplateWorkersBusy'

  constructor (options?: ErrorOptions) {
    super('Too many templates and files are being checked; nothing was changed: try again later.', options)
  }
}

/** `timeLimits` are in seconds of the processor time of a thread; `memoryLimit` is in MiB for each thread. */
export type TemplateWorkersOptions = {
  threads?: number
  waiting?: number
  timeLimits?: Readonly<Record<TemplateTaskKind, number>>
  memoryLimit?: number
}

const seconds: Readonly<Record<TemplateTaskKind, number>> = {
  inspect: 10,
  inspectPartial: 10,
  check: 5,
  subject: 5,
  refuse: 5,
  render: 10,
  profiles: 10,
  read: 10,
  address: 10,
  pages: 10,
  join: 10,
  flatten: 10
}

/**
 * Creates the template threads; they run only while there are jobs. A job throws `RenderError` for a template with faults, and
 * `TemplateWorkersBusy` where too many wait. `timeLimits`: seconds; `memoryLimit`: MiB.
 */
export function createTemplateWorkers ({ threads = 2, waiting = 50, timeLimits = seconds, memoryLimit = 256 }: TemplateWorkersOptions =
  {}): TemplateWorkers
{
  const pool = createThreads<TemplateTask, unknown>({
    module: new URL('template-worker.ts', import.meta.url),
    threads,
    perOwner: 1,
    idle: 30,
    waiting,
    memoryLimit
  })

  /** By the hash of the PDF: the rows of a batch give the same one. */
  const readings = new LRUCache<string, PdfReading>({ max: 100 })

  /** `refuse` makes the answer for a job that was stopped. */
  function run<K extends TemplateTaskKind> (
    companyId: number,
    job: TemplateTask<K>,
    refuse: (problem: Omit<Problem, 'path'>) => TemplateTasks[K]['answer']
  ): Promise<TemplateTasks[K]['answer']> {
    return runLoaded<K>(companyId, { kind: job.kind, load: () => Promise.resolve(job) }, refuse)
  }

  async function runLoaded<K extends TemplateTaskKind> (
    companyId: number,
    { kind, load }: { kind: K, load: () => Promise<TemplateTask<K>> },
    refuse: (problem: Omit<Problem, 'path'>) => TemplateTasks[K]['answer']
  ): Promise<TemplateTasks[K]['answer']> {
    const limit = timeLimits[kind]
    try {
      return await pool.runLoaded(companyId, load as () => Promise<TemplateTask>, limit) as TemplateTasks[K]['answer']
    } catch (error) {
      if (error instanceof SemaphoreFull) throw new TemplateWorkersBusy({ cause: error })
      if (error instanceof ThreadStopped) return refuse(stopped(error, limit, memoryLimit))
      throw error
    }
  }

  return {
    inspect: (companyId, job) =>
      run(companyId, { kind: 'inspect', job }, (problem) => ({ ok: false, problems: [{ path: '', ...problem }] })),
    inspectPartial: (companyId, job) =>
      run(companyId, { kind: 'inspectPartial', job }, (problem) => ({ ok: false, problems: [{ path: '', ...problem }] })),
    check: (companyId, job) =>
      run(companyId, { kind: 'check', job }, (problem) => ({ problems: [{ path: job.at, ...problem }], warnings: [], signers: 0 })),
    subject: (companyId, job) => run(companyId, { kind: 'subject', job }, (problem) => ({ problems: [{ path: job.at, ...problem }] })),
    async refuse (companyId, job) {
      const stoppedAt: Refusals = { refused: -1, examples: [] }
      const found = await run(companyId, { kind: 'refuse', job }, () => stoppedAt)
      return found === stoppedAt ? undefined : found
    },
    async render<F extends Format> (companyId: number, job: RenderJob<F>) {
      // The thread answers in the format of its job. Its type knows only the union of all formats.
      const outcome = await run(companyId, { kind: 'render', job },
        (problem) => ({ ok: false, problems: [{ path: '', ...problem }] })) as RenderResult<F>
      if (outcome.ok) return outcome.rendered
      throw new RenderError(outcome.problems)
    },
    profiles: (companyId, job) => run(companyId, { kind: 'profiles', job }, (problem) => ({ ok: false, problem })),
    read: (companyId, job) =>
      run(companyId, { kind: 'read', job }, ({ code }) => ({
        ok: false,
        problem: { code, message: 'Reading the file takes more processor time or memory than an invoice does.' }
      })),
    address (companyId, page, read) {
      const load = async (): Promise<TemplateTask<'address'>> => ({
        kind: 'address',
        job: { page, ...read === undefined ? {} : { pdf: await read() } }
      })
      return runLoaded(companyId, { kind: 'address', load }, ({ code }) => ({
        ok: false,
        of: 'pdf',
        problem: {
          code,
          message: 'To put a page before this PDF takes more processor time or memory than a letter does.'
        }
      }))
    },
    async pages (companyId, sha256, read) {
      const known = readings.get(sha256)
      if (known !== undefined) return known
      const load = async (): Promise<TemplateTask<'pages'>> => ({ kind: 'pages', job: await read() })
      const reading = await runLoaded(companyId, { kind: 'pages', load }, ({ code }) => ({
        ok: false,
        problem: { code, message: 'Reading this PDF takes more processor time or memory than a document does.' }
      }))
      if (reading.ok) readings.set(sha256, reading)
      return reading
    },
    async join (companyId, read) {
      const load = async (): Promise<TemplateTask<'join'>> => ({ kind: 'join', job: await read() })
      return runLoaded(companyId, { kind: 'join', load }, ({ code }) => ({
        ok: false,
        problem: { code, message: 'To join these PDFs takes more processor time or memory than a document does.' }
      }))
    },
    flatten: (companyId, job) => run(companyId, { kind: 'flatten', job }, ({ message }) => ({ fault: message })),
    close: () => pool.close()
  }
}

function stopped ({ limit }: ThreadStopped, seconds: number, megabytes: number): Omit<Problem, 'path'> {
  return limit === 'time'
    ? {
      code: 'too_slow',
      message: `It takes more than ${seconds} seconds of processor time: make the template, its schema or the data simpler.`
    }
    : { code: 'too_large', message: `It needs more than ${megabytes} MiB of memory: make the template, its schema or the data smaller.` }
}

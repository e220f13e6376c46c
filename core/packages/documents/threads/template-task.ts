import type { JsonObject, Problem } from '@dispatch/common'
import type { InvoiceFile, ProfileChoice, ProfileReport } from '@dispatch/einvoice'
import type { DataFindings, SubjectFindings } from '../data/data-check.ts'
import type { Format } from '../formats/file-formats.ts'
import type { Addressed, AddressPage } from '../given/address-page.ts'
import type { JoinedPdf, PdfReading } from '../given/join-pdfs.ts'
import type { RenderJob, RenderResult } from '../job.ts'
import type { TemplateSource } from '../model/model.ts'
import type { PartialDraft, PartialInspection } from '../source/inspect-partial.ts'
import type { Inspection, TemplateDraft } from '../source/inspect.ts'

/**
 * The template and schema that data are checked against. `digest` identifies the content, which is compiled once. The source contains
 * placeholders for its pictures.
 */
export type CheckedTemplate = { digest: string, source: TemplateSource, schema: JsonObject }

/** A picture in its stored form: flattened and limited, with its size in pixels. */
export type Picture = { uri: string, width: number, height: number }

/** How many of several data a template refuses, and of the first of them what is wrong. */
export type Refusals = { refused: number, examples: { id: string, problem: Problem }[] }

/** An e-invoice that was read from a file; or why the file cannot be read, and where in it that is. */
export type InvoiceReading = { ok: true, invoice: InvoiceFile } | { ok: false, problem: Omit<Problem, 'path'> }

/** What data are in each profile of e-invoices; or why that cannot be said. */
export type ProfilesReport = { ok: true, reports: ProfileReport[] } | { ok: false, problem: Omit<Problem, 'path'> }

/** The kinds of template jobs, with their inputs and answers. They are plain data, because they are sent between threads. */
export type TemplateTasks = {
  inspect: { job: TemplateDraft, answer: Inspection }
  inspectPartial: { job: PartialDraft, answer: PartialInspection }
  check: { job: { template: CheckedTemplate, data: JsonObject, at: string, format: Format }, answer: DataFindings }
  subject: { job: { template: CheckedTemplate, data: JsonObject, at: string }, answer: SubjectFindings }
  refuse: {
    job: { template: CheckedTemplate, all: readonly { id: string, data: JsonObject }[], at: string, format: Format, examples: number }
    answer: Refusals
  }
  render: { job: RenderJob, answer: RenderResult }
  profiles: { job: { source: Pick<TemplateSource, 'currency'>, data: JsonObject, at: string } & ProfileChoice, answer: ProfilesReport }
  read: { job: Uint8Array, answer: InvoiceReading }
  address: { job: { pdf?: Uint8Array, page: AddressPage }, answer: Addressed }
  pages: { job: Uint8Array, answer: PdfReading }
  join: { job: readonly Uint8Array[], answer: JoinedPdf }
  flatten: { job: string, answer: Picture | { fault: string } }
}
export type TemplateTaskKind = keyof TemplateTasks

/** A job on its way to a thread. */
export type TemplateTask<K extends TemplateTaskKind = TemplateTaskKind> = {
  [Name in K]: { kind: Name, job: TemplateTasks[Name]['job'] }
}[K]

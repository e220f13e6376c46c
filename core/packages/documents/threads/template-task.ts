import type { JsonObject } from '@dispatch/common'
import type { DataFindings } from '../data/data-check.ts'
import type { TemplateSource } from '../model/model.ts'
import type { Format, RenderJob, RenderResult } from '../render/job.ts'
import type { Inspection, TemplateDraft } from '../source/inspect.ts'

/** What data are checked against: `digest` names the content, which is compiled once. The source comes with stand-ins for its pictures. */
export type CheckedTemplate = { digest: string, source: TemplateSource, schema: JsonObject }

/** A picture as it is kept: flattened and bounded, with its size in pixels. */
export type Picture = { uri: string, width: number, height: number }

/** What the workshop does: the job of each kind, and its answer. Plain data, because both travel between threads. */
export type TemplateTasks = {
  inspect: { job: TemplateDraft, answer: Inspection }
  check: { job: { template: CheckedTemplate, data: JsonObject, at: string, format: Format }, answer: DataFindings }
  render: { job: RenderJob, answer: RenderResult }
  flatten: { job: string, answer: Picture | { fault: string } }
}
export type TemplateTaskKind = keyof TemplateTasks

/** A job on its way to a thread. */
export type TemplateTask<K extends TemplateTaskKind = TemplateTaskKind> = {
  [Name in K]: { kind: Name, job: TemplateTasks[Name]['job'] }
}[K]

import type { JsonObject } from '@dispatch/common'
import type { DataFindings } from '../data/data-check.ts'
import type { Draft, Inspection } from '../source/inspect.ts'
import type { Format, Outcome, RenderJob } from '../render/job.ts'
import type { TemplateSource } from '../model/model.ts'

/** What data are checked against: `digest` names the content, which is compiled once. The source comes with stand-ins for its pictures. */
export type CheckedTemplate = { digest: string, source: TemplateSource, schema: JsonObject }

/** A picture as it is kept: flattened and bounded, with its size in pixels. */
export type Picture = { uri: string, width: number, height: number }

/** What the workshop does: the job of each kind, and its answer. Plain data, because both travel between threads. */
export type Jobs = {
  inspect: { job: Draft, answer: Inspection }
  check: { job: { template: CheckedTemplate, data: JsonObject, at: string, format: Format }, answer: DataFindings }
  render: { job: RenderJob, answer: Outcome }
  flatten: { job: string, answer: Picture | { fault: string } }
}
export type Kind = keyof Jobs

/** A job on its way to a thread. */
export type WorkshopJob<K extends Kind = Kind> = { [Name in K]: { kind: Name, job: Jobs[Name]['job'] } }[K]

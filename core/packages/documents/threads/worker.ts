import { LRUCache } from 'lru-cache'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { type CompiledTemplate, compileTemplate } from '../compile/compile.ts'
import type { RenderJob, RenderResult } from '../job.ts'
import { facesFor } from '../layout/fonts.ts'
import { RenderError } from '../model/errors.ts'
import type { TemplateSource } from '../model/model.ts'
import { render } from '../render.ts'
import { type PostedTemplate, unpacked } from './posted-template.ts'
import { inThread } from './thread-job.ts'

const templates = new LRUCache<string, CompiledTemplate>({ max: 200 })

// The fonts that nearly every document uses are read in advance, so that the first document does not wait for them.
facesFor('sans', {})
facesFor('sans', { bold: true })

/** A job of the renderer's pool. */
export type PostedJob = Omit<RenderJob, 'template'> & { template: PostedTemplate }

/**
 * Makes one document in a thread of the renderer's pool. The result is an {@link RenderResult}; the bytes of a file are transferred, not
 * copied.
 */
export default inThread(({ template, ...job }: PostedJob) => makeDocument(job, template.digest, () => unpacked(template)))

/** The same in the way that a thread of the renderer does it. `source` is asked only for a template that is not compiled yet. */
export async function makeDocument (job: Omit<RenderJob, 'template'>, digest: string, source: () => TemplateSource): Promise<unknown> {
  const outcome = await attempt(job, digest, source)
  return outcome.ok && 'bytes' in outcome.rendered
    ? move({ [transferableSymbol]: [outcome.rendered.bytes.buffer], [valueSymbol]: outcome })
    : outcome
}

async function attempt (job: Omit<RenderJob, 'template'>, digest: string, source: () => TemplateSource): Promise<RenderResult> {
  try {
    return { ok: true, rendered: await render(compiled(digest, source), job) }
  } catch (error) {
    if (error instanceof RenderError) return { ok: false, problems: error.problems }
    throw error
  }
}

function compiled (digest: string, source: () => TemplateSource): CompiledTemplate {
  const template = templates.get(digest) ?? compileTemplate(source())
  templates.set(digest, template)
  return template
}

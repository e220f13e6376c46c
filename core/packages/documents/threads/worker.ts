import { LRUCache } from 'lru-cache'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { type CompiledTemplate, compileTemplate } from '../compile/compile.ts'
import { facesFor } from '../layout/fonts.ts'
import { RenderError } from '../model/errors.ts'
import type { RenderJob, RenderResult } from '../render/job.ts'
import { render } from '../render/render.ts'
import { inThread } from './thread-job.ts'

const templates = new LRUCache<string, CompiledTemplate>({ max: 200 })

// The fonts that nearly every document uses are read in advance, so that the first document does not wait for them.
facesFor('sans', {})
facesFor('sans', { bold: true })

/**
 * Makes one document in a thread of the renderer's pool. The result is an {@link RenderResult}; the bytes of a file are transferred, not
 * copied.
 */
export default inThread(makeDocument)

/** The same in the way that a thread of the renderer does it. */
export async function makeDocument (job: RenderJob): Promise<unknown> {
  const outcome = await attempt(job)
  return outcome.ok && 'bytes' in outcome.rendered
    ? move({ [transferableSymbol]: [outcome.rendered.bytes.buffer], [valueSymbol]: outcome })
    : outcome
}

async function attempt (job: RenderJob): Promise<RenderResult> {
  try {
    return { ok: true, rendered: await render(compiled(job.template), job) }
  } catch (error) {
    if (error instanceof RenderError) return { ok: false, problems: error.problems }
    throw error
  }
}

function compiled ({ digest, source }: RenderJob['template']): CompiledTemplate {
  const template = templates.get(digest) ?? compileTemplate(source)
  templates.set(digest, template)
  return template
}

import { LRUCache } from 'lru-cache'
import { deserialize, serialize } from 'node:v8'
import type { RenderJob } from '../job.ts'
import type { TemplateSource } from '../model/model.ts'

/**
 * A template on its way to a thread. The memory of its source is shared: posting it copies nothing, however many pictures it has, and only
 * a thread that has not compiled the template yet reads it.
 */
export type PostedTemplate = { digest: string, packed: SharedArrayBuffer }

/** What posts the templates of jobs. It keeps those of the last jobs, up to 32 MiB of them. */
export function templatePoster (): (template: RenderJob['template']) => PostedTemplate {
  const posted = new LRUCache<string, PostedTemplate>({ maxSize: 2 ** 25, sizeCalculation: ({ packed }) => packed.byteLength })
  return ({ digest, source }) => {
    const template = posted.get(digest) ?? { digest, packed: packedFrom(source) }
    posted.set(digest, template)
    return template
  }
}

function packedFrom (source: TemplateSource): SharedArrayBuffer {
  const bytes = serialize(source)
  const packed = new SharedArrayBuffer(bytes.length)
  new Uint8Array(packed).set(bytes)
  return packed
}

/** The source of a posted template. */
export function unpacked ({ packed }: PostedTemplate): TemplateSource {
  return deserialize(new Uint8Array(packed)) as TemplateSource
}

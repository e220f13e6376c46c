import type { TemplateSource } from '../model/model.ts'

/** One grey pixel. It replaces a picture where only its presence matters. */
export const placeholderImage =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=='

/** The template with a placeholder for every picture. It reads its data in the same way, and is much smaller. */
export function withPlaceholderImages (source: TemplateSource): TemplateSource {
  const { assets } = source
  return assets === undefined
    ? source
    : { ...source, assets: Object.fromEntries(Object.keys(assets).map((name) => [name, placeholderImage])) }
}

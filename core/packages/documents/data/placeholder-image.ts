import type { TemplateSource } from '../model/model.ts'

/** One grey point: it stands for a picture where only its being there matters. */
export const placeholderImage =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=='

/** The template with a point for every picture: its data are read the same way, and nobody carries its bytes. */
export function withPlaceholderImages (source: TemplateSource): TemplateSource {
  const { assets } = source
  return assets === undefined
    ? source
    : { ...source, assets: Object.fromEntries(Object.keys(assets).map((name) => [name, placeholderImage])) }
}

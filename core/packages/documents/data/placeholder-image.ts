import type { TemplateSource } from '../model/model.ts'

/** One grey pixel. It replaces a picture where only its presence matters. */
export const placeholderImage =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=='

/** The template with a placeholder for every picture. It reads its data in the same way, and is much smaller. */
export function withPlaceholderImages (source: TemplateSource): TemplateSource {
  const { assets, brand } = source
  const isLogoKept = typeof brand !== 'object' || brand.logo === undefined
  if (assets === undefined && isLogoKept) return source
  return {
    ...source,
    ...assets !== undefined && { assets: Object.fromEntries(Object.keys(assets).map((name) => [name, placeholderImage])) },
    ...!isLogoKept && { brand: { ...brand, logo: placeholderImage } }
  }
}

import type { Brand } from '../model/brand.ts'
import type { TemplateSource } from '../model/model.ts'

/** A brand as it is kept. `digest` identifies the content. */
export type KeptBrand = { digest: string, content: Brand }

/**
 * A template that takes a brand (`brand: true`), with that of a company; its digest changes with it. `logo: false`: without the logo, where
 * no picture can be sent.
 */
export function withBrand<Template extends { digest: string, source: TemplateSource }> (
  template: Template,
  brand: KeptBrand | undefined,
  { logo = true } = {}
): Template {
  if (template.source.brand === undefined || brand === undefined) return template
  const { logo: _logo, ...plain } = brand.content
  return {
    ...template,
    digest: `${template.digest}-${brand.digest}${logo ? '' : '-plain'}`,
    source: { ...template.source, brand: logo ? brand.content : plain }
  }
}

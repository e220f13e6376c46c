import type { JsonObject } from '@dispatch/common'
import type { TemplateSource } from '@dispatch/documents'

/** One version of a template. `companyId` null: it is shared. `source`: the block model; `schema`: the JSON Schema of its data. */
export type StoredTemplate = {
  id: number
  companyId: number | null
  name: string
  version: number
  digest: string
  source: TemplateSource
  schema: JsonObject
  sample: JsonObject
  updatedAt: Date
}

/** What dispatches need of templates. Whoever keeps templates provides it. */
export type Templates = {
  /**
   * The version in use of a template that the company may use, as of the last freshness check. Of those with one name, the company's own
   * comes before a shared one. Throws `template_not_found`, with the reason.
   */
  find: (companyId: number, named: { id: number } | { name: string }) => Promise<StoredTemplate>
  /** One version of a template, for a dispatch that was recorded with it. */
  findVersion: (companyId: number, templateId: number, version: number) => Promise<StoredTemplate | undefined>
  /** Every shared template, in its version in use. */
  listShared: () => Promise<StoredTemplate[]>
}

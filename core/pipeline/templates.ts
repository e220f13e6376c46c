import type { JsonObject } from '@dispatch/common'
import type { KeptBrand, TemplateSource } from '@dispatch/documents'

/**
 * One version of a template. `companyId` null: it is shared. `source`: the block model; `schema`: the JSON Schema of its data. `updatedAt`:
 * when it was saved; `inUseSince`: when the version that dispatches use now was published last. `brand`: of the company that sends it, with
 * the number of its version, and since when the company looks like that; absent where the template takes none or the company has none.
 */
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
  inUseSince?: Date
  brand?: KeptBrand & { version: number, inUseSince?: Date }
}

/** What dispatches need of templates. Whoever keeps templates provides it. */
export type Templates = {
  /**
   * The version in use of a template that the company may use, as of the last freshness check. Of those with one name, the company's own
   * comes before a shared one. Throws `template_not_found`, with the reason.
   */
  find: (companyId: number, named: { id: number } | { name: string }) => Promise<StoredTemplate>
  /** One version of a template with a version of the company's brand, or with none, for a dispatch that was recorded with them. */
  findVersion: (companyId: number, templateId: number, version: number, brand: number | null) => Promise<StoredTemplate | undefined>
  /** What those are called now that were not removed, by their ids. */
  namesOf: (companyId: number, templateIds: readonly number[]) => Promise<ReadonlyMap<number, string>>
  /** Every shared template, in its version in use. */
  listShared: () => Promise<StoredTemplate[]>
}

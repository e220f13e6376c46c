import type { JsonObject } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import type { Brand, KeptPartial, TemplateSource } from '@dispatch/documents'
import type { ColumnType, Generated } from 'kysely'
import type { BrandBody } from '../contract/brand.ts'

/** A column with JSON, which is written as a text. */
type Plain<T> = ColumnType<T, string, string>

/** The tables of templates as the types of queries. The migrations 008 and later of the core have made them. */
export type TemplateTables = {
  templates: {
    template_id: number
    company_id: number | null
    name: string
    version: number | null
    in_use_since: Date | null
    updated_at: Date
    removed_at: Date | null
  }
  template_versions: {
    template_id: number
    version: number
    company_id: number | null
    digest: string
    source: Plain<TemplateSource>
    schema: Plain<JsonObject>
    sample: Plain<JsonObject>
    created_at: Date
    yaml: Generated<string>
    size: Generated<number>
    user_id: number | null
    published_at: Date | null
    language: Generated<number>
  }
  assets: { company_id: number, name: string, uri: string, sha256: string, width: number, height: number, size: number, created_at: Date }
  partials: {
    company_id: number
    name: string
    kind: KeptPartial['kind']
    version: number
    yaml: string
    source: Plain<KeptPartial['source']>
    user_id: number | null
    updated_at: Date
  }
  brands: { company_id: number, settings: Plain<BrandBody>, logo: string | null, updated_at: Date }
  brand_versions: {
    company_id: number
    version: number
    digest: string
    content: Plain<Omit<Brand, 'logo'>>
    logo: string | null
    created_at: Date
  }
  brand_logos: { company_id: number, sha256: string, uri: string }
}

/** Queries that know the tables of templates. */
export function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<TemplateTables>()
}

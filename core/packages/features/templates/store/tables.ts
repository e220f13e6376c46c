import type { JsonObject } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import type { TemplateSource } from '@dispatch/documents'
import type { ColumnType, Generated } from 'kysely'

/** A column with JSON, which is written as a text. */
type Plain<T> = ColumnType<T, string, string>

/** The tables of templates as the types of queries. The migrations 008 and later of the core have made them. */
export type TemplateTables = {
  templates: {
    template_id: number
    company_id: number | null
    name: string
    version: number | null
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
}

/** Queries that know the tables of templates. */
export function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<TemplateTables>()
}

import type { Database } from '@dispatch/database'
import { sql } from 'kysely'
import { tablesIn } from './tables.ts'

/** A template, its version and a picture of a company, for the tests of the walls between companies. */
export async function fillTemplates (queries: Database['owner'], companyId: number): Promise<void> {
  const tables = tablesIn(queries)
  const { id } = await tables.selectNoFrom(sql<number>`nextval('template_numbers')::integer`.as('id')).executeTakeFirstOrThrow()
  const at = new Date()
  await tables.insertInto('templates').values({ template_id: id, company_id: companyId, name: 'a template', version: 1, updated_at: at })
    .execute()
  await tables.insertInto('template_versions').values({
    template_id: id,
    version: 1,
    company_id: companyId,
    digest: '',
    source: '{}',
    schema: '{}',
    sample: '{}',
    created_at: at
  }).execute()
  await tables.insertInto('assets').values({
    company_id: companyId,
    name: 'a-picture',
    uri: 'data:image/png;base64,',
    sha256: '',
    width: 1,
    height: 1,
    size: 1,
    created_at: at
  }).execute()
  await tables.insertInto('partials').values({
    company_id: companyId,
    name: 'terms',
    kind: 'partial',
    version: 1,
    yaml: '',
    source: '{"blocks":[]}',
    user_id: null,
    updated_at: at
  }).execute()
  await tables.insertInto('brands').values({ company_id: companyId, settings: '{}', logo: null, updated_at: at }).execute()
  await tables.insertInto('brand_logos').values({ company_id: companyId, sha256: '', uri: '' }).execute()
  await tables.insertInto('brand_versions').values({
    company_id: companyId,
    version: 1,
    digest: '',
    content: '{}',
    logo: null,
    created_at: at
  }).execute()
}

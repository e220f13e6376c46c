import type { StoredTemplate } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { templateLanguage } from '@dispatch/documents'
import { isSuperseded } from '@dispatch/tables'
import { tablesIn } from './tables.ts'
import { selectPublishedVersions } from './template-rows.ts'

/** A template that comes with the service. `digest` changes with its contents. */
export type SharedTemplate = Pick<StoredTemplate, 'id' | 'name' | 'digest' | 'source' | 'schema' | 'sample'> & { yaml: string }

/**
 * Brings the shared templates up to date, unless a newer release has done so. A changed template gets a new version. Answers how many
 * changed.
 */
export async function publishShared (
  { owner, withAdvisoryLock: alone }: Database,
  templates: readonly SharedTemplate[],
  now: Date
): Promise<number> {
  // Several processes may start at once: one publishes, and the others find nothing to do.
  return alone(() =>
    owner.transaction().execute(async (queries) => {
      if (await isSuperseded({ owner: queries })) return 0
      const tables = tablesIn(queries)
      let changed = 0
      for (const { id, name, digest, source, schema, sample, yaml } of templates) {
        const known = await selectPublishedVersions(queries, null).select('yaml').where('templates.template_id', '=', id).executeTakeFirst()
        // Comments and layout do not change the documents.
        if (known?.digest === digest && known.yaml !== yaml) {
          await tables.updateTable('template_versions').set({ yaml }).where('template_id', '=', id).where('version', '=', known.version)
            .execute()
        }
        if (known?.digest === digest) continue
        const version = (known?.version ?? 0) + 1
        const present = { name, version, in_use_since: now, updated_at: now }
        await tables.insertInto('templates').values({ template_id: id, company_id: null, ...present })
          .onConflict((conflict) => conflict.column('template_id').doUpdateSet(present)).execute()
        await tables.insertInto('template_versions').values({
          template_id: id,
          version,
          company_id: null,
          digest,
          source: JSON.stringify(source),
          schema: JSON.stringify(schema),
          sample: JSON.stringify(sample),
          yaml,
          created_at: now,
          published_at: now,
          language: templateLanguage
        }).execute()
        changed++
      }
      return changed
    })
  )
}

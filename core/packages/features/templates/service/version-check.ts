import type { StoredTemplate } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { apiFormats, type TemplateWorkers, withPlaceholderImages } from '@dispatch/documents'
import type { VersionCheck } from '../contract/templates.ts'
import { listTemplateUses, readTemplateData } from '../store/template-uses.ts'
import { usualFormat } from './preview.ts'

/** Of how many days, how many dispatches at most, how many at a time, within how many milliseconds, and how many are named. */
const limits = { days: 30, dispatches: 500, batch: 50, time: 2_000, examples: 5 }

type Parts = { database: Database, templateWorkers: TemplateWorkers, now: () => Date }

/**
 * How many of the dispatches that have used a template lately a version of it would refuse: their data are checked as those of a new
 * dispatch are. Who asks waits about two seconds at most, and is told where that was too short. Throws `provider_unavailable`.
 */
export async function checkVersion (
  { database, templateWorkers, now }: Parts,
  companyId: number,
  { id: templateId, version, digest, schema, source }: StoredTemplate
): Promise<VersionCheck> {
  const since = new Date(now().getTime() - limits.days * 86_400_000)
  const { uses, complete } = await listTemplateUses(database, companyId, { templateId, since, max: limits.dispatches })
  const template = { digest, schema, source: withPlaceholderImages(source) }
  const found: VersionCheck = { version, since: since.toISOString(), checked: 0, complete, refused: 0, examples: [] }
  const end = performance.now() + limits.time
  for (let first = 0; first < uses.length; first += limits.batch) {
    if (performance.now() > end) return { ...found, complete: false }
    const all = await readTemplateData(database, companyId, uses.slice(first, first + limits.batch))
    const examples = limits.examples - found.examples.length
    const batch = await templateWorkers.refuse(companyId, { template, all, at: '/data', format: apiFormats[usualFormat(source)], examples })
    if (batch === undefined) return { ...found, complete: false }
    found.checked += all.length
    found.refused += batch.refused
    found.examples.push(...batch.examples.map(({ id: dispatchId, problem }) => ({ dispatchId, problem })))
  }
  return found
}

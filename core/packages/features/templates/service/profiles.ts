import { refusal } from '@dispatch/contract'
import type { TemplateWorkers } from '@dispatch/documents'
import type { ProfilesBody, ProfilesView } from '../contract/templates.ts'
import type { NewVersion } from '../store/template-changes.ts'
import { requireFit } from './version-preview.ts'

/** The most characters of XML in an answer, and the most broken rules of a profile. */
const most = { xml: 4 * 1024 * 1024, broken: 1_000 }

/**
 * What the data of a version, or its sample, are in each profile of e-invoices. Throws `validation_failed` for a template that is none of
 * invoices, and for data that do not fit it or take too long.
 */
export async function previewProfiles (
  { templateWorkers }: { templateWorkers: TemplateWorkers },
  companyId: number,
  template: NewVersion,
  { data, profile, format }: Omit<ProfilesBody, 'version'>
): Promise<ProfilesView> {
  if (template.source.vocabulary !== 'invoice') {
    throw refusal('validation_failed', [{ path: '', code: 'not_supported', message: 'No e-invoice is made of this template.' }])
  }
  if (data !== undefined) await requireFit({ templateWorkers }, companyId, template, { data, format: 'cii' })
  const [shown, at] = data === undefined ? [template.sample, '/sample'] : [data, '/data']
  const { currency } = template.source
  const found = await templateWorkers.profiles(companyId, {
    source: currency === undefined ? {} : { currency },
    data: shown,
    at,
    profile,
    format
  })
  if (!found.ok) throw refusal('validation_failed', [{ path: at, ...found.problem }])
  const length = found.reports.reduce((sum, { xml = '' }) => sum + xml.length, 0)
  return {
    data: found.reports.map(({ xml, broken, ...report }) => ({
      ...report,
      fits: xml !== undefined,
      xml: xml === undefined || (length > most.xml && found.reports.length > 1) ? null : xml,
      broken: broken.slice(0, most.broken).map(({ path, code, message, severity }) => ({ path, code, message, severity }))
    }))
  }
}

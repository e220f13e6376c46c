import type { Actor } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import { repeatedFrom } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import type { TemplateWorkers } from '@dispatch/documents'
import { services, toldData, withFacts } from '@dispatch/services'
import type { InvoicingTerms, ProfilesBody, ProfilesView } from '../contract/templates.ts'
import type { NewVersion } from '../store/template-changes.ts'
import { requireFit } from './version-preview.ts'

/** The most characters of XML in an answer, and the most broken rules of a profile. */
const limits = { xml: 4 * 1024 * 1024, broken: 1_000 }

type Parts = { database: Database, templateWorkers: TemplateWorkers }

/**
 * What the data of a version, or its sample, are in each profile of e-invoices, with what a request says beside them. Throws
 * `validation_failed` for a template that is none of invoices, and for data that do not fit it or take too long.
 */
export async function previewProfiles (
  parts: Parts,
  actor: Actor,
  template: NewVersion,
  { data, terms = {}, profile, format }: Omit<ProfilesBody, 'version'>
): Promise<ProfilesView> {
  const { companyId } = actor
  const { schema, sample, source: { vocabulary, currency } } = template
  if (vocabulary !== 'invoice') {
    throw refusal('validation_failed', [{ path: '', code: 'not_supported', message: 'No e-invoice is made of this template.' }])
  }
  const at = data === undefined ? '/sample' : '/data'
  const facts = { schema, vocabulary }
  const shown = withFacts(facts, data ?? sample, await repeatedIn(parts, actor, terms))
  if (data !== undefined) await requireFit(parts, companyId, template, { data: shown, format: 'cii' })
  const reported = services.invoicing.tells?.(terms) ?? {}
  const found = await parts.templateWorkers.profiles(companyId, {
    source: currency === undefined ? {} : { currency },
    data: toldData(services.invoicing, terms, shown, facts),
    at,
    profile,
    format
  })
  if (!found.ok) throw refusal('validation_failed', [{ path: at, ...found.problem }])
  // What the request alone says is put right where it says so.
  const placed = (path: string): string => {
    const name = path.slice(at.length + 1)
    const isLeftOut = !Object.hasOwn(shown, name) || shown[name] === null
    return Object.hasOwn(reported, name) && isLeftOut ? `/terms/${name}` : path
  }
  const length = found.reports.reduce((sum, { xml = '' }) => sum + xml.length, 0)
  return {
    data: found.reports.map(({ xml, broken, ...report }) => ({
      ...report,
      fits: xml !== undefined,
      xml: xml === undefined || (length > limits.xml && found.reports.length > 1) ? null : xml,
      broken: broken.slice(0, limits.broken).map(({ path, code, message, severity }) => ({ path: placed(path), code, message, severity }))
    }))
  }
}

/** What the data repeat of the invoice that the request is about. */
async function repeatedIn (parts: Parts, actor: Actor, { from }: InvoicingTerms): Promise<JsonObject> {
  if (from === undefined) return {}
  const found = await repeatedFrom(parts, actor, services.invoicing, from)
  if ('facts' in found) return found.facts
  const { path, ...problem } = found.problem
  throw refusal('validation_failed', [{ path: `/terms/from${path}`, ...problem }])
}

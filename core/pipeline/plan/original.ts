import { type Actor, maySee } from '@dispatch/accounts'
import { isRecord, type JsonObject, type Problem } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { TemplateWorkers } from '@dispatch/documents'
import { services, withFacts } from '@dispatch/services'
import { findDispatch } from '../../store/dispatch/dispatch-views.ts'
import { factsTemplateOf } from '../facts.ts'
import { recordedData } from './recorded-template.ts'
import type { ResolvedRequest, ResolvedStep } from './resolve.ts'

type Catalogs = { database: Database, templateWorkers: TemplateWorkers }

/**
 * The steps whose documents follow another one, such as a credit note, with what they repeat of it where their own data leave it out and
 * their template has a place for it. Throws `validation_failed` where there is no such document.
 */
export async function withOriginals (catalogs: Catalogs, actor: Actor, draft: ResolvedRequest): Promise<ResolvedRequest> {
  const all = [...draft.steps, ...draft.deferred]
  if (!all.some(({ service, fields }) => originIn(service, fields) !== undefined)) return draft
  const fill = (steps: readonly ResolvedStep[]): Promise<ResolvedStep[]> =>
    Promise.all(steps.map((step) => withOriginal(catalogs, actor, step)))
  return { ...draft, steps: await fill(draft.steps), deferred: await fill(draft.deferred) }
}

function originIn (service: ResolvedStep['service'], fields: JsonObject): JsonObject | undefined {
  const { follows } = services[service]
  const origin = follows === undefined ? undefined : fields[follows.field]
  return isRecord(origin) ? origin : undefined
}

async function withOriginal (catalogs: Catalogs, actor: Actor, step: ResolvedStep): Promise<ResolvedStep> {
  const { service, fields, template } = step
  const { follows } = services[service]
  const origin = originIn(service, fields)
  if (follows === undefined || origin === undefined || template === undefined) return step
  const { [follows.field]: _, ...own } = fields
  const found = await repeatedFrom(catalogs, actor, services[service], origin)
  if ('problem' in found) {
    const { path, ...problem } = found.problem
    throw refusal('validation_failed', [{ path: step.at(follows.field) + path, ...problem }])
  }
  const { schema = {} } = factsTemplateOf(template.template)
  return { ...step, fields: own, template: { ...template, data: withFacts({ schema }, template.data, found.facts) } }
}

type Following = Pick<(typeof services)[ResolvedStep['service']], 'name' | 'follows'>

/**
 * What the data of a service's document repeat of those of the one that it follows (`origin`: the field that names it); or why that
 * cannot be said, with the place below the field.
 */
export async function repeatedFrom (
  catalogs: Catalogs,
  actor: Actor,
  { name, follows }: Following,
  { dispatchId, document }: { dispatchId?: string, document?: string }
): Promise<{ facts: JsonObject } | { problem: Problem }> {
  const [path, found] = dispatchId === undefined
    ? ['/document', await read(catalogs, actor, document ?? '')]
    : ['/dispatchId', await dispatched(catalogs, actor, name, dispatchId)]
  if (!('data' in found)) return { problem: { path, ...found } }
  const reported = follows?.repeated(found.data)
  return reported === undefined ? { problem: { path, code: 'incomplete', message: 'It has no number.' } } : { facts: reported }
}

type Found = { data: JsonObject } | Omit<Problem, 'path'>

async function dispatched ({ database }: Catalogs, actor: Actor, service: string, dispatchId: string): Promise<Found> {
  const record = await findDispatch(database, actor.companyId, dispatchId)
  const step = record !== undefined && maySee(actor, record) ? record.steps.find((one) => one.service === service) : undefined
  if (record === undefined || step === undefined) return { code: 'not_found', message: `There is no dispatch of ${service} with this id.` }
  const data = recordedData(record, step)
  return data === null ? { code: 'expired', message: 'Its data have been deleted: give the document.' } : { data }
}

async function read ({ templateWorkers }: Catalogs, { companyId }: Actor, document: string): Promise<Found> {
  const reading = await templateWorkers.read(companyId, Buffer.from(document, 'base64'))
  return reading.ok ? { data: reading.invoice.data } : reading.problem
}

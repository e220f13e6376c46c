import { Type } from 'typebox'
import { DispatchError, type Problem } from '../../../core/contract/errors.ts'
import type { JsonObject } from '../../../core/contract/json.ts'
import { deriveManifest } from '../../../core/host/derive.ts'
import type { Installed } from '../../../core/host/load.ts'
import { check } from '../../../core/pipeline/check.ts'
import type { DraftStep, Plan } from '../../../core/pipeline/plan.ts'
import { createTemplateChecks } from '../../../core/pipeline/template-checks.ts'
import { needsProvider, type ServiceName } from '../../../core/services/index.ts'
import { createRequestReader, type DispatchRequest, type RequestReader } from '../../../core/services/request.ts'
import type { StoredTemplate } from '../../../core/store/templates.ts'

/** The least that a provider of each service declares. */
const least = {
  invoicing: { documentTypes: ['INVOICE', 'QUOTE', 'CREDIT'] },
  esign: { signatureTypes: ['SIMPLE'] },
  postal: { mailTypes: ['SIMPLE'] },
  sms: {},
  email: {},
  upload: {},
  file: {}
} as const satisfies Record<ServiceName, JsonObject>

export type World = {
  /** What the provider declares beyond the least. */
  capabilities?: JsonObject
  /** Its configuration; `null`: it has none. */
  settings?: JsonObject | null
  /** Of the template's source. */
  source?: Partial<StoredTemplate['source']>
  /** The schema of the template's data. */
  schema?: JsonObject
  prices?: Record<string, number>
}

/** What became of a request: the error word and its problems (`path code`), or the plan. */
export type Judgement = { word?: string, problems: string[], details: readonly Problem[], warnings: string[], plan?: Plan }

/** Reads and checks a body as the pipeline does, with a provider "acme" that everybody has chosen. */
export function judge (name: ServiceName, body: unknown, world: World = {}): Judgement {
  const read = readers.get(name) ?? createRequestReader([name])
  readers.set(name, read)
  return judgeRequest(() => read(body), world)
}

const readers = new Map<ServiceName, RequestReader>()

/** Checks the request that `read` gives. */
export function judgeRequest (read: () => DispatchRequest, { source = {}, schema = {}, prices = {}, ...world }: World = {}): Judgement {
  try {
    const request = read()
    const template = request.template && { ...request.template, template: templateOf(source, schema) }
    const steps = request.services.map((service, index) => ({ ...stepOf(service, request, world), ...(template === undefined || index > 0 ? {} : { template }) }))
    const draft = { request, steps }
    const plan = check(draft, { templateChecks: createTemplateChecks(), prices, now: () => new Date('2026-03-14T09:30:00.000Z') })
    return { problems: [], details: [], warnings: plan.warnings.map(shown), plan }
  } catch (error) {
    if (!(error instanceof DispatchError)) throw error
    const { word, details = [] } = error
    return { word, problems: details.map(shown), details, warnings: [] }
  }
}

function shown ({ path, code }: Problem): string {
  return `${path} ${code}`
}

function stepOf (service: ServiceName, { fields }: DispatchRequest, { capabilities = {}, settings = { allowedSenders: ['@example.com'] } }: World): DraftStep {
  const step = { service, fields: fields[service] ?? {}, settings: {} }
  if (!needsProvider(service)) return step
  const provider = providerOf(service, { ...least[service], ...capabilities })
  if (settings === null) return { ...step, choice: { chosen: false, provider, problem: { path: '/providerName', code: 'configuration_missing', message: 'The provider "acme" has no configuration.' } } }
  const configuration = { userId: null, providerCode: 'acme', settings: { plain: settings, secrets: {} }, sandbox: false, updatedAt: new Date(0), account: '00000000-0000-4000-8000-000000000000' }
  return { ...step, choice: { chosen: true, chosenBy: 'company', provider, configuration } }
}

function providerOf (service: ServiceName, capabilities: JsonObject): Installed {
  const fit = deriveManifest({
    code: 'acme',
    name: 'Acme',
    settings: Type.Object({ allowedSenders: Type.Optional(Type.Array(Type.String())) }),
    requestSettings: Type.Object({ label: Type.Optional(Type.String()) }),
    services: { [service]: { ...capabilities, idempotency: { kind: 'none' }, dispatch: () => undefined } }
  }, '1.0.0')
  if (!fit.ok) throw new Error(JSON.stringify(fit.problems))
  return { code: 'acme', manifest: fit.value } as Installed
}

function templateOf (source: World['source'], schema: JsonObject): StoredTemplate {
  return {
    id: 1,
    companyId: null,
    name: 'Sample',
    version: 1,
    digest: JSON.stringify([source, schema]),
    source: { name: 'Sample', service: 'file', locale: 'en-GB', body: [{ paragraph: '{{ number }} {{ date }} {{ dueDate }}' }], ...source },
    schema,
    sample: {},
    updatedAt: new Date(0)
  }
}

/** A template that says nothing. */
export const template = { id: 1, data: {} }

import { randomUUIDv7 } from 'node:crypto'
import { Type } from 'typebox'
import { sampleLink } from '../../../core/packages/accounts/access/document-links.ts'
import type { JsonObject, Problem } from '../../../core/packages/common/json.ts'
import { deliveryStatusesOf, isDeliveryService } from '../../../core/packages/contract/delivery.ts'
import { DispatchError } from '../../../core/packages/contract/errors.ts'
import { createRequestReader, type DispatchRequest, type RequestReader,
  type RequestStep } from '../../../core/packages/contract/request/request.ts'
import type { Mode } from '../../../core/packages/contract/states.ts'
import type { InstalledProvider } from '../../../core/packages/host/load/load.ts'
import { deriveManifest } from '../../../core/packages/host/manifest/derive.ts'
import type { AnyProviderCheck } from '../../../core/packages/host/manifest/provider-check.ts'
import { needsProvider } from '../../../core/packages/services/lists.ts'
import type { ServiceName } from '../../../core/packages/services/names.ts'
import type { Findings } from '../../../core/packages/services/service.ts'
import { createGuard } from '../../../core/packages/vendor-io/http/guard.ts'
import { nothingToHide } from '../../../core/packages/vendor-io/notes/redact.ts'
import { checkForeseen, checkRequest, type Foreseen } from '../../../core/pipeline/plan/check.ts'
import { type DispatchPlan, planOf } from '../../../core/pipeline/plan/plan.ts'
import { type ResolvedStep, takeStatements } from '../../../core/pipeline/plan/resolve.ts'
import { createSharedChecks } from '../../../core/pipeline/plan/template-checks.ts'
import type { StoredTemplate } from '../../../core/pipeline/templates.ts'

/** The least that a provider of each service declares. */
const least: Readonly<Partial<Record<ServiceName, JsonObject>>> = {
  invoicing: { documentTypes: ['INVOICE', 'QUOTE', 'CREDIT'] },
  esign: { signatureTypes: ['SIMPLE'], document: 'theirs' },
  postal: { mailTypes: ['SIMPLE'] },
  sms: {},
  email: {},
  upload: {},
  file: {}
}

export type World = {
  /** What the provider declares beyond the least. */
  capabilities?: JsonObject
  /** The same, for each service of a chain. */
  byService?: Partial<Record<ServiceName, JsonObject>>
  /** Its check. */
  foreseeing?: AnyProviderCheck
  /** Its configuration; `null`: it has none. */
  settings?: JsonObject | null
  /** Of the template's source. */
  source?: Partial<StoredTemplate['source']>
  /** The schema of the template's data. */
  schema?: JsonObject
  /** The template's sample. */
  sample?: JsonObject
  prices?: Record<string, number>
  mode?: Mode
}

export const publicUrl = 'https://dispatch.example.com'

/** What became of a request: the error word and its problems (`path code`), or the plan. */
export type Judgement = { word?: string, problems: string[], details: readonly Problem[], warnings: string[], plan?: DispatchPlan }

/** Reads and checks a body as the pipeline does, with a provider "acme" that everybody has chosen. */
export function judge (name: ServiceName, body: unknown, world: World = {}): Judgement {
  return judgeChain([name], body, world)
}

/** The same for a path of several services. */
export function judgeChain (path: readonly ServiceName[], body: unknown, world: World = {}): Judgement {
  return judgeRequest(() => readerFor(path)(body), world)
}

/** The reader of a path's bodies, made once. */
export function readerFor (path: readonly ServiceName[]): RequestReader {
  const read = readers.get(path.join('/')) ?? createRequestReader(path)
  readers.set(path.join('/'), read)
  return read
}

const readers = new Map<string, RequestReader>()

/** Checks the request that `read` gives. */
export function judgeRequest (
  read: () => DispatchRequest,
  { source = {}, schema = {}, sample = {}, prices = {}, mode = 'synchronous', ...world }: World = {}
): Judgement {
  try {
    const request = read()
    const draft = ({ template, ...step }: RequestStep): ResolvedStep & Pick<RequestStep, 'stated'> => ({
      ...step,
      ...choiceOf(step, world),
      ...(template === undefined
        ? {}
        : { template: { ...template, template: storedTemplate({ service: madeFor(step.service), ...source }, schema, sample) } })
    })
    const steps = takeStatements(request.steps.map(draft))
    const deferred = request.deferred.map(draft)
    const now = new Date('2026-03-14T09:30:00.000Z')
    const all = [...steps, ...deferred]
    const foreseen: Foreseen = new Map(all.map((step) => [step, foreseenNow(checkForeseen(step, {
      data: step.template?.data ?? {},
      metadata: request.metadata,
      now,
      redactorFor: nothingToHide
    }))]))
    const resolved = { request, test: false, steps, deferred }
    const found = checkRequest(resolved, {
      foreseen,
      templateFindings: createSharedChecks().find,
      mode,
      guard: createGuard(),
      link: sampleLink(publicUrl),
      now: () => now
    })
    const plan = planOf(resolved, found, { prices, newId: randomUUIDv7 })
    return { problems: [], details: [], warnings: plan.warnings.map(shown), plan }
  } catch (error) {
    if (!(error instanceof DispatchError)) throw error
    const { word, details = [] } = error
    return { word, problems: details.map(shown), details, warnings: [] }
  }
}

/** The provider "acme" runs in this process: what it foresees is known at once. */
function foreseenNow (found: ReturnType<typeof checkForeseen>): Findings {
  if (found instanceof Promise) throw new TypeError('It is not known at once.')
  return found
}

function shown ({ path, code }: Problem): string {
  return `${path} ${code}`
}

function choiceOf (
  { service, at }: Pick<RequestStep, 'service' | 'at'>,
  { capabilities = {}, byService = {}, foreseeing, settings = { allowedSenders: ['@example.com'] } }: World
): Pick<ResolvedStep, 'choice'> {
  if (!needsProvider(service)) return {}
  const provider = providerOf(service, { ...least[service], ...capabilities, ...byService[service] }, foreseeing)
  if (settings === null) {
    return {
      choice: {
        chosen: false,
        provider,
        problem: { path: at('providerName'), code: 'configuration_missing', message: 'The provider "acme" has no configuration.' }
      }
    }
  }
  const configuration = {
    userId: null,
    providerCode: 'acme',
    settings: { plain: settings, secrets: {} },
    sandbox: false,
    updatedAt: new Date(0),
    account: '00000000-0000-4000-8000-000000000000'
  }
  return { choice: { chosen: true, chosenBy: 'company', provider, configuration } }
}

function providerOf (service: ServiceName, { document, ...capabilities }: JsonObject, check?: AnyProviderCheck): InstalledProvider {
  const fit = deriveManifest({
    code: 'acme',
    name: 'Acme',
    settings: Type.Object({ allowedSenders: Type.Optional(Type.Array(Type.String())), codes: Type.Optional(Type.Boolean()) }),
    requestSettings: Type.Object({ label: Type.Optional(Type.String()) }),
    services: {
      [service]: {
        ...tellingAll(service),
        ...capabilities,
        ...(document === 'theirs'
          ? { document: () => undefined }
          : {}),
        idempotency: { kind: 'none' },
        dispatch: () => undefined
      }
    }
  }, '1.0.0')
  if (!fit.ok) throw new Error(JSON.stringify(fit.problems))
  return { code: 'acme', manifest: fit.value, checks: { [service]: check } } as unknown as InstalledProvider
}

/** It is asked what becomes of it, and knows every word. */
function tellingAll (service: ServiceName): object {
  if (!isDeliveryService(service)) return {}
  return { statuses: Object.fromEntries(deliveryStatusesOf(service).map((status) => [status, status])), status: () => undefined }
}

/** The service for which a step's template is made, unless its source says otherwise. */
function madeFor (service: ServiceName): StoredTemplate['source']['service'] {
  return service === 'upload' ? 'file' : service
}

/** A shared template. */
export function storedTemplate (source: World['source'], schema: JsonObject, sample: JsonObject = {}): StoredTemplate {
  return {
    id: 1,
    companyId: null,
    name: 'Sample',
    version: 1,
    digest: JSON.stringify([source, schema]),
    source: { name: 'Sample', service: 'file', locale: 'en-GB', body: [{ paragraph: '{{ number }} {{ date }} {{ dueDate }}' }], ...source },
    schema,
    sample,
    updatedAt: new Date(0)
  }
}

/** A template that says nothing. */
export const template = { id: 1, data: {} }

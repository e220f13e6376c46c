import type { Json, JsonObject } from '@dispatch/common'
import { objectIn } from '../form/json.ts'
import { isObject } from '../form/schema.ts'
import { readSettings } from '../form/settings.ts'
import { type DataForm, dataForm, fits } from '../form/simple.ts'
import type { Words } from '../language/language.ts'
import { type MyConfig, type ProviderView, withQuery } from '../session/api.ts'
import { computedOf } from '../session/services.ts'
import type { Visit } from '../session/visit.ts'
import { providerOptions, readProviders } from './provider-names.ts'
import { datedToday } from './sample-dates.ts'
import { ofOwn, readOwn, withOwn } from './send-fill.ts'
import { beginningOf, followersOf, followingForms, followingOf, givenForm, type ListedFile, serviceForms } from './send-forms.ts'
import { unusable } from './settings-state.ts'

/** A template that something is made of. */
export type SentTemplate = {
  id: number
  name: string
  service: string
  documentType?: string
  /** Null: shared by all companies. */
  companyId?: number | null
  schema: JsonObject
  sample: JsonObject
}

/** What stands in the form. */
export type Draft = {
  /** What it is made of; undefined: a document that is there already is sent. */
  template: SentTemplate | undefined
  /** That document: `fileId` or `documentId`. */
  document: JsonObject
  /** The newest files, among which it can be chosen. */
  files: readonly ListedFile[]
  service: string
  /** The fields of the service's object in the request. */
  fields: JsonObject
  /** What follows in a chain: each service with the fields of its object. */
  following: readonly Following[]
  /** Lines of `name=value`. */
  metadata: string
  callbackUrl: string
  /** When it is sent: a local time and its zone, and whether only at the usual hours. */
  sendAt: string
  timeZone: string
  usualHours: boolean
  /** The template's data: an object, or the text that should be one. */
  data: JsonObject | string
  /** The form of the data; undefined: they stand as JSON. */
  form: DataForm | undefined
  /** Sums and the like are computed; undefined: these data have none. */
  computes?: boolean | undefined
  /** The data as JSON was asked for. */
  requested: 'form' | 'json'
  provider: string
  sandbox: boolean
  /** The providers that are installed, of all services. */
  providers: readonly ProviderView[]
  /** What the reader's company, and the reader, have chosen and set up. */
  config: MyConfig
}

export type Following = { service: string, fields: JsonObject }

/** `template`: its number; empty: a document that is there already. */
type Begun = { template: string, service: string, then?: readonly string[] }

/** A form makes a test, or something real, as the console does in which it is open. */
function isTest ({ mode }: Visit): boolean {
  return mode === 'test'
}

/** The form of a template as it begins: with the sample, of today; or that of a document that is there already. Throws `ApiRefused`. */
export async function beginDraft (visit: Visit, { template: id, service: requested, then = [] }: Begun): Promise<Draft> {
  const parts = await readParts(visit, { template: id, service: requested })
  const { template, service, config } = parts
  const own = await readOwn(visit)
  const data = template === undefined ? {} : withOwn({ ...template, sample: datedToday(template.sample) }, own)
  const form = formFor(template, data)
  const fields = ofOwn(visit, { service, fields: beginningOf(service, template?.documentType), config, own })
  const following = chained(service, then).map((name) => ({
    service: name,
    fields: ofOwn(visit, { service: name, fields: followingOf(name), config, own })
  }))
  const nothing = { metadata: '', callbackUrl: '', sendAt: '', timeZone: '', usualHours: false, provider: '' }
  const sandbox = isTest(visit)
  const computes = computesAlready(template, data, form)
  return { ...parts, document: {}, sandbox, fields, following, data, form, computes, requested: 'form', ...nothing }
}

/** The requested services of a chain that can follow. */
function chained (service: string, names: readonly string[]): string[] {
  return names.reduce<string[]>((path, name) => followersOf([service, ...path]).includes(name) ? [...path, name] : path, [])
}

/** The form as it was sent. Throws `ApiRefused`. */
export async function readDraft (visit: Visit, body: URLSearchParams): Promise<Draft> {
  const textOf = (name: string): string => body.get(name) ?? ''
  const parts = await readParts(visit, { template: textOf(':template'), service: textOf('of') })
  const { template, service } = parts
  const given = template === undefined ? readSettings(givenForm([], {}), body)['document'] : undefined
  const sent = template === undefined ? undefined : dataForm(template.schema, template.sample)
  const isForm = textOf(':written') === 'form' && sent !== undefined
  const computed = isForm && textOf(':computes') === 'true' ? computedOf(template?.service ?? '') : undefined
  const written = template === undefined
    ? {}
    : isForm
    ? { ...objectIn(textOf(':rest')), ...readSettings(sent.form, body, 'data.') }
    : objectIn(textOf('json')) ?? textOf('json')
  const data = computed === undefined || typeof written === 'string' ? written : computed.of(written)
  const requested = (body.get(':show') ?? textOf(':written')) === 'form' ? 'form' : 'json'
  const form = requested === 'form' && typeof data === 'object' ? formFor(template, data) : undefined
  const added = textOf(':then')
  const own = added === '' ? undefined : await readOwn(visit)
  return {
    ...parts,
    document: isObject(given) ? given : {},
    fields: readSettings(serviceForms[service] ?? {}, body, 'request.'),
    following: chained(service, [...body.getAll('then').filter((name) => name !== textOf(':without')), added]).map((name) => ({
      service: name,
      fields: name === added
        ? ofOwn(visit, { service: name, fields: followingOf(name), config: parts.config, own })
        : readSettings(followingForms[name] ?? {}, body, `then.${name}.`)
    })),
    metadata: textOf(':metadata'),
    callbackUrl: textOf(':callbackUrl').trim(),
    sendAt: textOf(':sendAt').trim(),
    timeZone: textOf(':timeZone').trim(),
    usualHours: textOf(':usualHours') === 'true',
    data,
    form,
    computes: isForm && form !== undefined && body.has(':computable') ? computed !== undefined : computesAlready(template, data, form),
    requested,
    provider: textOf('provider'),
    sandbox: isTest(visit)
  }
}

/** Whether sums go on being computed: they do where all that there are follow from the rest. Undefined where a form has none. */
function computesAlready (template: Draft['template'], data: Json, form: DataForm | undefined): boolean | undefined {
  const computed = computedOf(template?.service ?? '')
  if (computed === undefined || form === undefined || !isObject(data)) return undefined
  const has = Object.keys(form.form.properties ?? {})
  return computed.fields.some((field) => has.includes(field)) ? computed.of(data) === data : undefined
}

/** A draft as the API keeps it. `service`: the path of a chain. */
export type StoredDraft = { id: string, service: string, request: JsonObject, sandbox: boolean, userId: number, dispatchId: string | null }

/** The form of a stored draft, where it has a template or a document in place of one; undefined without both. Throws `ApiRefused`. */
export async function resumeDraft (visit: Visit, { service: path, request }: StoredDraft): Promise<Draft | undefined> {
  const [first = '', ...then] = path.split('/')
  const { template: content, document, metadata, callbackUrl, sendAt, timeZone, hours, providerName, ...objects } = request
  const of = isObject(content) && typeof content['id'] === 'number' ? String(content['id']) : isObject(document) ? '' : undefined
  if (of === undefined) return undefined
  const parts = await readParts(visit, { template: of, service: first })
  const { template, service } = parts
  const data = isObject(content) ? content['data'] ?? {} : {}
  const ofService = (name: string): JsonObject => isObject(objects[name]) ? objects[name] : {}
  const form = isObject(data) ? formFor(template, data) : undefined
  return {
    ...parts,
    document: isObject(document) ? document : {},
    fields: ofService(service),
    following: chained(service, then).map((name) => ({ service: name, fields: ofService(name) })),
    metadata: isObject(metadata) ? linesOf(metadata) : '',
    callbackUrl: typeof callbackUrl === 'string' ? callbackUrl : '',
    sendAt: typeof sendAt === 'string' ? sendAt : '',
    timeZone: typeof timeZone === 'string' ? timeZone : '',
    usualHours: hours !== undefined,
    data: isObject(data) || typeof data === 'string' ? data : {},
    form,
    computes: computesAlready(template, data, form),
    requested: form === undefined ? 'json' : 'form',
    provider: typeof providerName === 'string' ? providerName : '',
    sandbox: isTest(visit)
  }
}

/** Keeps a draft under its id. What cannot be kept is sent all the same: nothing depends on it but the way back. */
export async function keepDraft (visit: Visit, id: string, draft: Draft, dispatchId?: string): Promise<void> {
  await visit.api.send('PUT', `/api/v1/drafts/${encodeURIComponent(id)}`, {
    service: pathOf(draft),
    request: requestOf(draft),
    sandbox: draft.sandbox,
    ...dispatchId !== undefined && { dispatchId }
  })
}

async function readParts (
  visit: Visit,
  { template: id, service: requested }: Begun
): Promise<Pick<Draft, 'template' | 'service' | 'files' | 'providers' | 'config'>> {
  const [template, files, providers, config] = await Promise.all([
    id === '' ? undefined : visit.api.read<SentTemplate>(withQuery(`/api/v1/templates/${encodeURIComponent(id)}`, {})),
    id === '' ? listFiles(visit) : [],
    readProviders(visit),
    visit.api.read<MyConfig>('/api/v1/my/config')
  ])
  const service = Object.hasOwn(serviceForms, requested) ? requested : template?.service ?? ''
  return { template, service, files, providers, config }
}

/** The newest files; none where they cannot be listed. */
export async function listFiles ({ api }: Visit): Promise<readonly ListedFile[]> {
  const found = await api.send<{ data: ListedFile[] }>('GET', '/api/v1/files?limit=100')
  return found.ok ? found.body.data : []
}

/** The providers that a request can name: those of its service, where nothing follows. What keeps one from being used stands behind it. */
export function choosable (words: Words, { service, following, providers, config }: Draft): { value: string, label: string }[] {
  if (following.length > 0) return []
  const able = providers.filter(({ state, services = {} }) => state === 'installed' && Object.hasOwn(services, service))
  return providerOptions(able).map(({ value, label }) => {
    const lack = unusable(words, { config, providers, service }, value)
    return { value, label: lack === undefined ? label : `${label} (${lack.why})` }
  })
}

/** The form of a template, where it shows all of the data but those that it carries along. */
function formFor (template: Draft['template'], data: JsonObject): DataForm | undefined {
  const made = template === undefined ? undefined : dataForm(template.schema, template.sample)
  if (made === undefined) return undefined
  return fits(made.form, shownOf(made, data)) ? made : undefined
}

/** The data that a form shows. */
export function shownOf ({ form: { properties = {} } }: DataForm, data: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([name]) => Object.hasOwn(properties, name)))
}

/** The data that a form does not show, but carries along. */
export function restOf ({ form: { properties = {} } }: DataForm, data: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([name]) => !Object.hasOwn(properties, name)))
}

/** The address of the API for a draft, without and with its query. */
export function addressOf ({ service, following, sandbox, callbackUrl }: Draft, action: '' | '/validate' = ''): string {
  const path = pathOf({ service, following })
  // A callback tells of what nobody waits for.
  const async = callbackUrl !== '' && action === '' ? 'true' : undefined
  return withQuery(`/api/${path}${action}`, { sandbox: sandbox ? 'true' : undefined, async })
}

/** The address of the page of a draft. `id`: its number. */
export function pageOf ({ template, service }: Draft, id: string | undefined): string {
  const begun = template === undefined ? { given: service } : { template: String(template.id), service }
  return withQuery('/console/send', { ...begun, draft: id })
}

function pathOf ({ service, following }: Pick<Draft, 'service' | 'following'>): string {
  return [service, ...following.map((next) => next.service)].map(encodeURIComponent).join('/')
}

/** The body of the request. */
export function requestOf (draft: Draft): JsonObject {
  const { template, document, service, fields, following, data, provider, metadata, callbackUrl } = draft
  return {
    ...template === undefined ? { document } : { template: { id: template.id, data } },
    ...Object.keys(fields).length === 0 ? {} : { [service]: fields },
    ...Object.fromEntries(following.map((next) => [next.service, next.fields])),
    ...metadata.trim() === '' ? {} : { metadata: pairsIn(metadata) },
    ...callbackUrl === '' ? {} : { callbackUrl },
    ...scheduleOf(draft),
    ...draft.usualHours ? { hours: 'usual' } : {},
    ...provider === '' || following.length > 0 ? {} : { providerName: provider }
  }
}

/** A time that people typed, as a request has it: nothing where they typed none. */
function scheduleOf ({ sendAt, timeZone }: Pick<Draft, 'sendAt' | 'timeZone'>): JsonObject {
  if (sendAt === '') return timeZone === '' ? {} : { timeZone }
  return { sendAt, timeZone: timeZone === '' ? 'UTC' : timeZone }
}

function linesOf (pairs: JsonObject): string {
  return Object.entries(pairs).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`).join('\n')
}

/** The pairs in lines of `name=value`. */
function pairsIn (text: string): JsonObject {
  const lines = text.split('\n').map((line) => line.trim()).filter((line) => line !== '')
  return Object.fromEntries(lines.map((line) => {
    const [name = '', ...value] = line.split('=')
    return [name.trim(), value.join('=').trim()]
  }))
}

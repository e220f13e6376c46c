import type { JsonObject } from '@dispatch/common'
import { objectIn } from '../form/json.ts'
import { readSettings } from '../form/settings.ts'
import { type DataForm, dataForm, fits } from '../form/simple.ts'
import { type ProviderView, withQuery } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'
import { providerOptions, readProviders } from './provider-names.ts'
import { beginningOf, followingForms, followingOf, serviceForms } from './send-forms.ts'

/** A template that something is made of. */
export type SentTemplate = {
  id: number
  name: string
  service: string
  documentType?: string
  schema: JsonObject
  sample: JsonObject
}

/** What stands in the form. */
export type Draft = {
  template: SentTemplate
  service: string
  /** The fields of the service's object in the request. */
  fields: JsonObject
  /** What follows in a chain: each service with the fields of its object. */
  following: readonly Following[]
  /** Lines of `name=value`. */
  metadata: string
  callbackUrl: string
  /** The template's data: an object, or the text that should be one. */
  data: JsonObject | string
  /** The form of the data; undefined: they stand as JSON. */
  form: DataForm | undefined
  /** The data as JSON was asked for. */
  asked: 'form' | 'json'
  provider: string
  sandbox: boolean
  /** The providers that are installed, of all services. */
  providers: readonly ProviderView[]
}

export type Following = { service: string, fields: JsonObject }

type Begun = { template: string, service: string, then?: readonly string[] }

/** The form of a template as it begins: with the sample. Throws `ApiRefused`. */
export async function beginDraft (visit: Visit, { template: id, service: asked, then = [] }: Begun): Promise<Draft> {
  const { template, service, providers } = await readParts(visit, { template: id, service: asked })
  const { sample, documentType } = template
  const form = formFor(template, sample)
  const fields = beginningOf(service, documentType)
  const following = known(then).map((name) => ({ service: name, fields: followingOf(name) }))
  const nothing = { metadata: '', callbackUrl: '', provider: '', sandbox: false }
  return { template, service, providers, fields, following, data: sample, form, asked: 'form', ...nothing }
}

/** The services that can follow in a chain, each of them once. */
function known (names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => Object.hasOwn(followingForms, name))
}

/** The form as it was sent. Throws `ApiRefused`. */
export async function readDraft (visit: Visit, body: URLSearchParams): Promise<Draft> {
  const textOf = (name: string): string => body.get(name) ?? ''
  const parts = await readParts(visit, { template: textOf(':template'), service: textOf('of') })
  const { template, service } = parts
  const sent = dataForm(template.schema, template.sample)
  const data = textOf(':written') === 'form' && sent !== undefined
    ? { ...objectIn(textOf(':rest')), ...readSettings(sent.form, body, 'data.') }
    : objectIn(textOf('json')) ?? textOf('json')
  const asked = (body.get(':show') ?? textOf(':written')) === 'form' ? 'form' : 'json'
  return {
    ...parts,
    fields: readSettings(serviceForms[service] ?? {}, body, 'request.'),
    following: known(body.getAll('then')).map((name) => ({
      service: name,
      fields: readSettings(followingForms[name] ?? {}, body, `then.${name}.`)
    })),
    metadata: textOf(':metadata'),
    callbackUrl: textOf(':callbackUrl').trim(),
    data,
    form: asked === 'form' && typeof data === 'object' ? formFor(template, data) : undefined,
    asked,
    provider: textOf('provider'),
    sandbox: textOf(':sandbox') === 'true'
  }
}

async function readParts (
  visit: Visit,
  { template: id, service: asked }: Begun
): Promise<Pick<Draft, 'template' | 'service' | 'providers'>> {
  const [template, providers] = await Promise.all([
    visit.api.read<SentTemplate>(withQuery(`/api/v1/templates/${encodeURIComponent(id)}`, {})),
    readProviders(visit)
  ])
  const service = Object.hasOwn(serviceForms, asked) ? asked : template.service
  return { template, service, providers }
}

/** The providers that a request can name: those of its service, where nothing follows. */
export function choosable ({ service, following, providers }: Draft): { value: string, label: string }[] {
  return following.length > 0 ?
    [] :
    providerOptions(providers.filter(({ state, services = {} }) => state === 'installed' && Object.hasOwn(services, service)))
}

/** The form of a template, where it shows all of the data but those that it carries along. */
function formFor ({ schema, sample }: SentTemplate, data: JsonObject): DataForm | undefined {
  const made = dataForm(schema, sample)
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
  const path = [service, ...following.map((next) => next.service)].map(encodeURIComponent).join('/')
  // A callback tells of what nobody waits for.
  const async = callbackUrl !== '' && action === '' ? 'true' : undefined
  return withQuery(`/api/${path}${action}`, { sandbox: sandbox ? 'true' : undefined, async })
}

/** The body of the request. */
export function requestOf ({ template: { id }, service, fields, following, data, provider, metadata, callbackUrl }: Draft): JsonObject {
  return {
    template: { id, data },
    ...Object.keys(fields).length === 0 ? {} : { [service]: fields },
    ...Object.fromEntries(following.map((next) => [next.service, next.fields])),
    ...metadata.trim() === '' ? {} : { metadata: pairsIn(metadata) },
    ...callbackUrl === '' ? {} : { callbackUrl },
    ...provider === '' || following.length > 0 ? {} : { providerName: provider }
  }
}

/** The pairs in lines of `name=value`. */
function pairsIn (text: string): JsonObject {
  const lines = text.split('\n').map((line) => line.trim()).filter((line) => line !== '')
  return Object.fromEntries(lines.map((line) => {
    const [name = '', ...value] = line.split('=')
    return [name.trim(), value.join('=').trim()]
  }))
}

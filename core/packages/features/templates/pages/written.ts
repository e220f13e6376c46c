import { outlineOf, type PartialKind, type TemplateOutline } from '@dispatch/documents'
import { type ApiAnswer, type ApiFile, ApiRefused, objectIn, pretty, withQuery } from '@dispatch/plugins/console'
import type { TemplateAnswer, TemplateDetail } from '../contract/templates.ts'
import { withListed } from './also-for.ts'
import type { Visit } from './words.ts'

/** The largest form, in bytes: three texts of 200,000 characters, of which many are escaped. */
export const bodyLimit = 2 * 1024 * 1024

/**
 * The texts of a template as they stand in the form. Without an id the template is a new one. `partial`: the source is that of something
 * which templates share, and schema and sample are those of a template that shows it.
 */
export type Written = {
  id?: string | undefined
  partial?: SharedText
  name: string
  base: string
  source: string
  schema: string
  sample: string
  format: string
}

/**
 * What templates share, in its form. `shownIn`: the choice of the template that shows it, whose source is `around` and whose name is
 * `template`; '' for none.
 */
export type SharedText = { kind: PartialKind, shownIn: string, around: string, template: string }

/** The blocks of what is written. */
export function outlineIn ({ source, partial }: Pick<Written, 'source' | 'partial'>): TemplateOutline | undefined {
  return outlineOf(source, partial?.kind ?? 'template')
}

const beginning: Written = {
  name: '',
  base: '',
  source: 'name: Letter\n# file, postal, esign, invoicing, email or sms.\nservice: file\n' +
    'locale: en\nbody:\n  - heading: Letter\n  - paragraph: Dear {{ name }}\n',
  schema: pretty({ type: 'object', additionalProperties: false, required: ['name'], properties: { name: { type: 'string' } } }),
  sample: pretty({ name: 'Ada' }),
  format: ''
}

/** A new template: a copy of another one, or the first lines of a letter. */
export async function newTemplate (visit: Visit, from: unknown): Promise<Written> {
  const written = typeof from === 'string' ? await readWritten(visit, from, '') : beginning
  // A copy gets a number of its own.
  return { ...written, source: written.source.replace(/^id:.*\n/m, ''), id: undefined, base: '' }
}

export function forAdmins (visit: Visit): Visit {
  if (visit.actor.role === 'admin') return visit
  const error = { error: 'forbidden', message: 'Only an admin of the company can do this.', requestId: '' } as const
  throw new ApiRefused({ ok: false, status: 403, error })
}

/** A version of a template; '' for the published or newest one. */
export async function readWritten ({ api }: Visit, id: string, version: string): Promise<Written> {
  const template = await api.read<TemplateDetail>(withQuery(`/api/v1/templates/${encodeURIComponent(id)}`, { version }))
  return { ...textsOf(template), id: String(template.id) }
}

export function textsOf ({ name, latestVersion, source, schema, sample }: TemplateDetail): Written {
  return { name, base: String(latestVersion), source, schema: pretty(schema), sample: pretty(sample), format: '' }
}

export function linesIn (body: URLSearchParams, name: string): string {
  return (body.get(name) ?? '').replaceAll('\r\n', '\n')
}

/** What a form says. Where its choice of services was changed, the source follows it; otherwise the source says which they are. */
export function writtenIn (id: string | undefined, body: URLSearchParams): Written {
  const textOf = (name: string): string => linesIn(body, name)
  const [source, chosen] = [textOf('source'), body.getAll('alsoFor')]
  return {
    id,
    name: textOf('name'),
    base: textOf('base'),
    source: chosen.join(' ') === textOf('listed') ? source : withListed(source, chosen),
    schema: textOf('schema'),
    sample: textOf('sample'),
    format: textOf('format')
  }
}

/** What the API is sent. What is no JSON object goes as it was written, so that the API says so. */
function bodyOf ({ source, schema, sample }: Written): object {
  return { source, schema: objectIn(schema) ?? schema, sample: objectIn(sample) ?? sample }
}

export function preview ({ api }: Visit, written: Written): Promise<ApiAnswer<ApiFile>> {
  const { format } = written
  return api.file('/api/v1/templates/preview', { ...bodyOf(written), ...format === '' ? {} : { format } })
}

/** Stores a template as a draft: a new one, or the next version. */
export function save ({ api }: Visit, written: Written): Promise<ApiAnswer<TemplateAnswer>> {
  return written.id === undefined
    ? api.send<TemplateAnswer>('POST', '/api/v1/templates', bodyOf(written))
    : api.send<TemplateAnswer>('PUT', `/api/v1/templates/${encodeURIComponent(written.id)}`, {
      ...bodyOf(written),
      baseVersion: /^\d{1,9}$/.test(written.base) ? Number(written.base) : written.base
    })
}

/** The page of a template, or of the one that is to be. */
export function addressOf (id: string | undefined): string {
  return `/console/templates/${encodeURIComponent(id ?? 'new')}`
}

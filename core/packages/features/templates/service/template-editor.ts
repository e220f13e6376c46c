import type { JsonObject, Problem } from '@dispatch/common'
import { type Actor, type Database, refusal, requireService, type StoredTemplate } from '@dispatch/core'
import { assetName, RenderError, type RenderJob, type TemplateSource, type TemplateWorkers,
  withPlaceholderImages } from '@dispatch/documents'
import { type NextVersionBody, type PreviewBody, type PreviewFormat, type PreviewTextBody, type TemplateBody, templateTextLimit,
  type VersionCheck } from '../contract/templates.ts'
import { listAssets, mostAssets, readAssets } from '../store/assets.ts'
import { type ChangeContext, changeTemplate, createTemplate, type NewVersion, publishTemplate, removeTemplate, requireOwn,
  templateNotFound } from '../store/template-changes.ts'
import type { TemplateRecord } from '../store/template-rows.ts'
import { readTemplate, type TemplateStore } from '../store/templates.ts'
import { makePreview, type Preview, renderedAs, usualFormat } from './preview.ts'
import { checkVersion } from './version-check.ts'

/** The author of a change, who may use the services of the template. */
export type TemplateAuthor = ChangeContext & Pick<Actor, 'services'>

/** A template that was stored as a draft, with warnings. */
export type SavedTemplate = { record: TemplateRecord, warnings: readonly Problem[] }

/**
 * Writes the templates of a company. A new version is a draft; dispatches use a version once it is published. All methods throw
 * `template_not_found`, `forbidden` (for a shared template, or one of a service that the author may not use), `conflict`, or
 * `validation_failed` with every fault and its path.
 */
export type TemplateEditor = {
  create: (by: TemplateAuthor, body: TemplateBody) => Promise<SavedTemplate>
  change: (by: TemplateAuthor, templateId: number, body: NextVersionBody) => Promise<SavedTemplate>
  publish: (by: TemplateAuthor, templateId: number, version: number) => Promise<TemplateRecord>
  remove: (by: TemplateAuthor, templateId: number) => Promise<void>
  /** How many of the latest dispatches the version would refuse. */
  check: (companyId: number, template: TemplateRecord) => Promise<VersionCheck>
  /** Previews a stored template: the published or newest version, unless the caller asks for another one. */
  preview: (companyId: number, template: TemplateRecord, options: PreviewBody) => Promise<Preview>
  /** Previews a template that is not stored. */
  previewText: (companyId: number, body: PreviewTextBody) => Promise<Preview>
}

type Parts = { database: Database, templates: Pick<TemplateStore, 'findVersion'>, templateWorkers: TemplateWorkers, now: () => Date }

/** Limit of the pictures of one template together, in characters of data URIs. */
const mostPictures = 1_500_000

export function createTemplateEditor ({ database, templates, templateWorkers, now }: Parts): TemplateEditor {
  /** Checks that a template compiles and that its sample can be rendered. */
  async function inspect (companyId: number, body: TemplateBody): Promise<{ version: NewVersion, warnings: readonly Problem[] }> {
    refuseIfAny(oversized(body))
    const assets = Object.fromEntries(
      (await listAssets(database, companyId, { limit: mostAssets })).map(({ name, sha256 }) => [name, sha256])
    )
    const { name, service, documentType, source: yaml, schema, sample } = body
    const inspection = await templateWorkers.inspect(companyId, { yaml, schema, sample, assets, ...given({ name, service, documentType }) })
    if (!inspection.ok) throw refusal('validation_failed', inspection.problems)
    const source = await withPictures(companyId, inspection.source)
    return { version: { source, digest: inspection.digest, schema, sample, yaml }, warnings: inspection.warnings }
  }

  /** Embeds the company's pictures into the template, so that later changes of a picture do not change this version. */
  async function withPictures (companyId: number, source: TemplateSource): Promise<TemplateSource> {
    if (source.assets === undefined) return source
    const pictures = new Map(
      (await readAssets(database, companyId, Object.values(source.assets).flatMap((asset) => assetName(asset) ?? []))).map(
        ({ name, uri }) => [name, uri]
      )
    )
    const assets = Object.fromEntries(
      Object.entries(source.assets).map(([name, asset]) => [name, pictures.get(assetName(asset) ?? '') ?? asset])
    )
    if (Object.values(assets).join('').length > mostPictures) {
      throw refusal('validation_failed', [{
        path: '/source',
        code: 'too_large',
        message: `The pictures of the template, as data URIs, have more than ${mostPictures} characters: make them smaller.`
      }])
    }
    return { ...source, assets }
  }

  async function show (
    companyId: number,
    { id, version, digest, source }: RenderJob['template'],
    { data, at, format }: { data: JsonObject, at: string, format: PreviewFormat }
  ): Promise<Preview> {
    try {
      return await makePreview((job) => templateWorkers.render(companyId, job), {
        template: { id, version, digest, source },
        data,
        now: now().toISOString()
      }, format)
    } catch (error) {
      if (error instanceof RenderError) {
        throw refusal('validation_failed', error.problems.map((problem) => ({ ...problem, path: at + problem.path })))
      }
      throw error
    }
  }

  async function requireFit (
    companyId: number,
    template: Pick<NewVersion, 'digest' | 'source' | 'schema'>,
    data: JsonObject,
    format: PreviewFormat
  ): Promise<void> {
    const { digest, schema, source } = template
    refuseIfAny(
      (await templateWorkers.check(companyId, {
        template: { digest, schema, source: withPlaceholderImages(source) },
        data,
        at: '/data',
        format: renderedAs(format)
      })).problems
    )
  }

  async function showVersion (
    companyId: number,
    template: NewVersion & { id: number, version: number },
    { data, format = usualFormat(template.source) }: Pick<PreviewBody, 'data' | 'format'>
  ): Promise<Preview> {
    if (data === undefined) return show(companyId, template, { data: template.sample, at: '/sample', format })
    await requireFit(companyId, template, data, format)
    return show(companyId, template, { data, at: '/data', format })
  }

  /** Prepares a template for storage. Its sample is stored as a dispatch would read it. */
  async function prepare (by: TemplateAuthor, body: TemplateBody): Promise<{ version: NewVersion, warnings: readonly Problem[] }> {
    const { companyId } = by
    const inspected = await inspect(companyId, body)
    requireServicesOf(by, inspected.version.source)
    await showVersion(companyId, { id: 0, version: 0, ...inspected.version }, {})
    return inspected
  }

  async function record (companyId: number, templateId: number, version?: number): Promise<TemplateRecord> {
    const found = await readTemplate(database, companyId, templateId, version)
    if (found === undefined) throw templateNotFound(templateId)
    return found
  }

  /** The newest or published version of a template that the author may write. */
  async function writable (by: TemplateAuthor, templateId: number): Promise<TemplateRecord> {
    const found = await record(by.companyId, templateId)
    requireServicesOf(by, found.source)
    return found
  }

  /** A version with its pictures. */
  async function stored (companyId: number, templateId: number, version: number): Promise<StoredTemplate> {
    const found = await templates.findVersion(companyId, templateId, version)
    if (found === undefined) throw templateNotFound(templateId)
    return found
  }

  return {
    async create (by, body) {
      const { version, warnings } = await prepare(by, body)
      return { record: await record(by.companyId, await createTemplate(database, by, version)), warnings }
    },

    async change (by, templateId, { baseVersion, ...body }) {
      // Permissions come before everything else.
      requireOwn((await writable(by, templateId)).companyId)
      const { version, warnings } = await prepare(by, body)
      await changeTemplate(database, by, templateId, baseVersion, version)
      return { record: await record(by.companyId, templateId, baseVersion + 1), warnings }
    },

    async publish (by, templateId, version) {
      await writable(by, templateId)
      await publishTemplate(database, by, templateId, version)
      return record(by.companyId, templateId, version)
    },

    async remove (by, templateId) {
      await writable(by, templateId)
      await removeTemplate(database, by, templateId)
    },

    check: async (companyId, { id, version }) =>
      checkVersion({ database, templateWorkers, now }, companyId, await stored(companyId, id, version)),

    preview: async (companyId, { id, version, yaml }, options) =>
      showVersion(companyId, { ...await stored(companyId, id, version), yaml }, options),

    async previewText (companyId, { data, format, ...body }) {
      const { version } = await inspect(companyId, body)
      return showVersion(companyId, { id: 0, version: 0, ...version }, {
        ...data === undefined ? {} : { data },
        ...format === undefined ? {} : { format }
      })
    }
  }
}

function refuseIfAny (problems: readonly Problem[]): void {
  if (problems.length > 0) throw refusal('validation_failed', problems)
}

function oversized (body: TemplateBody): Problem[] {
  return (['schema', 'sample'] as const).filter((part) => JSON.stringify(body[part]).length > templateTextLimit)
    .map((part) => ({ path: `/${part}`, code: 'too_large', message: `May have at most ${templateTextLimit} characters as JSON.` }))
}

/** The fields that are there. */
function given<T extends Record<string, string | undefined>> (fields: T): { [Name in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [Name in keyof T]?: string }
}

/** Throws `forbidden` unless the author may use every service that a template is made for. */
function requireServicesOf (by: TemplateAuthor, { service, alsoFor = [] }: Pick<TemplateSource, 'service' | 'alsoFor'>): void {
  for (const name of [service, ...alsoFor]) requireService(by, name)
}

import { type Actor, requireService } from '@dispatch/accounts'
import type { Problem } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import type { StoredTemplate } from '@dispatch/core'
import { type Database } from '@dispatch/database'
import type { KeptBrand, KeptPartial, KeptPartials, TemplateSource, TemplateWorkers } from '@dispatch/documents'
import type { NextVersionBody, PreviewBody, PreviewFormat, PreviewTextBody, ProfilesBody, ProfilesView, TemplateBody,
  VersionCheck } from '../contract/templates.ts'
import { type ChangeContext, changeTemplate, createTemplate, publishTemplate, removeTemplate, requireOwn,
  templateNotFound } from '../store/template-changes.ts'
import type { TemplateRecord } from '../store/template-rows.ts'
import { readTemplate, type TemplateStore } from '../store/templates.ts'
import type { Brands } from './brand.ts'
import { type Inspected, inspectKept, inspectTemplate } from './inspect.ts'
import type { Preview } from './preview.ts'
import { previewProfiles } from './profiles.ts'
import { checkVersion } from './version-check.ts'
import { previewVersion } from './version-preview.ts'

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
  /** What a stored template's data are in each profile of e-invoices. */
  profiles: (actor: Actor, template: TemplateRecord, options: ProfilesBody) => Promise<ProfilesView>
  /** Previews a template that is not stored. */
  previewText: (companyId: number, body: PreviewTextBody) => Promise<Preview>
  /** Previews a stored template in a brand that is not stored. */
  previewBrand: (companyId: number, template: TemplateRecord, brand: KeptBrand, format?: PreviewFormat) => Promise<Preview>
}

type Parts = {
  database: Database
  templates: Pick<TemplateStore, 'findVersion'>
  templateWorkers: TemplateWorkers
  brands: Pick<Brands, 'current'>
  now: () => Date
}

/**
 * Changes the templates of companies. Throws `validation_failed` for a source with faults, `forbidden` for a template of services that its
 * author may not use.
 */
export function createTemplateEditor (parts: Parts): TemplateEditor {
  const { database } = parts
  return {
    create: (by, body) => create(parts, by, body),
    change: (by, templateId, body) => change(parts, by, templateId, body),

    async publish (by, templateId, version) {
      await requireWritable(database, by, templateId)
      await publishTemplate(database, by, templateId, version)
      return recordOf(database, by.companyId, templateId, version)
    },

    async remove (by, templateId) {
      await requireWritable(database, by, templateId)
      await removeTemplate(database, by, templateId)
    },

    check: async (companyId, { id, version }) => checkVersion(parts, companyId, await withPictures(parts, companyId, id, version)),

    preview: async (companyId, { id, version, yaml }, options) => {
      const template = { ...await withPictures(parts, companyId, id, version), yaml }
      return previewVersion(parts, companyId, template, { ...options, brand: await parts.brands.current(companyId) })
    },

    previewBrand: async (companyId, { id, version, yaml }, brand, format) => {
      const template = { ...await withPictures(parts, companyId, id, version), yaml }
      return previewVersion(parts, companyId, template, { brand, ...format !== undefined && { format } })
    },

    profiles: async (actor, { id, version, yaml }, options) =>
      previewProfiles(parts, actor, { ...await withPictures(parts, actor.companyId, id, version), yaml }, options),

    previewText: (companyId, body) => previewText(parts, companyId, body)
  }
}

async function create (parts: Parts, by: TemplateAuthor, body: TemplateBody): Promise<SavedTemplate> {
  const { database } = parts
  const { version, warnings } = await prepare(parts, by, body)
  return { record: await recordOf(database, by.companyId, await createTemplate(database, by, version)), warnings }
}

async function change (
  parts: Parts,
  by: TemplateAuthor,
  templateId: number,
  { baseVersion, ...body }: NextVersionBody
): Promise<SavedTemplate> {
  const { database } = parts
  // Permissions come before everything else.
  requireOwn((await requireWritable(database, by, templateId)).companyId)
  const { version, warnings } = await prepare(parts, by, body)
  await changeTemplate(database, by, templateId, baseVersion, version)
  return { record: await recordOf(database, by.companyId, templateId, baseVersion + 1), warnings }
}

async function previewText (parts: Parts, companyId: number, { data, format, partial, ...body }: PreviewTextBody): Promise<Preview> {
  const { version } = await inspectTemplate(parts, companyId, body, partial && await withPartial(parts, companyId, partial))
  return previewVersion(parts, companyId, { id: 0, version: 0, ...version }, {
    brand: await parts.brands.current(companyId),
    ...data === undefined ? {} : { data },
    ...format === undefined ? {} : { format }
  })
}

/** The partials of a company with one as it would be stored. Throws `validation_failed` with its faults, below `/partial/source`. */
async function withPartial (
  parts: Parts,
  companyId: number,
  { name, kind, source: yaml }: NonNullable<PreviewTextBody['partial']>
): Promise<KeptPartials> {
  const { inspection, kept } = await inspectKept(parts, companyId, { name, kind, yaml })
  if (inspection.ok) return { ...kept, [name]: { kind, version: 1, source: inspection.source } as KeptPartial }
  throw refusal('validation_failed', inspection.problems.map((problem) => ({ ...problem, path: `/partial${problem.path}` })))
}

/** A template as it can be stored: it was inspected, and its sample was made once. */
async function prepare (parts: Parts, by: TemplateAuthor, body: TemplateBody): Promise<Inspected> {
  const inspected = await inspectTemplate(parts, by.companyId, body)
  requireServicesOf(by, inspected.version.source)
  const brand = await parts.brands.current(by.companyId)
  await previewVersion(parts, by.companyId, { id: 0, version: 0, ...inspected.version }, { brand })
  return inspected
}

/** The newest or published version of a template, whose services the author may use. */
async function requireWritable (database: Database, by: TemplateAuthor, templateId: number): Promise<TemplateRecord> {
  const found = await recordOf(database, by.companyId, templateId)
  requireServicesOf(by, found.source)
  return found
}

async function recordOf (database: Database, companyId: number, templateId: number, version?: number): Promise<TemplateRecord> {
  const found = await readTemplate(database, companyId, templateId, version)
  if (found === undefined) throw templateNotFound(templateId)
  return found
}

async function withPictures ({ templates }: Parts, companyId: number, templateId: number, version: number): Promise<StoredTemplate> {
  const found = await templates.findVersion(companyId, templateId, version)
  if (found === undefined) throw templateNotFound(templateId)
  return found
}

/** Throws `forbidden` unless the author may use every service that a template is made for. */
function requireServicesOf (by: TemplateAuthor, { service, alsoFor = [] }: Pick<TemplateSource, 'service' | 'alsoFor'>): void {
  for (const name of [service, ...alsoFor]) requireService(by, name)
}

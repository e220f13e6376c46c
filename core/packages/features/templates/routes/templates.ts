import { page, PageQuery } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { languagesOf, templateFormats } from '@dispatch/documents'
import { integerIn, largestId, pageOf } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { TemplateDetail, TemplateQuery, TemplateView, VersionQuery, type VersionStatus, VersionView } from '../contract/templates.ts'
import { templateNotFound } from '../store/template-changes.ts'
import type { TemplateRecord } from '../store/template-rows.ts'
import { listTemplateVersions, readTemplate, type TemplateStore } from '../store/templates.ts'

/** The templates that a company may use: the shared ones and its own. */
export const templatesRoutes: FastifyPluginCallbackTypebox<{ database: Database, templateStore: TemplateStore }> = (
  app,
  { database, templateStore },
  done
) => {
  app.get('/api/v1/templates', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listTemplates',
      tags: ['Templates'],
      summary: 'Lists the templates of the company: published versions, else the newest drafts.',
      querystring: TemplateQuery,
      response: { 200: page(TemplateView) }
    }
  }, async ({ actor, query }) => {
    const { limit = 25, cursor, ...filter } = query
    const found = await templateStore.list(actor.companyId, filter, {
      limit: limit + 1,
      ...(cursor === undefined ? {} : { after: Math.min(Number(cursor), largestId) })
    })
    return pageOf(found, limit, ({ id }) => id, viewOf)
  })

  app.get<{ Params: { id: string }, Querystring: VersionQuery }>('/api/v1/templates/:id', {
    config: { errors: ['template_not_found', 'validation_error'] },
    schema: {
      operationId: 'readTemplate',
      tags: ['Templates'],
      summary: 'Reads a template: its source, the schema of its data and a sample.',
      querystring: VersionQuery,
      response: { 200: TemplateDetail }
    }
  }, async ({ actor, params, query }) => detailOf(await findTemplate(database, actor.companyId, params.id, query.version)))

  app.get<{ Params: { id: string }, Querystring: PageQuery }>('/api/v1/templates/:id/versions', {
    config: { errors: ['template_not_found', 'validation_error'] },
    schema: {
      operationId: 'listTemplateVersions',
      tags: ['Templates'],
      summary: 'Lists the versions of a template, the newest first.',
      querystring: PageQuery,
      response: { 200: page(VersionView) }
    }
  }, async ({ actor: { companyId }, params, query }) => {
    const { limit = 25, cursor } = query
    const { id } = await findTemplate(database, companyId, params.id)
    const found = await listTemplateVersions(database, companyId, id, {
      limit: limit + 1,
      ...(cursor === undefined ? {} : { after: Math.min(Number(cursor), largestId) })
    })
    return pageOf(found, limit, ({ version }) => version, versionOf)
  })
  done()
}

/** The template that a path names, as the version asked for, or else as the published or newest one. Throws `template_not_found`. */
export async function findTemplate (database: Database, companyId: number, named: string, version?: number): Promise<TemplateRecord> {
  const id = integerIn(named)
  const found = id === undefined ? undefined : await readTemplate(database, companyId, id, version)
  if (found === undefined) throw templateNotFound(named)
  return found
}

/** A template as it is read, with the text of its YAML. */
export function detailOf (record: TemplateRecord): TemplateDetail {
  return { ...viewOf(record), source: record.yaml }
}

function viewOf (record: TemplateRecord): TemplateView {
  const { id, name, version, latest, source, schema, sample, updatedAt, companyId } = record
  const { service, alsoFor, documentType } = source
  return {
    id,
    name,
    version,
    status: statusOf(record),
    latestVersion: latest,
    service,
    ...(alsoFor === undefined ? {} : { alsoFor }),
    ...(documentType === undefined ? {} : { documentType }),
    formats: [...templateFormats],
    ...languagesOf(source),
    schema,
    sample,
    updatedAt: updatedAt.toISOString(),
    companyId
  }
}

function statusOf ({ version, present, publishedAt }: TemplateRecord): VersionStatus {
  if (version === present) return 'published'
  return publishedAt === null ? 'draft' : 'retired'
}

function versionOf (record: TemplateRecord): VersionView {
  const { version, updatedAt, publishedAt, userId } = record
  return { version, status: statusOf(record), createdAt: updatedAt.toISOString(), publishedAt: publishedAt?.toISOString() ?? null, userId }
}

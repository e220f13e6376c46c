import { requireService } from '@dispatch/accounts'
import { Nothing } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { fileFormats } from '@dispatch/documents'
import { eInvoiceFormats } from '@dispatch/einvoice'
import { auditAuthorOf, contentDisposition, requireSince } from '@dispatch/plugins/routes'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NextVersionBody, PreviewBody, PreviewTextBody, ProfilesBody, ProfilesView, PublishBody, TemplateAnswer, TemplateBody,
  TemplateDetail, VersionCheck, VersionQuery } from '../contract/templates.ts'
import type { Preview } from '../service/preview.ts'
import type { SavedTemplate, TemplateAuthor, TemplateEditor } from '../service/template-editor.ts'
import { detailOf, findTemplate } from './templates.ts'

type Named = { Params: { id: string } }

export const File = {
  description: 'The document. Where the template makes the subject of a mail, the header X-Mail-Subject has it: percent-encoded UTF-8.',
  content: Object.fromEntries(
    [...Object.values(fileFormats).map(({ contentType }) => contentType), 'text/html', 'text/plain'].map(
      (type) => [type, { schema: { type: 'string', format: 'binary' } }]
    )
  )
}

/** Two profiles as a client gets them, for the documentation. */
const profilesExample: ProfilesView = {
  data: [{
    profile: 'EN16931',
    format: eInvoiceFormats[2],
    fits: true,
    xml: '<rsm:CrossIndustryInvoice>…</rsm:CrossIndustryInvoice>',
    broken: [{ path: '/sample/dueDate', code: 'no_due_date', message: 'A due date is expected.', severity: 'warning' }],
    passed: [{ code: 'BR-01', severity: 'error' }]
  }, {
    profile: 'XRECHNUNG',
    format: eInvoiceFormats[1],
    fits: false,
    xml: null,
    broken: [{ path: '/sample/buyerReference', code: 'BR-DE-15', message: 'The buyer reference is stated.', severity: 'error' }],
    passed: [{ code: 'BR-01', severity: 'error' }]
  }]
}

type Needs = { templateEditor: TemplateEditor, database: Database, now: () => Date }

const numberOf = async (database: Database, { actor, params }: Pick<FastifyRequest<Named>, 'actor' | 'params'>): Promise<number> =>
  (await findTemplate(database, actor.companyId, params.id)).id

/** Drafts, and what becomes of them. */
const writingRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { templateEditor, database, now }, done) => {
  /** The author of a change. */
  function by (request: FastifyRequest): TemplateAuthor {
    const { companyId, services } = request.actor
    return { companyId, services, author: auditAuthorOf(request), at: now() }
  }

  app.post('/api/v1/templates', {
    config: { errors: ['conflict', 'validation_failed', 'provider_unavailable'] },
    schema: {
      operationId: 'createTemplate',
      tags: ['Templates'],
      summary: 'Stores a new template as a draft (admins).',
      body: TemplateBody,
      response: { 201: TemplateAnswer }
    }
  }, async (request, reply) => reply.code(201).send(answerOf(await templateEditor.create(by(request), request.body))))

  app.put<Named & { Body: NextVersionBody }>('/api/v1/templates/:id', {
    config: {
      errors: ['template_not_found', 'conflict', 'validation_failed', 'provider_unavailable']
    },
    schema: {
      operationId: 'createTemplateVersion',
      tags: ['Templates'],
      summary: 'Stores the next version of a template as a draft (admins).',
      body: NextVersionBody,
      response: { 200: TemplateAnswer }
    }
  }, async (request) => answerOf(await templateEditor.change(by(request), await numberOf(database, request), request.body)))

  app.post<Named & { Body: PublishBody }>('/api/v1/templates/:id/publish', {
    config: { errors: ['template_not_found', 'conflict'] },
    schema: {
      operationId: 'publishTemplate',
      tags: ['Templates'],
      summary: 'Publishes a version, new or old: dispatches then use it (admins).',
      body: PublishBody,
      response: { 200: TemplateDetail }
    }
  }, async (request) => detailOf(await templateEditor.publish(by(request), await numberOf(database, request), request.body.version)))

  app.get<Named & { Querystring: VersionQuery }>('/api/v1/templates/:id/check', {
    config: { errors: ['template_not_found', 'validation_error', 'provider_unavailable'] },
    schema: {
      operationId: 'checkTemplate',
      tags: ['Templates'],
      summary: 'Says how many dispatches of the last 30 days a version would refuse (admins).',
      querystring: VersionQuery,
      response: { 200: VersionCheck }
    }
  }, async ({ actor, params, query }) => {
    const template = await findTemplate(database, actor.companyId, params.id, query.version)
    requireService(actor, template.source.service)
    return templateEditor.check(actor.companyId, template)
  })

  app.delete<Named>('/api/v1/templates/:id', {
    config: { errors: ['template_not_found'] },
    schema: {
      operationId: 'deleteTemplate',
      tags: ['Templates'],
      summary: 'Withdraws a template; dispatches that have used it keep their version (admins).',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    await templateEditor.remove(by(request), await numberOf(database, request))
    return reply.code(204).send()
  })
  done()
}

/** What a template makes, which is not kept. */
const previewRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { templateEditor, database }, done) => {
  app.post<Named & { Body: PreviewBody }>('/api/v1/templates/:id/preview', {
    config: { errors: ['template_not_found', 'validation_failed', 'provider_unavailable'] },
    preValidation: orNothing,
    schema: {
      operationId: 'previewTemplate',
      tags: ['Templates'],
      summary: 'Generates a preview from a template or a draft, with its sample or the given data.',
      body: PreviewBody,
      response: { 200: File }
    }
  }, async ({ actor, params, body }, reply) => {
    const template = await findTemplate(database, actor.companyId, params.id, body.version)
    requireService(actor, template.source.service)
    return show(reply, await templateEditor.preview(actor.companyId, template, body))
  })

  app.post<Named & { Body: ProfilesBody }>('/api/v1/templates/:id/e-invoices', {
    config: { errors: ['template_not_found', 'validation_failed', 'provider_unavailable'] },
    preValidation: orNothing,
    schema: {
      operationId: 'previewEInvoices',
      tags: ['Templates'],
      summary: 'Says which profiles of e-invoices the sample or the given data fit.',
      description:
        'Of each profile and format: the XML where nothing prevents it, the rules that the data break, with their places and how much ' +
        'they weigh, and those that they pass. `terms` has what a request says beside the data: its terms, and the invoice that ' +
        'it is about. Nothing is stored or sent.',
      body: ProfilesBody,
      response: { 200: { ...ProfilesView, examples: [profilesExample] } }
    }
  }, async ({ actor, params, body }) => {
    const template = await findTemplate(database, actor.companyId, params.id, body.version)
    requireService(actor, template.source.service)
    return templateEditor.profiles(actor, template, body)
  })

  app.post('/api/v1/templates/preview', {
    config: { errors: ['validation_failed', 'provider_unavailable'] },
    schema: {
      operationId: 'previewTemplateText',
      tags: ['Templates'],
      summary: 'Generates a preview from a template that is not stored (admins).',
      body: PreviewTextBody,
      response: { 200: File }
    }
  }, async ({ actor, apiVersion, body }, reply) => {
    requireSince('1.1.0', apiVersion, '/partial', body.partial)
    return show(reply, await templateEditor.previewText(actor.companyId, body))
  })
  done()
}

/** Editing (admins) and previewing the templates of a company. */
export const templateEditorRoutes: FastifyPluginAsyncTypebox<Needs> = async (app, needs) => {
  await app.register(writingRoutes, needs)
  await app.register(previewRoutes, needs)
}

/** A request without a body uses the defaults. */
function orNothing (request: { body: unknown }, _reply: FastifyReply, next: () => void): void {
  request.body ??= {}
  next()
}

function answerOf ({ record, warnings }: SavedTemplate): TemplateAnswer {
  return { ...detailOf(record), warnings: [...warnings] }
}

/** A preview holds its author's content, so a browser must not run any of it. */
export function show (reply: FastifyReply, { bytes, contentType, filename, subject }: Preview): FastifyReply {
  return reply.headers({
    ...(subject === undefined ? {} : { 'x-mail-subject': encodeURIComponent(subject.toWellFormed()) }),
    'content-type': contentType,
    'content-disposition': contentDisposition(filename),
    'content-security-policy': 'default-src \'none\'; img-src data:; style-src \'unsafe-inline\'; sandbox'
  }).send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}

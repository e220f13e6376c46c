import { createFairSemaphore } from '@dispatch/common'
import { DispatchError, Nothing, page, UuidPageQuery } from '@dispatch/contract'
import { auditAuthorOf, contentDisposition, pageOf, resourceNotFound, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { EReportSettings, EReportSummary, EReportView, NewEReport } from '../contract/e-reports.ts'
import type { EReports } from '../service/e-reports.ts'

const tags = ['E-reports']
type Named = { Params: { id: string } }

/** A report as a client reads it, for the documentation. */
const example: EReportView = {
  id: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90',
  kind: 'transactions',
  type: 'IN',
  period: { start: '2026-10-11', end: '2026-10-20', due: '2026-10-30' },
  state: 'draft',
  count: 2,
  needed: 1,
  createdAt: '2026-10-21T08:00:00.000Z',
  dispatchId: null,
  invoices: [{ number: 'F-7', date: '2026-10-14', customer: 'ESX1234567X', base: '120.00', tax: '0.00' }],
  days: [{
    date: '2026-10-14',
    category: 'TLB1',
    base: '20.00',
    tax: '4.00',
    count: 1,
    parts: [{ rate: '20', base: '20.00', amount: '4.00' }]
  }],
  left: [{
    dispatchId: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e91',
    number: 'F-9',
    reason: 'nature_unknown',
    needed: true,
    message: 'It does not say whether it is about goods or services (operationNature).'
  }],
  leftCounts: { nature_unknown: 1 },
  assumed: [],
  problems: []
}

const Reported = { ...EReportView, examples: [example] }
const File = {
  description: 'The report as it is sent: XML (Flux 10).',
  content: { 'application/xml': { schema: { type: 'string', format: 'binary' } } }
}

type Needs = { eReports: EReports }

const by = (request: FastifyRequest) => ({ actor: request.actor, author: auditAuthorOf(request), requestId: request.id })

/** As whom the company reports. */
const settingsRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { eReports }, done) => {
  app.get('/api/v1/e-reports/settings', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'readEReportSettings',
      tags,
      summary: 'As whom the company reports, how often, and through which platform.',
      response: { 200: EReportSettings }
    }
  }, async ({ actor: { companyId } }) => {
    const settings = await eReports.settings(companyId)
    if (settings === undefined) throw resourceNotFound('setting', 'e-reports')
    return settings
  })

  app.put('/api/v1/e-reports/settings', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'setEReportSettings',
      tags,
      summary: 'Sets as whom the company reports, how often, and through which platform.',
      description: 'For companies with a French seller (SIREN). What is made already stays as it is.',
      body: EReportSettings,
      response: { 200: EReportSettings }
    }
  }, async (request) => eReports.setSettings(by(request), request.body))
  done()
}

/** Reports: listed and made. */
const makingRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { eReports }, done) => {
  /** What is read for a report keeps the process busy: so many are made at once. */
  const making = createFairSemaphore({
    total: 2,
    perOwner: 1,
    waiting: 10,
    full: () =>
      new DispatchError('rate_limited', 'Other reports of the company are being made: try again in a few seconds.', { retryAfter: 5 })
  })

  app.get('/api/v1/e-reports', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listEReports',
      tags,
      summary: 'Lists the reports of the company, the newest first.',
      querystring: UuidPageQuery,
      response: { 200: page(EReportSummary) }
    }
  },
    async ({ actor: { companyId }, query: { limit = 25, cursor } }) =>
      pageOf(await eReports.list(companyId, { limit: limit + 1, after: cursor }), limit, ({ id }) => id))

  app.post('/api/v1/e-reports', {
    config: { errors: ['validation_error', 'conflict'] },
    schema: {
      operationId: 'makeEReport',
      tags,
      summary: 'Makes a report of a period, of the invoices that were sent: a draft, which somebody looks at before it is sent.',
      description:
        'Of dispatches of `invoicing` that a vendor has taken, never of tests: invoices to businesses abroad one by one, sales to ' +
        'consumers by day, category and rate, and what came in for services (`POST /api/v1/dispatches/{id}/statuses`, or a vendor that ' +
        'tells). `left` says what is not in it, and why. Where a report of the period was sent, it is a correction (`RE`) of the whole ' +
        'period. The period, and until when it is reported, follow from the regime of the settings.',
      body: NewEReport,
      response: { 201: Reported }
    }
  }, async (request, reply) => {
    const report = await making.run(request.actor.companyId, () => eReports.make(by(request), request.body))
    return reply.code(201).header('location', `/api/v1/e-reports/${report.id}`).send(report)
  })
  done()
}

/** A report: what stands in it, and what becomes of it. */
const oneRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { eReports }, done) => {
  app.get<Named>('/api/v1/e-reports/:id', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'readEReport', tags, summary: 'Reads a report, with what has become of it.', response: { 200: Reported } }
  }, async ({ actor: { companyId }, params: { id } }, reply) => {
    const report = await eReports.find(companyId, uuidIn(id, 'e-report'))
    if (report === undefined) throw resourceNotFound('e-report', id)
    reply.header('cache-control', 'private, no-store')
    return report
  })

  app.get<Named>('/api/v1/e-reports/:id/export', {
    config: { errors: ['not_found', 'validation_failed'] },
    schema: { operationId: 'exportEReport', tags, summary: 'Downloads a report as it is sent.', response: { 200: File } }
  }, async ({ actor: { companyId }, params: { id } }, reply) => {
    const xml = await eReports.xml(companyId, uuidIn(id, 'e-report'))
    if (xml === undefined) throw resourceNotFound('e-report', id)
    return reply.headers({
      'content-type': 'application/xml; charset=utf-8',
      'content-disposition': contentDisposition(`e-report-${id}.xml`),
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store'
    }).send(xml)
  })

  app.post<Named>('/api/v1/e-reports/:id/send', {
    config: {
      errors: ['not_found', 'conflict', 'validation_failed', 'configuration_missing', 'insufficient_credits', 'budget_exceeded',
        'approval_required', 'idempotency_in_progress', 'recording_unknown', 'timeout'],
      limit: 'dispatch'
    },
    schema: {
      operationId: 'sendEReport',
      tags,
      summary: 'Sends a draft to the platform, once: the same asked again answers what has become of it.',
      description: 'As a dispatch of `upload`, which tells what has become of it in its timeline and by callbacks.',
      response: { 200: Reported }
    }
  }, async (request) => {
    const { params: { id } } = request
    const sent = await eReports.send(by(request), uuidIn(id, 'e-report'))
    if (sent === undefined) throw resourceNotFound('e-report', id)
    return sent
  })

  app.delete<Named>('/api/v1/e-reports/:id', {
    config: { errors: ['not_found', 'conflict'] },
    schema: { operationId: 'removeEReport', tags, summary: 'Removes a draft.', response: { 204: Nothing } }
  }, async (request, reply) => {
    const { params: { id } } = request
    if (!await eReports.remove(by(request), uuidIn(id, 'e-report'))) throw resourceNotFound('e-report', id)
    return reply.code(204).send(null)
  })
  done()
}

/** What a company reports to the French tax authority beside its e-invoices. */
export const routes: FastifyPluginAsyncTypebox<Needs> = async (app, needs) => {
  await app.register(settingsRoutes, needs)
  await app.register(makingRoutes, needs)
  await app.register(oneRoutes, needs)
}

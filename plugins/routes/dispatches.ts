import { sightOf } from '@dispatch/accounts'
import { ChoicesView, DispatchError, DispatchQuery, DispatchRequestView, DispatchView, EarlierDispatchQuery, EventView, isSince, page,
  PageQuery, refusal, StatisticsQuery, StatisticsView, UuidPageQuery, VendorCallView } from '@dispatch/contract'
import { countDispatches, type DocumentUrl, eventViewOf, listDispatches, listEvents, listExchanges, type Pipeline, requestViewOf,
  type Templates, vendorCallOf, viewOf } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { pageOf } from './paging.ts'
import { refuseAsBefore, requireSince } from './since.ts'
import { findVisibleDispatch } from './visible-dispatches.ts'

type Options = {
  database: Database
  documentUrl: DocumentUrl
  pipeline: Pick<Pipeline, 'explain'>
  templates: Pick<Templates, 'namesOf'>
}

/** All of them: listed and counted. */
const listRoutes: FastifyPluginCallbackTypebox<Options> = (app, { database, documentUrl }, done) => {
  app.get('/api/v1/dispatches', {
    config: { scopes: ['read_own', 'read_all'], errors: ['validation_error'] },
    schema: {
      operationId: 'listDispatches',
      tags: ['Dispatches'],
      summary: 'Lists the dispatches of the company, the newest first.',
      querystring: DispatchQuery,
      response: { 200: page(DispatchView) }
    },
    preValidation: refuseAsBefore('1.1.0', EarlierDispatchQuery)
  }, async ({ actor, apiVersion, query }) => {
    const { limit = 25, cursor, invoiceNumber, from, to, ...filter } = query
    for (const name of ['scheduled', 'deliveryMark'] as const) requireSince('1.1.0', apiVersion, `/query/${name}`, filter[name])
    const sight = sightOf(actor)
    const isBeyond = (['test', 'userId'] as const).some((name) =>
      sight[name] !== undefined && (filter[name] ?? sight[name]) !== sight[name]
    )
    if (isBeyond) return { data: [], nextCursor: null }
    const records = await listDispatches(database, actor.companyId, {
      ...filter,
      ...sight,
      partial: isSince('1.1.0', apiVersion),
      ...(invoiceNumber === undefined ? {} : { documentNumber: invoiceNumber }),
      ...(from === undefined ? {} : { from: new Date(from) }),
      ...(to === undefined ? {} : { to: new Date(to) })
    }, { limit: limit + 1, ...(cursor === undefined ? {} : { after: cursor }) })
    return pageOf(records, limit, ({ dispatchId }) => dispatchId, (record) => viewOf(record, documentUrl, apiVersion))
  })

  app.get<{ Querystring: StatisticsQuery }>('/api/v1/dispatches/statistics', {
    config: { scopes: ['read_all'], errors: ['validation_error'] },
    schema: {
      operationId: 'countDispatches',
      tags: ['Dispatches'],
      summary: 'Counts the dispatches of the company by service and status, of at most 31 days.',
      querystring: StatisticsQuery,
      response: { 200: StatisticsView }
    }
  }, async ({ actor, apiVersion, query }) => {
    requireSince('1.1.0', apiVersion, '/query/test', query.test)
    const to = query.to === undefined ? await database.time() : new Date(query.to)
    const from = query.from === undefined ? new Date(to.getTime() - day) : new Date(query.from)
    if (to.getTime() - from.getTime() > longestPeriod) throw tooLong()
    const { test = query.test, ...sight } = sightOf(actor)
    // A key of tests sees none of the others.
    if (test !== (query.test ?? test)) return { from: from.toISOString(), to: to.toISOString(), data: [] }
    const data = await countDispatches(database, actor.companyId, { from, to, ...sight, ...test !== undefined && { test } })
    return { from: from.toISOString(), to: to.toISOString(), data }
  })
  done()
}

/** One of them: its state, the choices of its providers, its request. */
const oneRoutes: FastifyPluginCallbackTypebox<Options> = (app, { database, documentUrl, pipeline, templates }, done) => {
  app.get<{ Params: { id: string } }>('/api/v1/dispatches/:id', {
    config: { scopes: ['read_own', 'read_all'], errors: ['not_found'] },
    schema: {
      operationId: 'readDispatch',
      tags: ['Dispatches'],
      summary: 'Reads the current state of a dispatch.',
      response: { 200: DispatchView }
    }
  }, async ({ actor, apiVersion, params }) => {
    const view = viewOf(await findVisibleDispatch(database, actor, params.id), documentUrl, apiVersion)
    return isSince('1.1.0', apiVersion) ? withNames(view, await templates.namesOf(actor.companyId, templatesIn(view))) : view
  })

  app.get<{ Params: { id: string } }>('/api/v1/dispatches/:id/choices', {
    config: { scopes: ['read_own', 'read_all'], errors: ['not_found'] },
    schema: {
      operationId: 'readDispatchChoices',
      tags: ['Dispatches'],
      summary: 'Tells why each step of a dispatch has its provider, and why each other one was passed over.',
      response: { 200: ChoicesView }
    }
  }, async ({ actor, params }) => pipeline.explain(await findVisibleDispatch(database, actor, params.id)))

  app.get<{ Params: { id: string } }>('/api/v1/dispatches/:id/request', {
    config: { scopes: ['read_own', 'read_all'], errors: ['not_found', 'document_expired'] },
    schema: {
      operationId: 'readDispatchRequest',
      tags: ['Dispatches'],
      summary: 'Reads what a dispatch was asked to do, as it is now after corrections, as long as the data of requests is kept.',
      response: { 200: DispatchRequestView }
    }
  }, async ({ actor, params }) => {
    const record = await findVisibleDispatch(database, actor, params.id)
    const view = requestViewOf(record)
    if (view !== undefined) return view
    throw new DispatchError('document_expired', 'The data of the request is no longer kept.', { dispatchId: record.dispatch_id })
  })
  done()
}

/** What has happened to one: the calls to its vendors, and its timeline. */
const historyRoutes: FastifyPluginCallbackTypebox<Options> = (app, { database }, done) => {
  app.get<{ Params: { id: string }, Querystring: UuidPageQuery }>('/api/v1/dispatches/:id/calls', {
    config: { scopes: ['read_own', 'read_all'], roles: ['admin'], errors: ['not_found', 'validation_error'] },
    schema: {
      operationId: 'listVendorCalls',
      tags: ['Dispatches'],
      summary: 'Lists the calls of providers for a dispatch in the last 7 days, the newest first, each with its masked requests to the ' +
        'vendor and the answers (admins).',
      querystring: UuidPageQuery,
      response: { 200: page(VendorCallView) }
    }
  }, async ({ actor, params, query: { limit = 25, cursor } }) => {
    const { dispatch_id: dispatchId } = await findVisibleDispatch(database, actor, params.id)
    const found = await listExchanges(database, actor.companyId, dispatchId, {
      limit: limit + 1,
      ...(cursor === undefined ? {} : { after: cursor })
    })
    return pageOf(found, limit, ({ id }) => id, vendorCallOf)
  })

  app.get<{ Params: { id: string }, Querystring: PageQuery }>('/api/v1/dispatches/:id/events', {
    config: { scopes: ['read_own', 'read_all'], errors: ['not_found', 'validation_error'] },
    schema: {
      operationId: 'listDispatchEvents',
      tags: ['Dispatches'],
      summary: 'Reads the timeline of a dispatch, the oldest event first.',
      querystring: PageQuery,
      response: { 200: page(EventView) }
    }
  }, async ({ actor, apiVersion, params, query }) => {
    const { limit = 25, cursor } = query
    const record = await findVisibleDispatch(database, actor, params.id)
    const rows = await listEvents(database, actor.companyId, record.dispatch_id, {
      limit: limit + 1,
      ...(cursor === undefined ? {} : { after: cursor }),
      ...(isSince('1.1.0', apiVersion) ? {} : { without: ['moved'] })
    })
    const services = new Map(record.steps.flatMap((step) => [step, ...step.remaining]).map((step) => [step.step_id, step.service]))
    return pageOf(rows, limit, ({ id }: EventView) => id, (row) => eventViewOf(row, services, apiVersion))
  })
  done()
}

/** What became of the company's dispatches. */
export const dispatchesRoutes: FastifyPluginAsyncTypebox<Options> = async (app, needs) => {
  await app.register(listRoutes, needs)
  await app.register(oneRoutes, needs)
  await app.register(historyRoutes, needs)
}

/** The numbers of the templates of which a dispatch was made, each once. */
function templatesIn ({ template, steps }: DispatchView): number[] {
  return [...new Set([template, ...steps.map((step) => step.template)].flatMap((used) => used?.id ?? []))]
}

function withNames (view: DispatchView, names: ReadonlyMap<number, string>): DispatchView {
  const named = (used: NonNullable<DispatchView['template']>): typeof used => {
    const name = names.get(used.id)
    return name === undefined ? used : { ...used, name }
  }
  return {
    ...view,
    template: view.template && named(view.template),
    steps: view.steps.map((step) => step.template === undefined ? step : { ...step, template: named(step.template) })
  }
}

/** In milliseconds. */
const day = 86_400_000
const longestPeriod = 31 * day

function tooLong (): DispatchError {
  return refusal('validation_error', [{ path: '/query/from', code: 'too_long', message: 'Lies more than 31 days before "to".' }])
}

import type { Actor, AuditStamp } from '@dispatch/accounts'
import { Nothing, page, refusal } from '@dispatch/contract'
import { catalogsBuilding } from '@dispatch/marketplace'
import { auditAuthorOf, codeIn, pageOf, resourceNotFound } from '@dispatch/plugins/routes'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { AdapterComparison, AdapterDetail, AdapterEffects, AdapterPage, CatalogView, ComparisonQuery, EffectsQuery, ForceQuery, InstallBody,
  MarketplaceQuery, OfferBody, PackageBody, type RequestedChange, RollbackQuery, UpgradeBody } from '../contract/marketplace.ts'
import type { Marketplace } from '../service/marketplace.ts'
import { detailOf, effectsView, viewsOf } from '../service/views.ts'

type Options = { marketplace: Marketplace, catalogLocations: readonly { address: string }[], now: () => Date }
type Named = { Params: { code: string } }

/** Bytes: the largest package in base64, and what stands around it. */
const bodyLimit = 12 * 1024 * 1024

const changes = { errors: ['not_found', 'conflict'] } as const
/** The errors of a package or a source that takes too long. */
const slow = ['provider_unavailable', 'timeout'] as const
const installs = { errors: ['not_found', 'conflict', 'consent_required', 'validation_failed', ...slow] } as const

const readerOf = ({ companyId, role }: Actor) => ({ companyId, isOperator: role === 'operator' })
const stampOf = ({ now }: Pick<Options, 'now'>, request: FastifyRequest): AuditStamp => ({ author: auditAuthorOf(request), at: now() })

async function detail ({ marketplace, now }: Options, code: string, actor: Actor): Promise<AdapterDetail> {
  const [known, reader] = [await marketplace.find(code), readerOf(actor)]
  const found = detailOf(known, reader, reader.isOperator ? await marketplace.lookAround(known, now()) : undefined)
  if (found === undefined) throw resourceNotFound('adapter', code)
  return found
}

/** Makes a change of the adapter that a path names, and answers with the adapter. */
async function changed (
  options: Options,
  request: FastifyRequest,
  change: (code: string, stamp: AuditStamp) => Promise<void>
): Promise<AdapterDetail> {
  const code = codeIn((request.params as Named['Params']).code)
  await change(code, stampOf(options, request))
  return detail(options, code, request.actor)
}

/** What there is. */
const readingRoutes: FastifyPluginCallbackTypebox<Options> = (app, options, done) => {
  const { marketplace, catalogLocations, now } = options

  app.get('/api/v1/marketplace', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listAdapters',
      tags,
      summary: 'Lists adapters: operators see all that are here or in a catalog, admins those that are offered to their company.',
      querystring: MarketplaceQuery,
      response: { 200: AdapterPage }
    }
  }, async ({ actor, query: { limit = 25, ...query } }) => {
    const found = viewsOf(await marketplace.list(), readerOf(actor), { ...query, limit: limit + 1 })
    const { isOperator } = readerOf(actor)
    const building = isOperator ? await catalogsBuilding(catalogLocations.map(({ address }) => address)) : []
    return { ...pageOf(found, limit, ({ code }) => code), ...building.length > 0 && { building } }
  })

  app.get<Named>('/api/v1/marketplace/:code', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'readAdapter', tags, summary: 'Reads an adapter: its versions, manifest, form and health.', response: one }
  }, ({ actor, params }) => detail(options, codeIn(params.code), actor))

  app.get('/api/v1/marketplace-comparison', {
    config: { errors: ['validation_error', 'not_found'] },
    schema: {
      operationId: 'compareAdapters',
      tags,
      summary: 'Reads two or three adapters side by side, each with all that its own page tells of it.',
      querystring: ComparisonQuery,
      response: { 200: AdapterComparison }
    }
  }, async ({ actor, query: { codes } }) => ({
    data: await Promise.all([...new Set(codes.split(','))].map((code) => detail(options, code, actor)))
  }))

  app.get<Named & { Querystring: Static<typeof EffectsQuery> }>('/api/v1/marketplace/:code/effects', {
    config: installs,
    schema: {
      operationId: 'readAdapterEffects',
      tags,
      summary: 'Tells what a change would do to the companies that use an adapter (operators). Nothing is changed.',
      querystring: EffectsQuery,
      response: { 200: AdapterEffects }
    }
  }, async ({ params, query }) => {
    const requested = askedIn(query)
    return effectsView(await marketplace.effects(codeIn(params.code), requested, now()), requested)
  })
  done()
}

/** What comes from outside: packages and catalogs. */
const sourceRoutes: FastifyPluginCallbackTypebox<Options> = (app, options, done) => {
  const { marketplace } = options

  app.post('/api/v1/marketplace/packages', {
    bodyLimit,
    config: { errors: ['conflict', 'validation_failed', ...slow] },
    schema: {
      operationId: 'addAdapterPackage',
      tags,
      summary: 'Takes in a package, so that it can be installed (operators). It is inspected, and tried in the sandbox.',
      body: PackageBody,
      response: { 201: AdapterDetail }
    }
  }, async (request, reply) => {
    const { body: { package: bytes, npm, registry, publisher } } = request
    const stamp = stampOf(options, request)
    if ((bytes === undefined) === (npm === undefined)) throw refusal('validation_failed', [neither])
    const { code } = npm === undefined
      ? await marketplace.add(Buffer.from(bytes ?? '', 'base64'), { publisher }, stamp)
      : await marketplace.addFromRegistry({ npm, registry, publisher }, stamp)
    return reply.code(201).send(await detail(options, code, request.actor))
  })

  app.post('/api/v1/marketplace/refresh', {
    config: { errors: [] },
    schema: {
      operationId: 'refreshCatalogs',
      tags,
      summary: 'Reads the catalogs again (operators). What they have revoked stops; nothing is upgraded.',
      response: { 200: page(CatalogView) }
    }
  }, async (request) => ({ data: await marketplace.refresh(stampOf(options, request)), nextCursor: null }))
  done()
}

/** Which version of an adapter runs. */
const versionRoutes: FastifyPluginCallbackTypebox<Options> = (app, options, done) => {
  const { marketplace } = options

  app.post('/api/v1/marketplace/:code/install', {
    config: installs,
    schema: {
      operationId: 'installAdapter',
      tags,
      summary: 'Installs an adapter in every process, with what the consent lets it do (operators).',
      body: InstallBody,
      response: one
    }
  }, (request) => changed(options, request, (code, stamp) => marketplace.install(code, request.body, stamp)))

  app.post('/api/v1/marketplace/:code/upgrade', {
    config: installs,
    schema: {
      operationId: 'upgradeAdapter',
      tags,
      summary: 'Upgrades an adapter; what runs finishes on the version before (operators).',
      description:
        'What the version before was let do stays; more must be in the consent. It is refused where only the version before that ' +
        'one accepts the settings of a company, and the new one does not migrate them.',
      querystring: ForceQuery,
      body: UpgradeBody,
      response: one
    }
  }, (request) => changed(options, request, (code, stamp) => marketplace.upgrade(code, { ...request.body, ...request.query }, stamp)))

  const actions = [
    ['enable', 'enableAdapter', 'Enables an adapter again (operators).', marketplace.enable],
    ['disable', 'disableAdapter', 'Disables an adapter: nothing is dispatched through it (operators).', marketplace.disable]
  ] as const
  for (const [word, operationId, summary, change] of actions) {
    app.post(`/api/v1/marketplace/:code/${word}`, { config: changes, schema: { operationId, tags, summary, response: one } }, (request) =>
      changed(options, request, change))
  }

  app.post('/api/v1/marketplace/:code/rollback', {
    config: installs,
    schema: {
      operationId: 'rollBackAdapter',
      tags,
      summary: 'Goes back to the version before (operators).',
      description: 'It is refused where settings were written for the version that runs, and the older one does not accept them. With ' +
        '"version" it goes further back, to one that is here or in a catalog and asks for nothing more.',
      querystring: RollbackQuery,
      response: one
    }
  }, (request) => changed(options, request, (code, stamp) => marketplace.rollBack(code, request.query, stamp)))
  done()
}

/** To whom an adapter is offered, and its end. */
const offerRoutes: FastifyPluginCallbackTypebox<Options> = (app, options, done) => {
  const { marketplace } = options

  app.put('/api/v1/marketplace/:code/offer', {
    config: { errors: ['not_found', 'conflict', 'validation_failed'] },
    schema: {
      operationId: 'offerAdapter',
      tags,
      summary: 'Says which companies see an adapter and dispatch through it (operators).',
      description: 'It is refused where a company would lose it that has settings or defaults for it.',
      querystring: ForceQuery,
      body: OfferBody,
      response: one
    }
  }, (request) => {
    const { companies } = request.body
    return changed(options, request,
      (code, stamp) => marketplace.offer(code, { companies: companies === 'all' ? null : companies, ...request.query }, stamp))
  })

  app.delete('/api/v1/marketplace/:code', {
    config: changes,
    schema: {
      operationId: 'removeAdapter',
      tags,
      summary: 'Removes an adapter and its packages, unless a company needs it (operators).',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    await marketplace.remove(codeIn((request.params as Named['Params']).code), stampOf(options, request))
    return reply.code(204).send(null)
  })
  done()
}

/** Adapters: operators take them in, install, upgrade and offer them; admins read what is offered to their company. */
export const routes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  await app.register(readingRoutes, options)
  await app.register(sourceRoutes, options)
  await app.register(versionRoutes, options)
  await app.register(offerRoutes, options)
}

function askedIn ({ change, version, companies = '' }: Static<typeof EffectsQuery>): RequestedChange {
  switch (change) {
    case 'offer':
      return { change, companies: companies.split(',').filter((id) => id !== '').map(Number) }
    case 'upgrade':
      if (version === undefined) {
        throw refusal('validation_error', [{ path: '/version', code: 'required', message: 'It says to which version.' }])
      }
      return { change, version }
    case 'rollback':
      return { change, version }
    default:
      return { change }
  }
}

const neither = {
  path: '/package',
  code: 'required',
  message: 'Give either "package", its bytes, or "npm", its name and version at a registry.'
}

const tags = ['Marketplace']
const one = { 200: AdapterDetail }

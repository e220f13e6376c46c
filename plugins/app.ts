import { LogController, type FastifyBaseLogger, type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import { assetsRoutes } from './assets.ts'
import { auditRoutes } from './audit.ts'
import { authenticationPlugin } from './authentication.ts'
import { authoringRoutes } from './authoring.ts'
import { bodiesPlugin } from './bodies.ts'
import { callbacksRoutes } from './callbacks.ts'
import { chainRoutes } from './chains.ts'
import { companiesRoutes } from './companies.ts'
import { companyRoutes } from './company.ts'
import { configurationRoutes } from './configuration.ts'
import type { House } from './container.ts'
import { creditsRoutes } from './credits.ts'
import { dispatchRoutes } from './dispatch.ts'
import { dispatchesRoutes } from './dispatches.ts'
import { documentsRoutes } from './documents.ts'
import { drainingPlugin } from './draining.ts'
import { answerUnroutable, errorsPlugin } from './errors.ts'
import { headersPlugin, requestId } from './headers.ts'
import { fairnessPlugin } from './fairness.ts'
import { healthRoutes } from './health.ts'
import { createWays, proxyTest } from './https.ts'
import { impersonationRoutes } from './impersonation.ts'
import { interventionRoutes } from './interventions.ts'
import { keysRoutes } from './keys.ts'
import { loggingPlugin } from './logging.ts'
import { authRoutes } from './login.ts'
import { openapiPlugin } from './openapi.ts'
import { providersRoutes } from './providers.ts'
import { parseQuery } from './queries.ts'
import { queueRoutes } from './queue.ts'
import { limitsPlugin } from './rate-limits.ts'
import { refusalsPlugin } from './refusals.ts'
import { securityRoutes } from './security.ts'
import { openServer } from './server.ts'
import { simulatorRoutes } from './simulator.ts'
import { supportPage } from './support-page.ts'
import { templatesRoutes } from './templates.ts'
import { answerUnreadable, transportPlugin } from './transport.ts'
import { uploadRoutes } from './upload.ts'
import { usersRoutes } from './users.ts'
import { webhookRoutes } from './webhooks.ts'

/** The whole service, top to bottom. */
export const app: FastifyPluginAsync<House> = async (app, { get }) => {
  await app.register(drainingPlugin)
  await app.register(loggingPlugin)
  await app.register(headersPlugin, { wayOf: createWays(get('config')) })
  await app.register(transportPlugin, { limits: get('transportLimits') })
  await app.register(errorsPlugin)
  await app.register(bodiesPlugin)
  await app.register(authenticationPlugin, { authentication: get('authentication') })
  await app.register(limitsPlugin, { limiters: get('limiters') })
  await app.register(refusalsPlugin, { limits: get('fairness').refusals })
  await app.register(fairnessPlugin, { limits: get('fairness') })
  await app.register(openapiPlugin, { publicUrl: get('config').publicUrl })

  const shared = { database: get('database'), documentUrl: get('documentUrl'), templates: get('templates') }
  await app.register(authRoutes, { authentication: get('authentication') })
  await app.register(impersonationRoutes, { authentication: get('authentication'), database: get('database'), now: get('now') })
  await app.register(keysRoutes, { database: get('database'), accounts: get('accounts'), now: get('now'), newId: get('newId') })
  const dispatching = { pipeline: get('pipeline'), addresses: get('addresses') }
  await app.register(dispatchRoutes, { ...shared, ...dispatching })
  await app.register(chainRoutes, { ...shared, ...dispatching })
  await app.register(uploadRoutes, { ...dispatching, receive: get('receive') })
  await app.register(dispatchesRoutes, shared)
  await app.register(interventionRoutes, { ...shared, ...dispatching })
  await app.register(documentsRoutes, { ...shared, files: get('files'), links: get('links'), now: get('now') })
  await app.register(callbacksRoutes, { ...shared, callbacks: get('callbacks'), signing: get('callbackSigning') })
  await app.register(creditsRoutes, shared)
  await app.register(usersRoutes, { users: get('users') })
  await app.register(companyRoutes, { settings: get('companySettings') })
  await app.register(companiesRoutes, { companies: get('companies') })
  await app.register(auditRoutes, shared)
  await app.register(queueRoutes, { database: get('database'), release: get('releaseQueue') })
  await app.register(templatesRoutes, shared)
  await app.register(authoringRoutes, { ...shared, authoring: get('authoring'), now: get('now') })
  await app.register(assetsRoutes, { ...shared, workshop: get('workshop'), now: get('now') })
  await app.register(providersRoutes, { ...shared, host: get('offered'), breakers: get('breakers'), now: get('now') })
  await app.register(supportPage, { host: get('offered') })
  await app.register(configurationRoutes, { configuring: get('configuring') })
  await app.register(webhookRoutes, { intake: get('intake') })
  await app.register(healthRoutes, { ...shared, clockSkew: get('clockSkew') })
  await app.register(securityRoutes, { contact: get('config').securityContact, publicUrl: get('config').publicUrl, now: get('now') })
  if (get('config').environment === 'development') {
    await app.register(simulatorRoutes, { ...shared, host: get('host'), configurations: get('configurations'), keyring: get('keyring'), vendor: get('simulatedVendor'), queue: get('queue'), now: get('now'), newId: get('newId') })
  }
}

const mebibyte = 1024 * 1024

/** The server of the service, ready to listen. Closing it finishes the requests under way. Throws a CertificateError. */
export async function createServer (house: House, logger: FastifyBaseLogger): Promise<FastifyInstance> {
  const server = await openServer(house, {
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    requestIdHeader: false,
    genReqId: requestId,
    trustProxy: proxyTest(house.get('config').trustedProxies),
    bodyLimit: 5 * mebibyte,
    // See draining.ts: what comes on open connections meanwhile is still answered.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { querystringParser: parseQuery },
    frameworkErrors: answerUnroutable(createWays(house.get('config'))),
    clientErrorHandler: answerUnreadable
  })
  await server.register(app, house)
  await server.ready()
  return server
}

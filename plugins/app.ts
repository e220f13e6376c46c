import { type FastifyBaseLogger, type FastifyInstance, type FastifyPluginAsync, LogController } from 'fastify'
import { consolePlugin } from './console/console.ts'
import { routedUrl } from './console/session/mode.ts'
import type { App } from './container.ts'
import { consolePartsOf } from './features/feature.ts'
import { featurePermissionsPlugin, featureRoutes } from './features/routes.ts'
import { admissionControlPlugin } from './hooks/admission-control.ts'
import { authenticationPlugin, authorizationPlugin } from './hooks/authentication.ts'
import { bodyParsingPlugin } from './hooks/body-parsing.ts'
import { answerUnroutable, errorsPlugin } from './hooks/errors.ts'
import { headersPlugin, requestId } from './hooks/headers.ts'
import { createConnectionClassifier, proxyTest } from './hooks/https.ts'
import { irreversiblePlugin } from './hooks/irreversible.ts'
import { loggingPlugin } from './hooks/logging.ts'
import { rateLimitsPlugin } from './hooks/rate-limits.ts'
import { requestLogPlugin } from './hooks/request-log.ts'
import { requestTurnsPlugin } from './hooks/request-turns.ts'
import { serializationPlugin } from './hooks/serialization.ts'
import { tarpitPlugin } from './hooks/tarpit.ts'
import { unreadBodyPlugin } from './hooks/unread-body.ts'
import { waitingClientsPlugin } from './hooks/waiting-clients.ts'
import { observationsPlugin } from './metrics/observations.ts'
import { openapiPlugin } from './openapi/openapi.ts'
import { auditRoutes } from './routes/audit.ts'
import { chainRoutes } from './routes/chains.ts'
import { companiesRoutes } from './routes/companies.ts'
import { companyRoutes } from './routes/company.ts'
import { configurationRoutes } from './routes/configuration.ts'
import { creditsRoutes } from './routes/credits.ts'
import { dispatchActionRoutes } from './routes/dispatch-actions.ts'
import { dispatchChangesRoutes } from './routes/dispatch-changes.ts'
import { dispatchRoutes } from './routes/dispatch.ts'
import { dispatchesRoutes } from './routes/dispatches.ts'
import { documentsRoutes } from './routes/documents.ts'
import { domainsRoutes } from './routes/domains.ts'
import { healthRoutes } from './routes/health.ts'
import { impersonationRoutes } from './routes/impersonation.ts'
import { keysRoutes } from './routes/keys.ts'
import { linkMailRoutes } from './routes/link-mail.ts'
import { authRoutes } from './routes/login.ts'
import { noticesRoutes } from './routes/notices.ts'
import { platformSearchRoutes } from './routes/platform-search.ts'
import { providersRoutes } from './routes/providers.ts'
import { parseQuery } from './routes/query-string.ts'
import { queueRoutes } from './routes/queue.ts'
import { requestsRoutes } from './routes/requests.ts'
import { rootRoute } from './routes/root.ts'
import { secondFactorRoutes } from './routes/second-factor.ts'
import { securityRoutes } from './routes/security-text.ts'
import { sessionsRoutes } from './routes/sessions.ts'
import { simulatorRoutes } from './routes/simulator.ts'
import { uploadRoutes } from './routes/upload.ts'
import { usersRoutes } from './routes/users.ts'
import { drainingPlugin } from './server/draining.ts'
import { openServer } from './server/server.ts'
import { answerUnreadable, transportPlugin } from './server/transport.ts'
import { supportPage } from './support-page/page.ts'
import { requestTracesPlugin } from './traces/requests.ts'

/** The whole service: its hooks and routes, in order. */
export const appPlugin: FastifyPluginAsync<App> = async (server, { get, features }) => {
  await server.register(featurePermissionsPlugin)
  await server.register(drainingPlugin)
  const traces = get('traces')
  if (traces !== undefined) await server.register(requestTracesPlugin, { traces })
  await server.register(loggingPlugin)
  await server.register(observationsPlugin)
  await server.register(requestTurnsPlugin)
  await server.register(headersPlugin, { wayOf: createConnectionClassifier(get('config')) })
  await server.register(transportPlugin, { limits: get('transportLimits') })
  const errorPages = features.map((feature) => feature.errorPages).find((path) => path !== undefined)
  await server.register(errorsPlugin, {
    errorPages: errorPages === undefined ? undefined : `${get('config').publicUrl}${errorPages}`
  })
  await server.register(bodyParsingPlugin)
  await server.register(serializationPlugin)
  await server.register(waitingClientsPlugin)
  await server.register(authenticationPlugin, { authentication: get('authentication') })
  await server.register(requestLogPlugin, { requestLog: get('requestLog'), now: get('now') })
  await server.register(rateLimitsPlugin, {
    rateLimiters: get('rateLimiters'),
    requests: get('requestMeter'),
    unknownSecrets: get('unknownSecrets')
  })
  await server.register(authorizationPlugin, { authentication: get('authentication'), now: get('now') })
  await server.register(irreversiblePlugin)
  await server.register(tarpitPlugin, { limits: get('admissionLimits').tarpit })
  await server.register(unreadBodyPlugin)
  await server.register(admissionControlPlugin, { limits: get('admissionLimits'), others: get('othersLately') })
  await server.register(openapiPlugin, { publicUrl: get('config').publicUrl })
  // Before the first password comes, and beside everything else: no start waits for it.
  server.addHook('onListen', (done) => {
    get('measurePasswords')().catch((err: unknown) => {
      get('log').warn({ err }, 'it was not measured how long a password takes')
    })
    done()
  })

  const shared = { database: get('database'), documentUrl: get('documentUrl'), templates: get('templates') }
  await server.register(authRoutes, { authentication: get('authentication') })
  await server.register(impersonationRoutes, { impersonate: get('impersonation') })
  await server.register(sessionsRoutes, { sessions: get('sessions') })
  await server.register(domainsRoutes, { domains: get('domains') })
  await server.register(linkMailRoutes, { linkMail: get('linkMail') })
  await server.register(noticesRoutes, { notices: get('notices') })
  await server.register(secondFactorRoutes, { secondFactors: get('secondFactors') })
  await server.register(keysRoutes, { keys: get('keyAdministration') })
  const dispatch = { pipeline: get('pipeline'), addresses: get('addresses') }
  await server.register(dispatchRoutes, { ...shared, ...dispatch })
  await server.register(chainRoutes, { ...shared, ...dispatch })
  await server.register(uploadRoutes, { ...dispatch, receive: get('receive') })
  await server.register(dispatchesRoutes, { ...shared, ...dispatch })
  await server.register(dispatchChangesRoutes, { ...shared, changes: get('changes') })
  await server.register(dispatchActionRoutes, { ...shared, ...dispatch })
  await server.register(documentsRoutes, { downloads: get('downloads') })
  await server.register(creditsRoutes, shared)
  await server.register(usersRoutes, { users: get('users') })
  await server.register(companyRoutes, { settings: get('companySettings'), limits: get('config').limits })
  await server.register(companiesRoutes, { companies: get('companies'), users: get('users') })
  await server.register(auditRoutes, shared)
  await server.register(requestsRoutes, shared)
  await server.register(queueRoutes, { ...dispatch, database: get('database'), release: get('releaseQueue') })
  await server.register(platformSearchRoutes, { database: get('database'), now: get('now') })
  await server.register(providersRoutes, {
    host: get('selectableProviders'),
    breakers: get('breakers'),
    administration: get('providerAdministration')
  })
  await server.register(supportPage, { host: get('selectableProviders'), breakers: get('breakers') })
  await server.register(configurationRoutes, {
    configurationService: get('configurationService'),
    credentialCheck: get('credentialCheck'),
    suggestions: get('suggestions'),
    pipeline: get('pipeline'),
    host: get('selectableProviders')
  })
  await server.register(rootRoute)
  await server.register(healthRoutes, {
    ...shared,
    clockSkew: get('clockSkew'),
    sandboxState: get('sandbox').state,
    leaving: get('leaving').signal
  })
  await server.register(securityRoutes, { contact: get('config').securityContact, publicUrl: get('config').publicUrl, now: get('now') })
  for (const feature of features) await server.register(featureRoutes(feature))
  if (get('config').showsConsole) {
    const own = { sessions: get('sessions'), linkKey: get('linkKey'), now: get('now'), databaseTime: get('databaseTime') }
    await server.register(consolePlugin, { prefix: '/console', parts: consolePartsOf(features), ...own })
  }
  if (get('config').environment === 'development') {
    await server.register(simulatorRoutes, {
      ...shared,
      host: get('host'),
      configurations: get('configurations'),
      keyring: get('keyring'),
      vendor: get('simulatedVendor'),
      queue: get('queue'),
      stateOf: get('simulatorState'),
      newId: get('newId')
    })
  }
}

const mebibyte = 1024 * 1024

/** Creates the server of the service, ready to listen. Closing it finishes the open requests. Throws a CertificateError. */
export async function createServer (app: App, logger: FastifyBaseLogger): Promise<FastifyInstance> {
  const server = await openServer(app.get, {
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    requestIdHeader: false,
    genReqId: requestId,
    trustProxy: proxyTest(app.get('config').trustedProxies),
    bodyLimit: 5 * mebibyte,
    // Requests on open connections are still answered while the server closes: see draining.ts.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // A busy machine starts slowly, and nothing here waits for what may never come.
    pluginTimeout: 0,
    rewriteUrl: routedUrl,
    routerOptions: { querystringParser: parseQuery },
    frameworkErrors: answerUnroutable(createConnectionClassifier(app.get('config'))),
    clientErrorHandler: answerUnreadable
  })
  await server.register(appPlugin, app)
  await server.ready()
  return server
}

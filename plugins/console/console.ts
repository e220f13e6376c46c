import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Html } from '../html.ts'
import { policies } from './browser/policies.ts'
import { stylesheet } from './browser/stylesheet.ts'
import { languageOf } from './language/language.ts'
import { adapterPages } from './pages/adapter.ts'
import { auditPage } from './pages/audit.ts'
import { companiesPages } from './pages/companies.ts'
import { companyPages } from './pages/company.ts'
import { connectPages } from './pages/connect.ts'
import { developersPages } from './pages/developers.ts'
import { dispatchDocumentPages } from './pages/dispatch-document.ts'
import { dispatchPages } from './pages/dispatch.ts'
import { dispatchesRetryPages } from './pages/dispatches-retry.ts'
import { dispatchesPage } from './pages/dispatches.ts'
import { errorPage, type Failure } from './pages/errors.ts'
import { homePage } from './pages/home.ts'
import { marketplacePage } from './pages/marketplace.ts'
import { operationPage } from './pages/operation.ts'
import { providerPages } from './pages/provider.ts'
import { providersPage } from './pages/providers.ts'
import { sendPages } from './pages/send.ts'
import { sessionsPages } from './pages/sessions.ts'
import { switchPages } from './pages/switch.ts'
import { templateDifferencePage } from './pages/template-difference.ts'
import { templateEditorPages } from './pages/template-editor.ts'
import { templatePages } from './pages/template.ts'
import { templatesPage } from './pages/templates.ts'
import { tryPages } from './pages/try.ts'
import { userPages } from './pages/user.ts'
import { failureOf, type SessionOptions } from './session/failure.ts'
import { signInRoutes } from './session/sign-in.ts'
import { knownVisit, requireSessions } from './session/visit.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Answers with a page; one that shows a preview has the policy for that. */
    page: (this: FastifyReply, page: Html, policy?: keyof typeof policies) => FastifyReply
  }
}

/** The largest form, in bytes: a private key among the settings of a provider, with every character escaped. */
const longestForm = 64 * 1024

/** The console: pages for people at `/console`, which can do what the API can, and nothing else. */
export const consolePlugin: FastifyPluginAsync<SessionOptions> = async (app, { sessions }) => {
  app.addHook('onRoute', (route) => {
    // People are known by their session, not by credentials.
    route.config = { ...route.config, public: true }
    route.bodyLimit ??= longestForm
    route.schema = { hide: true }
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, parsed) => {
    parsed(null, new URLSearchParams(String(body)))
  })
  app.decorateReply('page', function (page, policy = 'closed') {
    return this.headers(headers).header('content-security-policy', policies[policy]).send(page.markup)
  })
  requireSessions(app, sessions)
  app.setErrorHandler<FastifyError>((error, request, reply) => show(failureOf(error, request), request, reply))

  app.get(stylesheet.path.replace('/console', ''), { config: { withoutSession: true } },
    (_request, reply) =>
      reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=31536000, immutable').send(stylesheet.bytes))
  await app.register(signInRoutes, { sessions })
  app.get('/*', (request, reply) => show({ status: 404, requestId: request.id }, request, reply))
  await app.register(homePage)
  await app.register(dispatchesPage)
  await app.register(dispatchesRetryPages)
  await app.register(dispatchPages)
  await app.register(dispatchDocumentPages)
  await app.register(providersPage)
  await app.register(providerPages)
  await app.register(connectPages)
  await app.register(tryPages)
  await app.register(switchPages)
  await app.register(sendPages)
  await app.register(templatesPage)
  await app.register(templatePages)
  await app.register(templateEditorPages)
  await app.register(templateDifferencePage)
  await app.register(marketplacePage)
  await app.register(adapterPages)
  await app.register(developersPages)
  await app.register(companiesPages)
  await app.register(operationPage)
  await app.register(companyPages)
  await app.register(userPages)
  await app.register(auditPage)
  await app.register(sessionsPages)
}

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store'
}

function show (failure: Failure, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (failure.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter)
  return reply.code(failure.status).page(errorPage(languageOf(request), knownVisit(request), failure))
}

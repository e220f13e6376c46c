import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { sendPrecompressed } from '../hooks/precompressed.ts'
import type { Html } from '../html.ts'
import { permissionsPolicies } from '../permissions-policy.ts'
import type { Asset } from './browser/asset.ts'
import { editors, editorScript } from './browser/editor.ts'
import { policies } from './browser/policies.ts'
import { script } from './browser/script.ts'
import { stylesheet } from './browser/stylesheet.ts'
import { askWhetherMeant } from './entry/confirmation.ts'
import { failureOf, type SessionOptions } from './entry/failure.ts'
import { askForProof } from './entry/proof-page.ts'
import { signInCodeRoutes } from './entry/sign-in-code.ts'
import { signInRoutes } from './entry/sign-in.ts'
import { formIn } from './form/body.ts'
import type { Words } from './language/language.ts'
import { auditPage } from './pages/audit.ts'
import { beginPage } from './pages/begin.ts'
import { columnsPages } from './pages/columns.ts'
import { companiesPages } from './pages/companies.ts'
import { companySetupPages } from './pages/company-setup.ts'
import { companyUserPage } from './pages/company-user.ts'
import { companyPages } from './pages/company.ts'
import { creditsPage } from './pages/credits.ts'
import { developersPages } from './pages/developers.ts'
import { dispatchDocumentPages } from './pages/dispatch-document.ts'
import { dispatchMessagePages } from './pages/dispatch-message.ts'
import { dispatchPages } from './pages/dispatch.ts'
import { dispatchesChosenPages } from './pages/dispatches-chosen.ts'
import { dispatchesRetryPages } from './pages/dispatches-retry.ts'
import { dispatchesPage } from './pages/dispatches.ts'
import { errorPage, type Failure } from './pages/errors.ts'
import { findPage } from './pages/find.ts'
import { followPages } from './pages/follow.ts'
import { galleryPage } from './pages/gallery.ts'
import { holdPages } from './pages/hold.ts'
import { holdsPage } from './pages/holds.ts'
import { homePage } from './pages/home.ts'
import { linkMailPages } from './pages/link-mail.ts'
import { operationDispatchesPage } from './pages/operation-dispatches.ts'
import { operationPage } from './pages/operation.ts'
import { providerServicesPages } from './pages/provider-services.ts'
import { providerPages } from './pages/provider.ts'
import { providersPage } from './pages/providers.ts'
import { requestsPage } from './pages/requests.ts'
import { secondFactorPages } from './pages/second-factor.ts'
import { sendPages } from './pages/send.ts'
import { sessionsPages } from './pages/sessions.ts'
import { switchListPages } from './pages/switch-list.ts'
import { switchPages } from './pages/switch.ts'
import { tryPages } from './pages/try.ts'
import { userPages } from './pages/user.ts'
import { actRoutes } from './session/act.ts'
import { markForms } from './session/kept-form.ts'
import { languageOf } from './session/language.ts'
import { stayInMode, withMode } from './session/mode.ts'
import { askForVerifications } from './session/offered.ts'
import { ProofNeeded } from './session/proof.ts'
import { type ConsoleParts, knownVisit, nameIdentity, requireSessions } from './session/visit.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Answers with a page; one that shows a preview has the policy for that. */
    page: (this: FastifyReply, page: Html, policy?: keyof typeof policies) => FastifyReply
  }
}

/** The largest form, in bytes: a private key among the settings of a provider, with every character escaped. */
const longestForm = 64 * 1024

/** `linkKey`: the secret of which keys for what leaves the service are made. `databaseTime`: by the clock of the database. */
type ConsoleOptions = SessionOptions & { parts: ConsoleParts, linkKey: Uint8Array, now: () => Date, databaseTime: () => Promise<Date> }

/** The console: pages for people at `/console`, which can do what the API can, and nothing else. */
export const consolePlugin: FastifyPluginAsync<ConsoleOptions> = async (app, { sessions, parts, linkKey, now, databaseTime }) => {
  app.addHook('onRoute', (route) => {
    // People are known by their session, not by credentials.
    route.config = { ...route.config, public: true }
    route.bodyLimit ??= longestForm
    route.schema = { hide: true }
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' },
    (_request, body, parsed) => parsed(null, formIn(String(body))))
  app.decorateReply('page', function (page, policy = 'closed') {
    const { request, statusCode } = this
    const markup = withMode(request, nameIdentity(request, page.markup))
    return this.headers(headers).header('content-security-policy', policies[policy]).send(
      request.method === 'POST' && statusCode >= 400 ? sayRefused(languageOf(request), markup) : markup
    )
  })
  stayInMode(app)
  markForms(app, linkKey, now)
  requireSessions(app, sessions, { parts, databaseTime })
  askForVerifications(app, sessions)
  askWhetherMeant(app)
  app.setErrorHandler<FastifyError | ProofNeeded>((error, request, reply) =>
    error instanceof ProofNeeded ? askForProof(sessions, request, reply, error) : show(failureOf(error, request), request, reply)
  )

  /** A file costs nothing, and belongs to the page of somebody who may be signed in. */
  const file = { withoutSession: true, withoutAdmissionControl: true }
  for (const [asset, type] of [[stylesheet, 'text/css'], [script, 'text/javascript']] as const) {
    app.get(asset.path.replace('/console', ''), { config: file }, (request, reply) => sendForEver(request, reply, asset, type))
  }
  app.get('/editor/:name', { config: file }, async (request, reply) => {
    const scripts = await Promise.all(editors.map(editorScript))
    const requested = scripts.find(({ path }) => path === request.url)
    return requested === undefined
      ? show({ status: 404, requestId: request.id }, request, reply)
      : sendForEver(request, reply, requested, 'text/javascript')
  })
  await app.register(signInRoutes, { sessions })
  for (const { plugin, options } of parts.sessions) await app.register(plugin, options)
  await app.register(actRoutes, { sessions })
  await app.register(signInCodeRoutes, { sessions })
  app.get('/*', (request, reply) => show({ status: 404, requestId: request.id }, request, reply))
  await app.register(beginPage)
  await app.register(homePage)
  await app.register(findPage)
  await app.register(galleryPage)
  await app.register(creditsPage)
  await app.register(dispatchesPage)
  await app.register(dispatchesRetryPages)
  await app.register(dispatchesChosenPages)
  await app.register(columnsPages)
  await app.register(dispatchPages)
  await app.register(followPages)
  await app.register(dispatchDocumentPages)
  await app.register(dispatchMessagePages)
  await app.register(providersPage)
  await app.register(providerPages)
  await app.register(providerServicesPages)
  await app.register(tryPages)
  await app.register(switchPages)
  await app.register(switchListPages)
  await app.register(sendPages)
  await app.register(developersPages)
  await app.register(requestsPage)
  await app.register(companiesPages)
  await app.register(companySetupPages)
  await app.register(linkMailPages)
  await app.register(operationPage)
  await app.register(operationDispatchesPage)
  await app.register(holdsPage)
  await app.register(holdPages)
  await app.register(companyPages)
  await app.register(userPages)
  await app.register(companyUserPage)
  await app.register(auditPage)
  await app.register(sessionsPages)
  await app.register(secondFactorPages)
  for (const pages of parts.pages) await app.register(pages)
}

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'permissions-policy': permissionsPolicies.console,
  'cache-control': 'no-store'
}

/** Answers with a file whose address changes when it does. */
function sendForEver (request: FastifyRequest, reply: FastifyReply, asset: Asset, type: string): Promise<FastifyReply> {
  void reply.type(`${type}; charset=utf-8`).header('cache-control', 'public, max-age=31536000, immutable')
  return sendPrecompressed(request, reply, asset)
}

/** The title of a page says first that its form was refused; the script leads to why. */
function sayRefused (words: Words, markup: string): string {
  return markup.includes('<div class="notice bad"')
    ? markup.replace('<title>', `<title>${words.refusedTitle}${words.colon}`).replace('<body', '<body data-refused')
    : markup
}

function show (failure: Failure, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (failure.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter)
  return reply.code(failure.status).page(errorPage(languageOf(request), knownVisit(request), failure))
}

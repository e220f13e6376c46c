import type { Actor } from '@dispatch/accounts'
import { ConfigurationView, Nothing } from '@dispatch/contract'
import { type ConfigurationService, type Owner, requireConfigurable } from '@dispatch/core'
import { type Host, offeredTo } from '@dispatch/host'
import { auditAuthorOf, codeIn, type Html, html, permissionsPolicies } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
import { ConfirmBody, ConnectView } from '../contract/connections.ts'
import type { Connecting, Returned } from '../service/connecting.ts'

type Options = {
  connecting: Connecting
  configurationService: ConfigurationService
  selectableProviders: Host
  config: { showsConsole: boolean, publicUrl: string }
}

/** Connecting a configuration with an account at its vendor (OAuth 2): for oneself, or as an admin for the company. */
export const connectionsRoutes: FastifyPluginCallbackTypebox<Options> = (
  app,
  { connecting, configurationService, selectableProviders: host, config: { showsConsole, publicUrl } },
  done
) => {
  const consoleUrl = showsConsole ? `${publicUrl}/console` : undefined
  async function viewOf (actor: Actor, { userId }: Owner, code: string): Promise<ConfigurationView> {
    const { user, company } = await configurationService.mine(actor)
    const view = (userId === null ? company : user).providers.find((one) => one.code === code)
    if (view === undefined) throw new TypeError('The configuration has just been connected.')
    return view
  }

  for (const { path, of, whose, ownerOf } of owners) {
    /** Whose configuration of which provider a path names. Throws `forbidden` unless the actor may change it. */
    const addressed = (actor: Actor, { code: named }: { code: string }): [Owner, string] => {
      const [owner, code] = [ownerOf(actor), codeIn(named)]
      requireConfigurable(actor, offeredTo(host, actor.companyId), owner, code)
      return [owner, code]
    }
    app.get<{ Params: { code: string } }>(path, {
      config: { errors: ['not_found', 'conflict'] },
      schema: {
        operationId: `connect${of}Provider`,
        tags: ['Configuration'],
        summary: `Begins to connect ${whose} configuration with an account at the vendor, whose page asks for permission.`,
        response: { 200: ConnectView }
      }
    }, ({ actor, params }) => connecting.begin(actor, ...addressed(actor, params)))

    app.post<{ Params: { code: string }, Body: Static<typeof ConfirmBody> }>(path, {
      config: {
        limit: 'dispatch',
        errors: ['not_found', 'conflict', 'validation_failed', 'authentication_error', 'provider_unavailable']
      },
      schema: {
        operationId: `confirm${of}Connection`,
        tags: ['Configuration'],
        summary: 'Confirms the connection, as the user who began it, with what the page showed after the vendor\'s.',
        body: ConfirmBody,
        response: { 200: ConfigurationView }
      }
    }, async (request) => {
      const { actor, params, body: { confirmation } } = request
      const [owner, code] = addressed(actor, params)
      const author = auditAuthorOf(request)
      await connecting.confirm(actor, owner, code, confirmation, author)
      const warnings = await configurationService.registerWebhooks(owner, code, author)
      return { ...await viewOf(actor, owner, code), ...(warnings.length > 0 && { warnings }) }
    })

    app.delete<{ Params: { code: string } }>(path, {
      config: { errors: ['not_found', 'conflict'] },
      schema: {
        operationId: `disconnect${of}Provider`,
        tags: ['Configuration'],
        summary: `Forgets the tokens of ${whose} configuration.`,
        response: { 204: Nothing }
      }
    }, async (request, reply) => {
      await connecting.disconnect(...addressed(request.actor, request.params), auditAuthorOf(request))
      return reply.code(204).send()
    })
  }

  app.get<{ Params: { code: string }, Querystring: Record<string, unknown> }>('/api/connect/:code/callback', {
    config: { errors: [] },
    schema: {
      operationId: 'returnFromVendor',
      tags: ['Configuration'],
      summary: 'The page to which a vendor sends the browser back. It shows what confirms the connection.',
      response: { 200: Page }
    }
  }, async ({ params, query }, reply) => {
    const all = textsOf(query)
    const { state, code, error, error_description: errorDescription } = all
    const answer = {
      all,
      ...(state !== undefined && { state }),
      ...(code !== undefined && { code }),
      ...(error !== undefined && { error }),
      ...(errorDescription !== undefined && { errorDescription })
    }
    const provider = codeIn(params.code)
    const returned = await connecting.arrive(provider, answer)
    return reply.headers(headers).send(pageOf(returned, provider, consoleUrl).markup)
  })
  done()
}

const Page = { description: 'A page for the person.', content: { 'text/html': { schema: { type: 'string' } } } }

/** The address of the page has the vendor's code in it: it is neither kept nor told to anybody. */
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'permissions-policy': permissionsPolicies.other
}

/** Characters of a parameter. Codes of some vendors are signed tokens. */
const longest = 4_096

/** The parameters that were given once. Vendors add further ones. */
function textsOf (query: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      typeof value === 'string' && value !== '' && value.length <= longest ? [[name, value]] : []
    )
  )
}

function pageOf (returned: Returned, code: string, consoleUrl: string | undefined): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Connection · Document Dispatch</title>
</head>
<body>
<main>
${contentOf(returned, code, consoleUrl)}
</main>
</body>
</html>
`
}

function contentOf (returned: Returned, code: string, consoleUrl: string | undefined): Html {
  if (returned.came === 'unknown') {
    return html`<h1>There is nothing to connect here</h1>
<p>Nobody has begun this connection, or it has ended: it waits for ten minutes. Begin it again.</p>`
  }
  const { company, provider } = returned
  if (returned.came === 'refused') {
    return html`<h1>${provider} is not connected</h1>
<p>The vendor has refused it for the company “${company}”: ${returned.why}</p>`
  }
  const { confirmation } = returned
  const inConsole = `${consoleUrl ?? ''}/providers/${code}/connected?${String(new URLSearchParams({ confirmation }))}`
  return html`<h1>One more step</h1>
<p>The company “${company}” asks to use your account at ${provider}. Go on only if you have begun this yourself.</p>
${consoleUrl === undefined ? html`` : html`<p><a href="${inConsole}">Go on in the console</a></p>\n`}
<p>Without the console, confirm it with <code>POST /api/v1/company/providers/${code}/connect</code>, or <code>/api/v1/my/…</code> where it is your own configuration, and this body, within ten
minutes:</p>
<pre>{ "confirmation": "${confirmation}" }</pre>
<p>Give it to nobody: whoever asks you for it wants to use your account.</p>`
}

const owners: { path: string, of: 'My' | 'Company', whose: string, ownerOf: (actor: Actor) => Owner }[] = [
  {
    path: '/api/v1/my/providers/:code/connect',
    of: 'My',
    whose: 'the user\'s own',
    ownerOf: ({ companyId, userId }) => ({ companyId, userId })
  },
  {
    path: '/api/v1/company/providers/:code/connect',
    of: 'Company',
    whose: 'the company\'s',
    ownerOf: ({ companyId }) => ({ companyId, userId: null })
  }
]

import type { Actor } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import { DispatchError, latestVersion } from '@dispatch/contract'
import { askOwn } from '@dispatch/plugins/routes'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { answerProtocol } from '../service/protocol.ts'
import { type Ask, type Tool, toolsOf } from '../service/tools.ts'

/**
 * `/mcp`: the tools of assistants, by the Model Context Protocol. A tool asks the API of this service as the key that the assistant has,
 * so that it can do what the key may do, and nothing else.
 */
export const mcpRoutes: FastifyPluginCallback<{ publicUrl: string, console: string | undefined }> = (
  app,
  { publicUrl, console },
  done
) => {
  let known: Tool[] | undefined
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { actor: { key }, method, headers, body } = request
    if (key === undefined) {
      throw new DispatchError('unauthorized',
        'An assistant needs an API key: one with the scope "propose" sends only what a person confirms.')
    }
    known ??= toolsOf(app.swagger() as unknown as JsonObject)
    const { status, headers: reported, body: answer } = await answerProtocol(
      new Request(new URL('/mcp', publicUrl), { method, headers: namedIn(headers) }),
      body,
      {
        tools: known.filter(({ scopes }) => scopes.length === 0 || scopes.some((scope) => key.scopes.includes(scope))),
        calling: { ask: asking(request, request.actor), proposes: !key.scopes.includes('send'), console },
        version: latestVersion
      }
    )
    for (const name of ['content-type', 'allow', 'mcp-protocol-version']) {
      const value = reported.get(name)
      if (value !== null) reply.header(name, value)
    }
    return reply.code(status).send(answer === null ? null : Readable.fromWeb(answer))
  }
  // A GET and a DELETE are of sessions, which there are none: the protocol answers them.
  for (const method of ['GET', 'POST', 'DELETE'] as const) {
    app.route({ method, url: '/mcp', exposeHeadRoute: false, schema: { operationId: 'mcp', hide: true }, handler: answer })
  }
  done()
}

/** Asks the API within the process, for the client of a request. */
function asking ({ server, ip: remoteAddress, id }: FastifyRequest, actor: Actor): Ask {
  return async (method, url, { body, headers = {} } = {}) => {
    const { statusCode: status, headers: reported, rawPayload: bytes } = await askOwn(server, { actor }, {
      method,
      url,
      remoteAddress,
      headers: { 'x-request-id': id, 'x-api-version': latestVersion, ...headers },
      ...body === undefined ? {} : { payload: body }
    })
    return { status, contentType: reported['content-type'] ?? '', bytes }
  }
}

/** The headers of a request that the protocol knows of. */
function namedIn (headers: FastifyRequest['headers']): Record<string, string> {
  const names = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    /^(accept|content-type|mcp-.*)$/.test(name) && typeof value === 'string' ? [[name, value]] : []
  )
  return Object.fromEntries(names)
}

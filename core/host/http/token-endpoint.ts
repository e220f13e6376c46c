import { withDeadline } from '@dispatch/common'
import { Type } from 'typebox'
import { textAt } from '../../services/data.ts'
import { outcomeOfStatus, RequestFailure } from '../call/request-outcome.ts'
import { basicHeader } from './basic-auth.ts'
import { formPairs } from './form.ts'
import { fitReply, readErrorReply, readReply } from './reply.ts'
import type { HttpTransport, TransportReply } from './transport.ts'

/** A client of a token endpoint. Its secret is sent in the header (`basic`, the default) or in the `body`. */
export type OAuthClient = { clientId: string, clientSecret?: string, clientAuth?: 'basic' | 'body' }

/** A request to a token endpoint: the fields of its form, and its headers. */
export type TokenForm = { fields: Record<string, string | undefined>, headers: Record<string, string> }

/** The answer of a token endpoint: the access token, its lifetime in seconds, and what renews it. */
export type IssuedToken = { value: string, lifetime: number, refreshToken?: string }

/** The time limit in milliseconds for an answer of the token endpoint. */
const answerWithin = 15_000
/** The lifetime in seconds of a token whose answer does not name one. */
const unknownLifetime = 300

/** A request with the sign-in of its client. */
export function clientSignIn ({ clientId, clientSecret, clientAuth = 'basic' }: OAuthClient, fields: TokenForm['fields']): TokenForm {
  // RFC 6749, 2.3.1: user name and password of the header are form-encoded first.
  if (clientSecret !== undefined && clientAuth === 'basic') {
    return { fields, headers: { authorization: basicHeader(formEncoded(clientId), formEncoded(clientSecret)) } }
  }
  return { headers: {}, fields: { ...fields, client_id: clientId, client_secret: clientSecret } }
}

function formEncoded (text: string): string {
  return new URLSearchParams({ _: text }).toString().slice(2)
}

/** Asks a token endpoint for a token. Throws a {@link RequestFailure}; the `code` of a refusal is the one of RFC 6749, 5.2. */
export async function askForToken (wire: Pick<HttpTransport, 'send'>, url: URL, { fields, headers }: TokenForm): Promise<IssuedToken> {
  const body = Buffer.from(new URLSearchParams(formPairs(fields)).toString())
  const late = new RequestFailure('not done', `"${url.host}" did not answer to the sign-in within ${answerWithin / 1000} seconds.`)
  return withDeadline(answerWithin, async (signal) =>
    tokenOf(url.host, await wire.send({
      method: 'POST',
      url,
      headers: { ...headers, accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body,
      signal,
      answerWithin
    })), late)
}

const TokenReply = Type.Object({
  access_token: Type.String({ minLength: 1 }),
  expires_in: Type.Optional(Type.Union([Type.Number(), Type.String({ pattern: '^\\d+$' })])),
  refresh_token: Type.Optional(Type.Union([Type.String(), Type.Null()]))
})

/** Reads the token endpoint's answer. Throws a {@link RequestFailure} when there is no token in it. */
async function tokenOf (host: string, reply: TransportReply): Promise<IssuedToken> {
  const verdict = outcomeOfStatus(reply.status, [])
  if (verdict === 'refused') {
    const error = await readErrorReply(reply)
    const { code = String(reply.status), words = code } = {
      ...textAt(error, '/error', 'code'),
      ...textAt(error, '/error_description', 'words')
    }
    throw new RequestFailure('refused', `"${host}" refused to sign in: ${words}`, {
      word: 'authentication_error',
      code,
      status: reply.status
    })
  }
  if (verdict !== 'done') {
    await reply.body.dump()
    throw new RequestFailure('not done', `"${host}" answered ${reply.status} to the sign-in.`)
  }
  const fit = fitReply(TokenReply, await readReply(host, reply))
  if (!fit.ok) throw new RequestFailure('not done', `"${host}" answered to the sign-in without a token.`)
  const { access_token: value, expires_in: lifetime = unknownLifetime, refresh_token: refreshToken } = fit.value
  return { value, lifetime: Number(lifetime), ...typeof refreshToken === 'string' && refreshToken !== '' && { refreshToken } }
}

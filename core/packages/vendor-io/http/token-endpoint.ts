import { type Json, textAt, withDeadline } from '@dispatch/common'
import { Type } from 'typebox'
import { outcomeOfStatus, RequestFailure } from '../outcome/request-outcome.ts'
import { basicHeader } from './basic-auth.ts'
import { formPairs } from './form.ts'
import { fitReply, readErrorReply, readReply } from './reply.ts'
import type { HttpTransport, TransportReply } from './transport.ts'

/** A client of a token endpoint. Its secret is sent in the header (`basic`, the default) or in the `body`. */
export type OAuthClient = { clientId: string, clientSecret?: string, clientAuth?: 'basic' | 'body' }

/** A request to a token endpoint: the fields of its form, and its headers. */
export type TokenForm = { fields: Record<string, string | undefined>, headers: Record<string, string> }

/** The answer of a token endpoint: the access token, its lifetime in seconds, what renews it, and all that the vendor said. */
export type IssuedToken = { value: string, lifetime: number, refreshToken?: string, answer: Json }

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
export async function askForToken (wire: Pick<HttpTransport, 'send'>, url: URL, form: TokenForm): Promise<IssuedToken> {
  return await askForSignIn(wire, url, contentOf(form), (reply) => tokenOf(url.host, reply))
}

/**
 * Ends a token (RFC 7009, 2.1). A token that the vendor does not know has ended. Throws a {@link RequestFailure} where it is not known to
 * have ended.
 */
export async function revokeToken (wire: Pick<HttpTransport, 'send'>, url: URL, form: TokenForm): Promise<void> {
  await askForSignIn(wire, url, contentOf(form), async (reply) => {
    if (outcomeOfStatus(reply.status, []) === 'done') await reply.body.dump()
    else await refuseSignIn(url.host, reply)
  })
}

function contentOf ({ fields, headers }: TokenForm): { headers: Record<string, string>, body: Buffer } {
  return {
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(String(new URLSearchParams(formPairs(fields))))
  }
}

/** A POST that signs in, with a time limit of its own. Throws a {@link RequestFailure}. */
export async function askForSignIn<Answer> (
  wire: Pick<HttpTransport, 'send'>,
  url: URL,
  { headers, body }: { headers: Record<string, string>, body: Buffer },
  read: (reply: TransportReply) => Promise<Answer>
): Promise<Answer> {
  const late = new RequestFailure('not done', `"${url.host}" did not answer to the sign-in within ${answerWithin / 1000} seconds.`)
  return withDeadline(answerWithin, async (signal) =>
    read(await wire.send({
      method: 'POST',
      url,
      headers: { ...headers, accept: 'application/json' },
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
  if (outcomeOfStatus(reply.status, []) !== 'done') return await refuseSignIn(host, reply)
  const answer = await readReply(host, reply)
  const fit = fitReply(TokenReply, answer)
  if (!fit.ok) throw new RequestFailure('not done', `"${host}" answered to the sign-in without a token.`)
  const { access_token: value, expires_in: lifetime = unknownLifetime, refresh_token: refreshToken } = fit.value
  return { value, lifetime: Number(lifetime), answer, ...typeof refreshToken === 'string' && refreshToken !== '' && { refreshToken } }
}

/** Throws what a vendor says to a sign-in in place of what it was asked for. */
export async function refuseSignIn (host: string, reply: TransportReply): Promise<never> {
  if (outcomeOfStatus(reply.status, []) === 'refused') {
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
  await reply.body.dump()
  throw new RequestFailure('not done', `"${host}" answered ${reply.status} to the sign-in.`)
}

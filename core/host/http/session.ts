import type { Json } from '@dispatch/common'
import { textOf } from '../../services/data.ts'
import { RequestFailure } from '../call/request-outcome.ts'
import { basicHeader } from './basic-auth.ts'
import { type FormFields, formPairs } from './form.ts'
import { readReply } from './reply.ts'
import { askForSignIn, refuseSignIn } from './token-endpoint.ts'
import type { HttpTransport, TransportReply } from './transport.ts'

/**
 * A session that a vendor opens in a way of its own, by one POST to `url`: with a body in JSON or a form, or HTTP Basic, or both. `token`
 * is the JSON pointer of its token in the answer, empty where the answer is that token. `lifetime` is in seconds.
 */
export type Session = {
  url: string
  json?: Json
  form?: FormFields
  basic?: readonly [user: string, password: string]
  token: string
  lifetime: number
}

/** Where the token of a session stands in a request: in `header`, by default `authorization`, behind `scheme` where there is one. */
export type SessionSignIn = Session & { header?: string, scheme?: string }

/** The header of a session's token. */
export function sessionHeader ({ header = 'authorization', scheme }: SessionSignIn, token: string): Record<string, string> {
  return { [header.toLowerCase()]: scheme === undefined ? token : `${scheme} ${token}` }
}

/** Opens a session, and answers its token. Throws a {@link RequestFailure}. */
export function openSession (wire: Pick<HttpTransport, 'send'>, url: URL, session: Session): Promise<string> {
  const { json, form = {}, basic } = session
  const content = json === undefined
    ? { type: 'application/x-www-form-urlencoded', text: String(new URLSearchParams(formPairs(form))) }
    : { type: 'application/json', text: JSON.stringify(json) }
  const headers = { 'content-type': content.type, ...(basic !== undefined && { authorization: basicHeader(...basic) }) }
  return askForSignIn(wire, url, { headers, body: Buffer.from(content.text) }, (reply) => tokenOf(url.host, reply, session))
}

async function tokenOf (host: string, reply: TransportReply, { token }: Session): Promise<string> {
  if (reply.status < 200 || reply.status > 299) return await refuseSignIn(host, reply)
  const found = textOf(await readReply(host, reply), token)
  if (found !== undefined && /^[\x21-\x7e]{1,8000}$/.test(found)) return found
  throw new RequestFailure('not done', `"${host}" answered to the sign-in without a token.`)
}

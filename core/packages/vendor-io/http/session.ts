import { type Json, textOf } from '@dispatch/common'
import { createHmac } from 'node:crypto'
import { RequestFailure } from '../outcome/request-outcome.ts'
import { basicHeader } from './basic-auth.ts'
import { type FormFields, formPairs } from './form.ts'
import { readReply } from './reply.ts'
import { askForSignIn, refuseSignIn } from './token-endpoint.ts'
import type { HttpTransport, TransportReply } from './transport.ts'

/** HMAC-SHA256 of `text` and the time in seconds behind it, in hexadecimal digits: it stands in `header`, and the time in `time`. */
export type SessionSignature = { key: string, text: string, header: string, time: string }

/**
 * A session that a vendor opens in a way of its own, by one POST to `url`: with a body in JSON or a form, HTTP Basic, headers or a
 * signature. `token` is the JSON pointer of its token in the answer, empty where the answer is that token. `lifetime` is in seconds.
 */
export type Session = {
  url: string
  json?: Json
  form?: FormFields
  basic?: readonly [user: string, password: string]
  headers?: Readonly<Record<string, string>>
  signature?: SessionSignature
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
export function openSession (wire: Pick<HttpTransport, 'send'>, url: URL, session: Session, now: Date): Promise<string> {
  const { json, form = {}, basic, signature, headers: more = {} } = session
  const content = json === undefined
    ? { type: 'application/x-www-form-urlencoded', text: String(new URLSearchParams(formPairs(form))) }
    : { type: 'application/json', text: JSON.stringify(json) }
  const headers = {
    ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name.toLowerCase(), value])),
    'content-type': content.type,
    ...(basic !== undefined && { authorization: basicHeader(...basic) }),
    ...(signature !== undefined && signed(signature, now))
  }
  return askForSignIn(wire, url, { headers, body: Buffer.from(content.text) }, (reply) => tokenOf(url.host, reply, session))
}

function signed ({ key, text, header, time }: SessionSignature, now: Date): Record<string, string> {
  const seconds = String(Math.floor(now.getTime() / 1000))
  const proof = createHmac('sha256', key).update(text + seconds).digest('hex')
  return { [time.toLowerCase()]: seconds, [header.toLowerCase()]: proof }
}

async function tokenOf (host: string, reply: TransportReply, { token }: Session): Promise<string> {
  if (reply.status < 200 || reply.status > 299) return await refuseSignIn(host, reply)
  const found = textOf(await readReply(host, reply), token)
  // No token has angle brackets, and a page in place of one does.
  if (found !== undefined && /^[\x21-\x7e]{1,8000}$/.test(found) && !/[<>]/.test(found)) return found
  throw new RequestFailure('not done', `"${host}" answered to the sign-in without a token.`)
}

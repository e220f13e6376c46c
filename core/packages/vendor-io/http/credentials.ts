import { isRecord } from '@dispatch/common'
import { isCredentialField } from '../notes/credential-fields.ts'
import type { HttpCall } from './call.ts'
import { formPairs } from './form.ts'
import type { OAuth2 } from './oauth.ts'
import type { SessionSignIn } from './session.ts'

/**
 * A value that proves who sends a request, and how it is sent: `as "bearer"`. User names, account numbers and the ids of keys prove
 * nothing.
 */
export type Credential = { sent: string, value: string }

/** The credentials that a provider gives with a request: its sign-in, and those in headers and in the query of its own. */
export function credentialsOf ({ headers = {}, query = {}, ...call }: HttpCall): Credential[] {
  const own = Object.entries(headers).filter(([name]) => isCredentialField(name)).flatMap(([name, value]) =>
    (/authorization$/i.test(name) ? provedBy(value) : [value]).map((proof) => ({ sent: `in the header "${name}"`, value: proof }))
  )
  const requested = formPairs(query).filter(([name]) => isCredentialField(name)).map(([name, value]) => ({
    sent: `in the query "${name}"`,
    value
  }))
  return [...declared(call), ...own, ...requested].filter(({ value }) => typeof value === 'string' && value !== '')
}

function declared ({ basic, bearer, apiKey, jwt, oauth1, oauth2, session, sigv4 }: HttpCall): Credential[] {
  const found: Record<string, string | undefined> = {
    // Some vendors take a key as the user, without a password.
    basic: basic?.[1] === '' ? basic[0] : basic?.[1],
    bearer,
    apiKey: apiKey?.value,
    'jwt.key': jwt?.key,
    ...(oauth2 !== undefined && ofOAuth2(oauth2)),
    ...(session !== undefined && ofSession(session)),
    'oauth1.consumerSecret': oauth1?.consumerSecret,
    'oauth1.tokenSecret': oauth1?.tokenSecret,
    'sigv4.secretAccessKey': sigv4?.secretAccessKey,
    'sigv4.sessionToken': sigv4?.sessionToken
  }
  return Object.entries(found).flatMap(([name, value]) => value === undefined ? [] : [{ sent: `as "${name}"`, value }])
}

function ofSession ({ json = null, form = {}, basic, signature }: SessionSignIn): Record<string, string | undefined> {
  const fields: [string, unknown][] = [...formPairs(form), ...isRecord(json) ? Object.entries(json) : []]
  const proofs = fields.filter(([name, value]) => isCredentialField(name) && typeof value === 'string') as [string, string][]
  return {
    'session.basic': basic?.[1],
    'session.signature.key': signature?.key,
    ...Object.fromEntries(proofs.map(([name, value]) => [`session.${name}`, value]))
  }
}

function ofOAuth2 (oauth2: OAuth2): Record<string, string | undefined> {
  return {
    'oauth2.clientSecret': 'clientSecret' in oauth2 ? oauth2.clientSecret : undefined,
    'oauth2.password': 'password' in oauth2 ? oauth2.password : undefined,
    'oauth2.assertion.key': 'assertion' in oauth2 ? oauth2.assertion.key : undefined,
    ...Object.fromEntries(
      Object.entries('parameters' in oauth2 ? oauth2.parameters ?? {} : {}).filter(([name]) => isCredentialField(name)).map(
        ([name, value]) => [`oauth2.parameters.${name}`, value] as const
      )
    )
  }
}

const parameter = /([\w-]+)=("[^"]*"|[^\s,="]+)/g
/** A scheme with parameters, such as Digest or AWS4-HMAC-SHA256 (RFC 9110, 11.4). */
const parameters = new RegExp(`^${parameter.source}([\\s,]+${parameter.source})*$`)
const provesNothing = /(^|[-_])((key)?id|(user)?name|user|account|realm|credential|algorithm|(signed)?headers|nonce|created|timestamp)$/i

/** The credentials in an Authorization header of the provider's own: a token, a password, or parameters that are not names. */
function provedBy (header: string): string[] {
  const [, scheme = '', rest = header] = /^(\S+) +(.+)$/s.exec(header) ?? []
  if (/^basic$/i.test(scheme)) {
    const [user = '', ...password] = Buffer.from(rest, 'base64').toString().split(':')
    return [rest, password.join(':') || user]
  }
  if (parameters.test(rest)) {
    return [...rest.matchAll(parameter)].flatMap(([, name = '', value = '']) => provesNothing.test(name) ? [] : [value.replaceAll('"', '')])
  }
  return [...new Set([rest, rest.split(':').at(-1) ?? rest])]
}

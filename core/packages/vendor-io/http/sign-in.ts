import { basicHeader } from './basic-auth.ts'
import { type ArrayFormat, type FormContents, formTexts } from './form.ts'
import type { Jwt } from './jwt.ts'
import type { OAuth2 } from './oauth.ts'
import { type OAuth1, oauth1Header } from './oauth1.ts'
import { sessionHeader, type SessionSignIn } from './session.ts'
import { signRequest, type SigV4, type Unsigned } from './sigv4.ts'

/** How a request signs in: at most one of these fields. */
export type SignInFields = {
  basic?: readonly [user: string, password: string]
  bearer?: string
  apiKey?: { header: string, value: string }
  jwt?: Jwt
  oauth2?: OAuth2
  sigv4?: SigV4
  oauth1?: OAuth1
  session?: SessionSignIn
}

/** `token` gives the access token of an OAuth 2 sign-in or a session, `signed` a JSON Web Token. */
export type SignInWith = { token: (of: OAuth2 | SessionSignIn) => Promise<string>, signed: (jwt: Jwt) => Promise<string>, now: () => Date }

const kinds = ['basic', 'bearer', 'apiKey', 'jwt', 'oauth2', 'sigv4', 'oauth1', 'session'] as const

/** The headers that sign a request in. Throws a TypeError when two ways are given. */
export async function signIn (
  fields: SignInFields & { form?: FormContents, arrays?: ArrayFormat },
  request: Unsigned,
  { token, signed, now }: SignInWith
): Promise<Record<string, string>> {
  const given = kinds.filter((kind) => fields[kind] !== undefined)
  if (given.length > 1) throw new TypeError(`A request signs in one way, not by ${given.join(' and ')}.`)
  const { basic, bearer, apiKey, jwt, oauth1, oauth2, session, sigv4, form = {}, arrays } = fields
  if (basic !== undefined) return { authorization: basicHeader(...basic) }
  if (bearer !== undefined) return { authorization: `Bearer ${bearer}` }
  if (apiKey !== undefined) return { [apiKey.header.toLowerCase()]: apiKey.value }
  if (jwt !== undefined) return { authorization: `Bearer ${await signed(jwt)}` }
  if (oauth2 !== undefined) return { authorization: `${schemeOf(oauth2)} ${await token(oauth2)}` }
  if (session !== undefined) return sessionHeader(session, await token(session))
  if (oauth1 !== undefined) return { authorization: oauth1Header(oauth1, request, formTexts(form, arrays), now()) }
  return sigv4 === undefined ? {} : await signRequest(sigv4, request, now())
}

/** What stands before an access token (RFC 9110, 11.1). Throws a TypeError for a text that is no scheme. */
function schemeOf ({ scheme = 'Bearer' }: OAuth2): string {
  if (!/^[A-Za-z][\w.!#$%&'*+^`|~-]*$/.test(scheme)) throw new TypeError('The "scheme" of "oauth2" is a word such as "Bearer".')
  return scheme
}

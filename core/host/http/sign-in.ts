import { basicHeader } from './basic-auth.ts'
import type { Jwt } from './jwt.ts'
import type { OAuth2 } from './oauth.ts'
import { signRequest, type SigV4, type Unsigned } from './sigv4.ts'

/** How a request signs in: at most one of these fields. */
export type SignInFields = {
  basic?: readonly [user: string, password: string]
  bearer?: string
  apiKey?: { header: string, value: string }
  jwt?: Jwt
  oauth2?: OAuth2
  sigv4?: SigV4
}

/** `token` gives the access token of an OAuth 2 sign-in, `signed` a JSON Web Token. */
export type SignInWith = { token: (oauth2: OAuth2) => Promise<string>, signed: (jwt: Jwt) => Promise<string>, now: () => Date }

const kinds = ['basic', 'bearer', 'apiKey', 'jwt', 'oauth2', 'sigv4'] as const

/** The headers that sign a request in. Throws a TypeError when two ways are given. */
export async function signIn (
  fields: SignInFields,
  request: Unsigned,
  { token, signed, now }: SignInWith
): Promise<Record<string, string>> {
  const given = kinds.filter((kind) => fields[kind] !== undefined)
  if (given.length > 1) throw new TypeError(`A request signs in one way, not by ${given.join(' and ')}.`)
  const { basic, bearer, apiKey, jwt, oauth2, sigv4 } = fields
  if (basic !== undefined) return { authorization: basicHeader(...basic) }
  if (bearer !== undefined) return { authorization: `Bearer ${bearer}` }
  if (apiKey !== undefined) return { [apiKey.header.toLowerCase()]: apiKey.value }
  if (jwt !== undefined) return { authorization: `Bearer ${await signed(jwt)}` }
  if (oauth2 !== undefined) return { authorization: `Bearer ${await token(oauth2)}` }
  return sigv4 === undefined ? {} : await signRequest(sigv4, request, now())
}

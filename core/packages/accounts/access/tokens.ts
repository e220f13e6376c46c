import { compile, createRecent } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import { errors, type JWTHeaderParameters, jwtVerify, SignJWT } from 'jose'
import { hash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { Account } from './account.ts'
import type { SigningKeys } from './signing-keys.ts'

/** The part of an account that a token identifies. */
export type TokenSubject = Pick<Account, 'userId' | 'passwordVersion'>

/** The claims of a token. The account decides whether they still hold. */
export type Claims = TokenSubject & {
  companyId: number
  /** The user who impersonates this one. */
  impersonator?: TokenSubject
  /** When the person, or who acts as them, has proved who they are. A refresh does not change it. */
  provedAt: Date
  expiresAt: Date
}

/** Access tokens: JSON Web Tokens signed with Ed25519. Both ways to verify one throw `unauthorized`. */
export type Tokens = {
  issue: (account: Account, session?: { impersonator?: TokenSubject | undefined, provedAt?: Date | undefined }) => Promise<string>
  verify: (token: string) => Promise<Claims>
  /** Also accepts a token that expired less than 24 hours ago. Refuses a token whose login is more than 30 days ago. */
  verifyForRefresh: (token: string) => Promise<Claims>
}

/** In seconds. */
const hour = 3600
const defaultLifetime = 2 * hour
const refreshableFor = 24 * hour
const sessionLifetime = 30 * 24 * hour

const maxRemembered = 10_000
const party = 'document-dispatch'
/** The service's own token type: no other JSON Web Token can be mistaken for an access token (RFC 8725, 3.11). */
const header = { alg: 'EdDSA', typ: 'access+jwt' }

const UserId = Type.String({ pattern: '^[1-9][0-9]{0,15}$' })

/** `act` as in RFC 8693, `auth_time` as in OpenID Connect (seconds); `pwv` is the password version. */
const Payload = Type.Object({
  sub: UserId,
  company: Type.Integer(),
  pwv: Type.Integer(),
  act: Type.Optional(Type.Object({ sub: UserId, pwv: Type.Integer() })),
  auth_time: Type.Integer(),
  exp: Type.Integer()
})
const fitPayload = compile(Payload)

/** The claims of a valid token, and the id of the key that signed it. */
type Read = { kid: string, claims: Claims }

/**
 * Issues and verifies tokens, and caches valid ones until they expire. `lifetime` is in seconds. Throws `unauthorized` for a token that is
 * no longer or was never good, and for the renewal of a login of more than 30 days ago.
 */
export function createTokens ({ keys, now, lifetime = defaultLifetime }: {
  keys: SigningKeys
  now: () => Date
  lifetime?: number
}): Tokens {
  const verified = createRecent<string, Read>(maxRemembered)

  async function read (token: string, tolerance: number): Promise<Read> {
    try {
      const rules = {
        algorithms: [header.alg],
        typ: header.typ,
        issuer: party,
        audience: party,
        currentDate: now(),
        clockTolerance: tolerance
      }
      const { payload, protectedHeader: { kid = '' } } = await jwtVerify(token, keyOf, rules)
      return { kid, claims: claimsOf(payload) }
    } catch (cause) {
      throw cause instanceof errors.JOSEError ? refusal(cause) : cause
    }
  }

  async function keyOf ({ kid }: JWTHeaderParameters) {
    const key = kid === undefined ? undefined : await keys.find(kid)
    if (key === undefined) throw new errors.JWKSNoMatchingKey()
    return key.publicKey
  }

  return {
    async issue (account, { impersonator, provedAt = now() } = {}) {
      const { kid, privateKey } = await keys.signer()
      const issuedAt = secondsOf(now())
      const payload = {
        company: account.companyId,
        pwv: account.passwordVersion,
        ...impersonator && { act: { sub: String(impersonator.userId), pwv: impersonator.passwordVersion } },
        auth_time: secondsOf(provedAt)
      }
      return await new SignJWT(payload)
        .setProtectedHeader({ ...header, kid })
        .setSubject(String(account.userId))
        .setIssuer(party)
        .setAudience(party)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + lifetime)
        .sign(privateKey)
    },
    async verify (token) {
      const digest = hash('sha256', token, 'base64')
      const known = verified.get(digest)
      // The key may have been revoked after the token was cached.
      if (known !== undefined && known.claims.expiresAt > now() && await keys.find(known.kid) !== undefined) return known.claims
      const fresh = await read(token, 0)
      verified.set(digest, fresh)
      return fresh.claims
    },
    async verifyForRefresh (token) {
      const { claims } = await read(token, refreshableFor)
      if (secondsOf(now()) - secondsOf(claims.provedAt) > sessionLifetime) {
        throw new DispatchError('unauthorized', 'The login was more than 30 days ago: log in again.')
      }
      return claims
    }
  }
}

function claimsOf (payload: unknown): Claims {
  const fit = fitPayload(payload)
  if (!fit.ok) throw new errors.JWTInvalid('The claims are not those of an access token.')
  const { sub, company, pwv, act, auth_time: authTime, exp }: Static<typeof Payload> = fit.value
  return {
    userId: Number(sub),
    companyId: company,
    passwordVersion: pwv,
    ...act && { impersonator: { userId: Number(act.sub), passwordVersion: act.pwv } },
    provedAt: new Date(authTime * 1000),
    expiresAt: new Date(exp * 1000)
  }
}

function refusal (cause: errors.JOSEError): DispatchError {
  const message = cause instanceof errors.JWTExpired
    ? 'The token has expired: refresh it or log in again.'
    : 'The token is not valid: log in again.'
  return new DispatchError('unauthorized', message, { cause })
}

function secondsOf (time: Date): number {
  return Math.floor(time.getTime() / 1000)
}

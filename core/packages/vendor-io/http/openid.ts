import { withDeadline } from '@dispatch/common'
import type { Configuration, CustomFetch } from 'openid-client'
import { RequestFailure } from '../outcome/request-outcome.ts'
import { readReply } from './reply.ts'
import type { HttpTransport, TransportRequest } from './transport.ts'

/** A client that an OpenID provider has registered. */
export type OpenIdClient = { issuer: string, clientId: string, clientSecret: string }

/**
 * What binds an answer to its request: the state and the nonce are in it, the verifier is known to the service alone (PKCE, S256).
 * `maxAge`: how many seconds ago a sign-in at the provider may have been (OpenID Connect Core, 3.1.2.1).
 */
export type OpenIdChecks = { state: string, nonce: string, verifier: string, maxAge?: number }

/**
 * Where a provider sends the browser back to: to its `own` address, or to one that it has in common with other providers, where it names
 * itself in its answers (RFC 9207).
 */
export type ReturnAddresses = { own: string, shared?: string }

/**
 * A person as their provider knows them; `email` only where the provider tells it. `emailVerified` is undefined where the provider does not
 * say, and false for anything but the boolean true. `signedInAt`: when they have last signed in there, where the provider tells it.
 */
export type OpenIdPerson = { subject: string, email?: string, emailVerified: boolean | undefined, signedInAt?: Date }

/** What a browser is sent to, the address to which it is sent back, and what must be known then. */
export type OpenIdBegun = { url: string, redirectUri: string, checks: OpenIdChecks }

/** OpenID Connect with an authorization code, over connections that the guard permits. Each method throws an {@link OpenIdFailure}. */
export type OpenId = {
  /** Reads the configuration that the issuer publishes. */
  probe: (issuer: string) => Promise<void>
  /** `hint`: who it probably is that goes to the provider. `maxAge`: as in {@link OpenIdChecks}. */
  begin: (client: OpenIdClient, addresses: ReturnAddresses, requested: { hint?: string, maxAge?: number }) => Promise<OpenIdBegun>
  /** Exchanges the code for the ID token, whose signature, issuer, audience, times and nonce are checked. `answer` is the query. */
  finish: (client: OpenIdClient, redirectUri: string, answer: URLSearchParams, checks: OpenIdChecks) => Promise<OpenIdPerson>
}

/** The provider was not reached, or what it answers is not right. */
export class OpenIdFailure extends Error {
  override name = 'OpenIdFailure'
}

/** The time limit in milliseconds for one answer of a provider. */
const answerWithin = 10_000

/** Loaded with the first person who signs in at a provider. */
const library = (): Promise<typeof import('openid-client')> => import('openid-client')

/** OpenID Connect Core, 2. */
const subjectForm = /^[\x20-\x7e]{1,255}$/

/**
 * Signs in at providers of OpenID Connect. `plainHttp`: those without TLS too, for development. Throws an `OpenIdFailure` that says what is
 * wrong with one.
 */
export function createOpenId ({ transport, plainHttp, now }: { transport: HttpTransport, plainHttp: boolean, now: () => Date }): OpenId {
  /** openid-client's `fetch`: no redirect is followed, an answer has a limited size. */
  const fetch: CustomFetch = (address, { method, headers, body }) => {
    const url = new URL(address)
    return withDeadline(answerWithin, async (signal) => {
      const content = body instanceof URLSearchParams ? { body: Buffer.from(body.toString()) } : {}
      const request = { method: method as TransportRequest['method'], url, headers, signal, answerWithin, ...content }
      const reply = await transport.send(request)
      const text = await readReply(url.host, reply, 'text')
      const contentType = reply.headers['content-type']
      return new Response(typeof text === 'string' && text !== '' ? text : null, {
        status: reply.status,
        headers: typeof contentType === 'string' ? { 'content-type': contentType } : {}
      })
    }, new OpenIdFailure(`"${url.host}" did not answer within ${answerWithin / 1000} seconds.`))
  }

  async function discover ({ issuer, clientId, clientSecret }: OpenIdClient): Promise<Configuration> {
    const openid = await library()
    const found = await openid.discovery(new URL(issuer), clientId, undefined, openid.None(), {
      [openid.customFetch]: fetch,
      // oxlint-disable-next-line typescript/no-deprecated -- development only
      ...plainHttp && { execute: [openid.allowInsecureRequests] }
    })
    const metadata = found.serverMetadata()
    const page = URL.parse(metadata.authorization_endpoint ?? '')
    if (page?.protocol !== 'https:' && !(plainHttp && page?.protocol === 'http:')) {
      throw new OpenIdFailure('its page to sign in at has no https:// address.')
    }
    // Without a list a provider takes Basic alone (OpenID Connect Discovery, 3).
    const isBasic = metadata.token_endpoint_auth_methods_supported?.includes('client_secret_basic') ?? true
    const signIn = isBasic ? openid.ClientSecretBasic(clientSecret) : openid.ClientSecretPost(clientSecret)
    const configuration = new openid.Configuration(metadata, clientId, undefined, signIn)
    configuration[openid.customFetch] = fetch
    // oxlint-disable-next-line typescript/no-deprecated -- development only
    if (plainHttp) openid.allowInsecureRequests(configuration)
    openid.enableNonRepudiationChecks(configuration)
    return configuration
  }

  return {
    probe: (issuer) =>
      orFailure(issuer, async () => {
        await discover({ issuer, clientId: 'none', clientSecret: 'none' })
      }),

    begin: (client, { own, shared }, { hint, maxAge }) =>
      orFailure(client.issuer, async () => {
        const openid = await library()
        const configuration = await discover(client)
        const namesItself = configuration.serverMetadata().authorization_response_iss_parameter_supported === true
        const redirectUri = shared !== undefined && namesItself ? shared : own
        const checks = {
          state: openid.randomState(),
          nonce: openid.randomNonce(),
          verifier: openid.randomPKCECodeVerifier(),
          ...maxAge === undefined ? {} : { maxAge }
        }
        const url = openid.buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: 'openid email',
          state: checks.state,
          nonce: checks.nonce,
          code_challenge: await openid.calculatePKCECodeChallenge(checks.verifier),
          code_challenge_method: 'S256',
          ...hint === undefined ? {} : { login_hint: hint },
          ...maxAge === undefined ? {} : { max_age: String(maxAge) }
        })
        return { url: url.href, redirectUri, checks }
      }),

    finish: (client, redirectUri, answer, { state, nonce, verifier, maxAge }) =>
      orFailure(client.issuer, async () => {
        const openid = await library()
        const configuration = await discover(client)
        const tokens = await openid.authorizationCodeGrant(configuration, new URL(`${redirectUri}?${String(answer)}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true
        })
        const claims = tokens.claims()
        const { sub: subject = '' } = claims ?? {}
        if (!subjectForm.test(subject)) throw new TypeError('The ID token has no subject of 1 to 255 ASCII characters.')
        // A provider may tell the address only at its endpoint for that (OpenID Connect Core, 5.4).
        const { email, email_verified: emailVerified } = claims?.['email'] === undefined && configuration.serverMetadata().userinfo_endpoint
          ? await openid.fetchUserInfo(configuration, tokens.access_token, subject)
          : claims ?? {}
        const reported = typeof email === 'string' ? { email } : {}
        const signedInAt = timeOf(claims?.auth_time, { maxAge, now: now() })
        return {
          subject,
          ...reported,
          ...signedInAt === undefined ? {} : { signedInAt },
          emailVerified: emailVerified === undefined ? undefined : emailVerified === true
        }
      })
  }
}

/** In seconds: clocks differ, and it takes time to come back. */
const leeway = 60

/** When a person has signed in at the provider. Throws where that is longer ago than was asked for. */
function timeOf (time: number | undefined, { maxAge, now }: { maxAge: number | undefined, now: Date }): Date | undefined {
  if (time === undefined) return undefined
  const at = new Date(time * 1000)
  if (maxAge !== undefined && now.getTime() - at.getTime() > (maxAge + leeway) * 1000) {
    throw new OpenIdFailure(`it was asked for a sign-in of the last ${maxAge} seconds, and answers with an older one.`)
  }
  return at
}

async function orFailure<Result> (issuer: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    throw new OpenIdFailure(`The issuer "${issuer}" cannot be used: ${reasonOf(cause)}`, { cause })
  }
}

/** openid-client wraps what its `fetch` throws. */
function reasonOf (cause: unknown): string {
  if (cause instanceof RequestFailure || cause instanceof OpenIdFailure) return cause.message
  return cause instanceof Error && cause.cause !== undefined
    ? reasonOf(cause.cause)
    : 'its answer is not that of an OpenID provider for this client.'
}

import { createHmac, generateKeyPairSync, hash, randomUUID, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'

type Claims = Record<string, unknown>
type Pair = ReturnType<typeof newPair>

/** How an ID token differs from a right one. `signed`: by what; `without`: the claims that it lacks. */
export type Forgery = {
  header?: Claims
  claims?: Claims
  without?: readonly string[]
  signed?: 'not' | 'by another key' | 'with the public key' | 'with the secret'
}

/** What an issuer does otherwise than an honest one. */
export type Mischief = {
  /** Fields of its configuration; one that is undefined is left out. */
  published?: Claims
  /** Sends a browser elsewhere than back. */
  sendsTo?: (asked: URLSearchParams) => string
  token?: Forgery
  /** What its address for claims answers. */
  userinfo?: Claims
  /** Any code is good, again and again, as this person. */
  takesAnyCode?: boolean
}

/** An OpenID provider that is as strict as a good one, but for its `mischief`. */
export type Issuer = {
  issuer: string
  client: { clientId: string, clientSecret: string }
  mischief: Mischief
  /** Whether it names itself in its answers (RFC 9207). Many do not. */
  namesItself: boolean
  /** Who is signed in there: claims of the person. */
  person: Claims & { sub: string }
  register: (redirectUri: string) => void
  /** The codes that came to its token endpoint. */
  shown: string[]
  /** Goes there as a browser does, until it is sent to an address of the service; undefined where an issuer refuses. */
  visit: (url: string) => Promise<URL | undefined>
}

const newPair = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const seconds = (): number => Math.floor(Date.now() / 1000)

/** `home`: the public address of the service. */
export async function startIssuer (t: Test, home: string, clientId: string): Promise<Issuer> {
  const [keys, others] = [newPair(), newPair()]
  const codes = new Map<string, URLSearchParams>()
  const registered = new Set<string>()
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
  const own: Issuer = {
    issuer,
    client: { clientId, clientSecret: `canary-of-${clientId}-0123456789-0123456789` },
    mischief: {},
    namesItself: false,
    person: { sub: 'somebody' },
    register: (redirectUri) => void registered.add(redirectUri),
    shown: [],
    visit: (url) => visit(url, home)
  }

  async function answer (request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer)
    const tell = (body: object, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (url.pathname === '/.well-known/openid-configuration') tell({ ...configuration(), ...own.mischief.published })
    else if (url.pathname === '/jwks') tell({ keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'RS256' }] })
    else if (url.pathname === '/userinfo') tell(own.mischief.userinfo ?? own.person)
    else if (url.pathname === '/authorize') {
      const to = own.mischief.sendsTo?.(url.searchParams) ?? letIn(url.searchParams)
      if (to === undefined) tell({ error: 'invalid_request' }, 400)
      else response.writeHead(302, { location: to }).end()
    } else if (url.pathname === '/token') {
      const form = new URLSearchParams(await text(request))
      own.shown.push(form.get('code') ?? '')
      const asked = redeemed(form, request.headers.authorization ?? '')
      if (asked === undefined) tell({ error: 'invalid_grant' }, 400)
      else tell({ access_token: 'access', token_type: 'Bearer', expires_in: 60, id_token: idToken(asked.get('nonce') ?? '') })
    } else tell({}, 404)
  }

  const configuration = (): Claims => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
    code_challenge_methods_supported: ['S256'],
    ...own.namesItself && { authorization_response_iss_parameter_supported: true }
  })

  /** Where a browser is sent back to: to an address that is registered, letter by letter. */
  function letIn (asked: URLSearchParams): string | undefined {
    const to = asked.get('redirect_uri') ?? ''
    const isRight = asked.get('client_id') === clientId && registered.has(to) && asked.get('code_challenge_method') === 'S256'
    if (!isRight) return undefined
    const code = randomUUID()
    codes.set(code, asked)
    return `${to}?${String(new URLSearchParams({ code, state: asked.get('state') ?? '', ...own.namesItself && { iss: issuer } }))}`
  }

  /** What was asked for with a code that its own client redeems, once, with its verifier and its address. */
  function redeemed (form: URLSearchParams, authorization: string): URLSearchParams | undefined {
    const asked = codes.get(form.get('code') ?? '')
    if (own.mischief.takesAnyCode === true) return asked ?? new URLSearchParams()
    codes.delete(form.get('code') ?? '')
    const credentials = decodeURIComponent(Buffer.from(authorization.replace('Basic ', ''), 'base64').toString())
    if (asked === undefined) return undefined
    const isRight = credentials === `${clientId}:${own.client.clientSecret}` && form.get('redirect_uri') === asked.get('redirect_uri') &&
      hash('sha256', form.get('code_verifier') ?? '', 'base64url') === asked.get('code_challenge')
    return isRight ? asked : undefined
  }

  function idToken (nonce: string): string {
    const { header = {}, claims = {}, without = [], signed } = own.mischief.token ?? {}
    const all = { iss: issuer, aud: clientId, nonce, iat: seconds(), exp: seconds() + 300, ...own.person, ...claims }
    const kept = Object.fromEntries(Object.entries(all).filter(([name]) => !without.includes(name)))
    const content = `${encoded({ alg: 'RS256', kid: 'k', typ: 'JWT', ...header })}.${encoded(kept)}`
    const mac = (key: string): string => createHmac('sha256', key).update(content).digest('base64url')
    const bySigning = ({ privateKey }: Pair): string => sign('sha256', Buffer.from(content), privateKey).toString('base64url')
    const signature = {
      not: () => '',
      'by another key': () => bySigning(others),
      'with the public key': () => mac(keys.publicKey.export({ type: 'spki', format: 'pem' })),
      'with the secret': () => mac(own.client.clientSecret)
    }
    return `${content}.${signed === undefined ? bySigning(keys) : signature[signed]()}`
  }
  return own
}

async function visit (start: string, home: string): Promise<URL | undefined> {
  let url = new URL(start)
  for (let steps = 0; steps < 5; steps++) {
    if (url.origin === home) return url
    const { headers } = await fetch(url, { redirect: 'manual' })
    const location = headers.get('location')
    if (location === null) return undefined
    url = new URL(location, url)
  }
  return undefined
}

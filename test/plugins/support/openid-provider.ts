import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import type { Test } from 'tap'

export type Person = { sub: string, email?: string, email_verified?: boolean }

/** An OpenID provider on this machine that lets `person` in without a question. */
export type OpenIdProvider = {
  issuer: string
  client: { clientId: string, clientSecret: string }
  /** Registers an address to which browsers may be sent back. */
  register: (redirectUri: string) => void
  /** Who sits at the browser. */
  person: Person
  /** Goes through the provider as a browser does; answers the address to which it sends the browser back. */
  visit: (url: string) => Promise<URL>
  /** The paths that were asked for. */
  requested: string[]
}

export async function startOpenIdProvider (t: Test): Promise<OpenIdProvider> {
  const registered = new Set<string>()
  const client = { clientId: 'document-dispatch', clientSecret: 'canary-of-a-client-secret-0123456789' }
  const requested: string[] = []
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const register = (redirectUri: string): void => {
    registered.add(redirectUri)
  }
  const own: OpenIdProvider = { issuer, client, register, person: { sub: 'ada' }, visit, requested }
  const provider = new Provider(issuer, {
    clients: [{
      client_id: client.clientId,
      client_secret: client.clientSecret,
      redirect_uris: [`${issuer}/unused`],
      grant_types: ['authorization_code'],
      response_types: ['code']
    }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }) as { kty: 'RSA' }, use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['any'] },
    claims: { email: ['email', 'email_verified'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ ...own.person, sub }) }),
    async loadExistingGrant ({ oidc }) {
      const grant = new provider.Grant({ clientId: client.clientId, accountId: oidc.session?.accountId ?? '' })
      grant.addOIDCScope('openid email')
      await grant.save()
      return grant
    },
    ttl: { Session: 600, Grant: 600, Interaction: 600, AccessToken: 600, IdToken: 600 }
  })
  provider.Client.prototype.redirectUriAllowed = (redirectUri) => registered.has(redirectUri)
  const answer = provider.callback()
  server.on('request', (request, response) => {
    requested.push((request.url ?? '').split('?')[0] ?? '')
    if (request.url?.startsWith('/interaction/') === true) {
      void provider.interactionFinished(request, response, { login: { accountId: own.person.sub } })
    } else void answer(request, response)
  })
  return own
}

async function visit (start: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = new URL(start)
  for (let steps = 0; steps < 10; steps++) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const { status, headers, text } = await fetch(url, { redirect: 'manual', headers: { cookie } }).then(async (response) => ({
      status: response.status,
      headers: response.headers,
      text: await response.text()
    }))
    for (const [name = '', ...value] of headers.getSetCookie().map((line) => (line.split(';', 1)[0] ?? '').split('='))) {
      cookies.set(name, value.join('='))
    }
    const location = headers.get('location')
    if (location === null) throw new Error(`The provider answers ${String(status)}: ${text.slice(0, 500)}`)
    url = new URL(location, url)
    if (url.pathname.startsWith('/console/sign-on/callback')) return url
  }
  throw new Error('The provider sends the browser round and round.')
}

/** An issuer that publishes this configuration, or redirects to itself. Answers its address. */
export async function startPublisher (t: Test, configurationOf: (issuer: string) => object | undefined): Promise<string> {
  const server = createServer((_request, response) => {
    const configuration = configurationOf(issuer)
    response.writeHead(configuration === undefined ? 302 : 200, { 'content-type': 'application/json', location: issuer })
    response.end(JSON.stringify(configuration ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
  return issuer
}

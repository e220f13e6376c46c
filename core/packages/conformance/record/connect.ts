import { type JsonObject, withTimeLimit } from '@dispatch/common'
import { authorizationUrl, clientOf, connectionFor, exchangeCode, factsOfRedirect, factsOfToken,
  type InstalledProvider } from '@dispatch/host'
import type { Network } from '@dispatch/vendor-io'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An account at the vendor that is connected for one call: its access token, what else is secret of it, and what the vendor says of it. */
export type Connected = { token: string, secrets: readonly string[], facts: Readonly<Record<string, string>> }

/**
 * `port`: that of the address on this machine to which the vendor sends the browser back. `client`: that of an operator. `tell`: is given
 * the vendor's page. `within`: milliseconds until the browser is back; ten minutes unless given.
 */
export type Connecting = {
  network: Network
  port: number
  within?: number
  client?: Parameters<typeof clientOf>[2]
  tell: (url: string, redirectUri: string) => void
}

/**
 * Connects an account with the provider as the service does (OAuth 2 with an authorization code and PKCE): a person permits it in a
 * browser, which comes back to this machine. Undefined where the provider signs in with its settings alone. Throws an Error where nothing
 * is connected.
 */
export async function connectAccount (
  { manifest }: Pick<InstalledProvider, 'manifest'>,
  { settings, sandbox }: { settings: JsonObject, sandbox: boolean },
  { network, port, within = signInTimeoutMs, client, tell }: Connecting
): Promise<Connected | undefined> {
  const found = connectionFor(manifest, { settings: { plain: settings }, sandbox })
  if (found === undefined) return undefined
  const { connect } = found
  const { facts: declared = {} } = connect
  if (connect.client === 'operator' && client === undefined) {
    throw new Error('Its client at the vendor is that of an operator: give it as JSON in DISPATCH_PROVIDER_CLIENT, with a clientId.')
  }
  const of = { connect, client: clientOf(connect, settings, client) }
  await using browser = await awaitBrowser(port)
  const { redirectUri, state } = browser
  const verifier = randomBytes(32).toString('base64url')
  tell(authorizationUrl(of, { redirectUri, state, verifier }), redirectUri)
  const { code, query } = await withTimeLimit(within, browser.comesBack,
    () => new Error('The browser did not come back from the vendor in time: nothing was connected.'))
  const reported = factsOfRedirect(declared, query)
  const { facts } = reported
  const { access, refresh, answer } = await exchangeCode(network.transport, { ...of, facts }, { code, redirectUri, verifier })
  const later = factsOfToken(declared, answer)
  const lacking = [...reported.lacking, ...later.lacking]
  if (lacking.length > 0) throw new Error(`The vendor has not said ${lacking.join(', ')} of the account, or in another form.`)
  // The client of a company is among its settings.
  const ofOperator = connect.client === 'operator' ? [of.client.clientId, of.client.clientSecret] : []
  return { token: access, secrets: [refresh, ...ofOperator].filter((one) => one !== undefined), facts: { ...facts, ...later.facts } }
}

/** Milliseconds until the browser is back: a person signs in meanwhile. */
const signInTimeoutMs = 10 * 60_000
/** Where the vendor sends the browser back to. */
const callbackPath = '/callback'

async function awaitBrowser (port: number) {
  const state = randomBytes(32).toString('base64url')
  const back = Promise.withResolvers<{ code: string, query: Readonly<Record<string, string>> }>()
  // Nobody waits for the browser any more where the server was closed.
  back.promise.catch(() => undefined)
  const server = createServer((request, response) => {
    // Whatever runs on this machine may ask, for "//" too, which is no URL.
    const requested = URL.parse(request.url ?? '/', 'http://127.0.0.1')
    const query = Object.fromEntries(requested?.searchParams ?? [])
    const { code, error, error_description: why = error } = query
    const isOurs = requested?.pathname === callbackPath && query['state'] === state
    response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain', 'cache-control': 'no-store', connection: 'close' })
    response.end(isOurs ? 'You can close this page: the fixture is recorded at the command line.\n' : 'There is nothing here.\n')
    if (!isOurs) return
    if (code === undefined) back.reject(new Error(`The vendor did not permit it: ${why ?? 'it gave no reason'}.`))
    else back.resolve({ code, query })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    state,
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}${callbackPath}`,
    comesBack: back.promise,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}

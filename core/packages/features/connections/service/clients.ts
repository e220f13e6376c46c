import type { AuditAuthor } from '@dispatch/accounts'
import type { Envelope, Keyring } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { clientHosts, clientOf, type ConnectedClient, type Host, type Manifest, waysOf } from '@dispatch/host'
import { token } from '@dispatch/plugins/feature'
import { isDeepStrictEqual } from 'node:util'
import type { OAuthAppBody, OAuthAppView } from '../contract/oauth-apps.ts'
import { type Connected, countConnections, deleteOAuthApp, listOAuthApps, type OAuthApp, storeOAuthApp } from '../store/oauth-apps.ts'

type Which = { manifest: Manifest, sandbox: boolean }

/** The clients by which configurations are connected: of their settings, or of the operator of the service. */
export type Clients = {
  /** That of a configuration, whose settings it is given. Throws `conflict` where it is the operator's, and there is none. */
  of: (
    which: Which,
    connect: ConnectedClient['connect'],
    settings: Readonly<Record<string, unknown>>
  ) => Promise<ConnectedClient['client']>
  /** Those of the operator: each that a provider needs, registered or not. */
  list: () => Promise<OAuthAppView[]>
  /** Registers one. Throws `not_found` for a provider that is connected by no client of the operator's. */
  put: (code: string, given: OAuthAppBody, author: AuditAuthor) => Promise<OAuthAppView>
  /** Throws `not_found` where there is none. */
  remove: (code: string, sandbox: boolean, author: AuditAuthor) => Promise<void>
}

export const clients = token<Clients>('connection-clients')

type Options = { database: Database, keyring: Keyring, host: Host, redirectUri: (code: string) => string, now: () => Date }

/** The context under which the secret of a client is sealed. */
const contextOf = ({ code, sandbox }: Pick<OAuthApp, 'code' | 'sandbox'>): string => `oauth app|${code}|${String(sandbox)}`

/**
 * The clients of OAuth of this service at vendors. Throws `conflict` where a provider needs one of the operator's that is not registered or
 * not confirmed, `not_found` for a provider that needs none.
 */
export function createClients ({ database, keyring, host, redirectUri, now }: Options): Clients {
  /** The clients that providers need, for their real environment and for one of tests that has configurations of its own. */
  const needed = (): Which[] =>
    host.entries().flatMap((entry) => {
      if (entry.state !== 'installed' || !waysOf(entry.manifest).some(({ client }) => client === 'operator')) return []
      const { manifest } = entry
      return manifest.sandbox?.kind === 'configuration' ? [{ manifest, sandbox: false }, { manifest, sandbox: true }] : [{
        manifest,
        sandbox: false
      }]
    })

  const find = async ({ code, sandbox }: Pick<OAuthApp, 'code' | 'sandbox'>): Promise<OAuthApp | undefined> =>
    (await listOAuthApps(database)).find((app) => app.code === code && app.sandbox === sandbox)

  function viewOf ({ manifest, sandbox }: Which, app: OAuthApp | undefined, connected: Connected): OAuthAppView {
    const { code, name } = manifest
    return {
      code,
      name,
      sandbox,
      redirectUri: redirectUri(code),
      clientId: app?.clientId ?? null,
      hasSecret: app !== undefined && app.clientSecret !== null,
      state: app === undefined ? 'missing' : isFor(app, manifest) ? 'ready' : 'hosts_changed',
      changedAt: app?.changedAt.toISOString() ?? null,
      connections: connected
        .filter((one) => one.code === code && (one.sandbox === sandbox || manifest.sandbox?.kind !== 'configuration'))
        .reduce((sum, { count }) => sum + count, 0)
    }
  }

  return {
    async of ({ manifest, sandbox }, connect, settings) {
      if (connect.client !== 'operator') return clientOf(connect, settings)
      const { code, name } = manifest
      const app = await find({ code, sandbox })
      if (app === undefined || !isFor(app, manifest)) {
        throw new DispatchError('conflict',
          `${name} is connected by a client of the operator of this service, who has ${
            app === undefined ? 'not registered one' : 'to confirm it: the provider has other hosts by now'
          }.`)
      }
      const { clientId, clientSecret } = app
      const secret = clientSecret === null ? {} : { clientSecret: keyring.open(clientSecret, contextOf(app)).toString() }
      return clientOf(connect, settings, { clientId, ...secret })
    },

    async list () {
      const apps = await listOAuthApps(database)
      const connected = await countConnections(database)
      return needed().map((which) =>
        viewOf(which, apps.find(({ code, sandbox }) => code === which.manifest.code && sandbox === which.sandbox), connected)
      )
    },

    async put (code, { clientId, clientSecret: given, sandbox = false }, author) {
      const which = needed().find((one) => one.manifest.code === code && one.sandbox === sandbox)
      if (which === undefined) {
        throw new DispatchError('not_found',
          `No provider "${code}" is connected by a client of the operator's${sandbox ? ' in an environment for tests' : ''}.`)
      }
      const at = now()
      const before = await find({ code, sandbox })
      const kept: Envelope | null = before?.clientId === clientId && isFor(before, which.manifest) ? before.clientSecret : null
      const clientSecret = given === undefined ? kept : given === null ? null : keyring.seal(given, contextOf({ code, sandbox }))
      const app = { code, sandbox, clientId, clientSecret, hosts: clientHosts(which.manifest), changedAt: at }
      await storeOAuthApp(database, app, author.companyId, { author, at })
      return viewOf(which, app, await countConnections(database))
    },

    async remove (code, sandbox, author) {
      if (await deleteOAuthApp(database, { code, sandbox }, author.companyId, { author, at: now() })) return
      throw new DispatchError('not_found', `No client of the operator's is registered for the provider "${code}".`)
    }
  }
}

/** Whether the secret would go only where it was given for. */
function isFor ({ hosts }: OAuthApp, manifest: Manifest): boolean {
  return isDeepStrictEqual(hosts, clientHosts(manifest))
}

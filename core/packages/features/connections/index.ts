import { defineFeature, port, service } from '@dispatch/plugins/feature'
import { connectionSection, connectPages } from './pages/connect.ts'
import { connectionsRoutes } from './routes/connections.ts'
import { connecting, createConnecting, redirectUriOf } from './service/connecting.ts'
import { createSignIn } from './service/sign-in.ts'
import { listConnections } from './store/connections.ts'
import { fillConnections } from './store/isolation.ts'

const own = { scopes: ['configuration'] } as const
const company = { ...own, roles: ['admin'] } as const

/** Connects configurations of providers with accounts at their vendors (OAuth 2), and signs their calls in. */
export default defineFeature({
  name: 'connections',
  needs: {
    ...service('config', 'configurationService', 'configurations', 'database', 'keyring', 'log', 'network', 'now', 'selectableProviders'),
    connecting
  },
  provides: (provide) => [
    provide(port('connections'), (given) => ({
      list: listConnections,
      signIn: createSignIn(given),
      redirectUri: (code) => redirectUriOf(given.config.publicUrl, code)
    })),
    provide(connecting,
      ({ config: { publicUrl }, configurations, database, keyring, network, now, selectableProviders: host }) =>
        createConnecting({ configurations, database, host, keyring, network, now, publicUrl }))
  ],
  tables: { connections: 'company', connection_requests: 'company' },
  routes: connectionsRoutes,
  before: 'readMyConfiguration',
  permissions: {
    connectMyProvider: own,
    confirmMyConnection: own,
    disconnectMyProvider: own,
    connectCompanyProvider: company,
    confirmCompanyConnection: company,
    disconnectCompanyProvider: company,
    returnFromVendor: { public: true }
  },
  pages: connectPages,
  providerSection: connectionSection,
  isolation: fillConnections
})

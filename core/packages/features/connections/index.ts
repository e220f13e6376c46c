import { defineFeature, ports, service } from '@dispatch/plugins/feature'
import { connectionSection } from './pages/connect.ts'
import { pages } from './pages/pages.ts'
import { routes } from './routes/routes.ts'
import { clients, createClients } from './service/clients.ts'
import { connecting, createConnecting, redirectUriOf } from './service/connecting.ts'
import { createRevoking, revoking } from './service/revoking.ts'
import { createSignIn } from './service/sign-in.ts'
import { listConnections } from './store/connections.ts'
import { fillConnections } from './store/isolation.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const own = { scopes: ['configuration'] } as const
const operator = { roles: ['operator'], scopes: ['platform'] } as const
const company = { ...own, roles: ['admin'] } as const

/** Connects configurations of providers with accounts at their vendors (OAuth 2), and signs their calls in. */
export default defineFeature({
  name: 'connections',
  needs: {
    ...service('config', 'configurationService', 'configurations', 'database', 'keyring', 'log', 'network', 'now', 'selectableProviders'),
    connecting,
    clients,
    revoking
  },
  provides: (provide) => [
    provide(clients,
      ({ config: { publicUrl }, database, keyring, now, selectableProviders: host }) =>
        createClients({ database, keyring, host, now, redirectUri: (code) => redirectUriOf(publicUrl, code) })),
    provide(revoking, (given) => createRevoking(given)),
    provide(ports.connections, (given) => ({
      list: listConnections,
      signIn: createSignIn(given),
      revocation: given.revoking.revocation,
      redirectUri: (code) => redirectUriOf(given.config.publicUrl, code)
    })),
    provide(connecting,
      ({ clients, config: { publicUrl }, configurations, database, keyring, network, now, revoking, selectableProviders: host }) =>
        createConnecting({ clients, configurations, database, host, keyring, network, now, publicUrl, revoking }))
  ],
  migrations: {
    'connections/001-facts': () => import('./migrations/001-facts.ts'),
    'connections/002-oauth-apps': () => import('./migrations/002-oauth-apps.ts')
  },
  tables: { connections: 'company', connection_requests: 'company', oauth_apps: 'service' },
  routes,
  before: 'readMyConfiguration',
  permissions: {
    connectMyProvider: own,
    confirmMyConnection: own,
    disconnectMyProvider: own,
    connectCompanyProvider: company,
    confirmCompanyConnection: company,
    disconnectCompanyProvider: company,
    returnFromVendor: { public: true },
    listOAuthApps: operator,
    updateOAuthApp: { ...operator, freshProof: true },
    deleteOAuthApp: { ...operator, freshProof: true }
  },
  pages,
  menu: [{
    section: 'oauth-apps',
    path: '/console/oauth-apps',
    label: { en: en.oauthApps, fr: fr.oauthApps },
    after: 'providers',
    roles: ['operator']
  }],
  audit: {
    'connection.made': { en: en.auditConnected, fr: fr.auditConnected },
    'connection.removed': { en: en.auditDisconnected, fr: fr.auditDisconnected },
    'oauth-app.changed': { en: en.auditAppChanged, fr: fr.auditAppChanged },
    'oauth-app.removed': { en: en.auditAppRemoved, fr: fr.auditAppRemoved }
  },
  providerSection: connectionSection,
  isolation: fillConnections
})

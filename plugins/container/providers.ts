import { createConfigurations, createConfigurationService, createCredentialCheck, createDirectories, createProviderAdministration,
  createProviderState, createReception, createSubscribing, createSuggestions, demo } from '@dispatch/core'
import { createBreakers, withoutProvider } from '@dispatch/host'
import { createFetchJson, createNetwork, createPeppol } from '@dispatch/vendor-io'
import { isIP } from 'node:net'
import type { Config } from '../config/config.ts'
import { createSimulatedVendor } from '../routes/simulated-vendor.ts'
import type { Factories, Get, Providers } from './dependencies.ts'

/** Creates providers, their configurations, and what vendors send. */
export const providers: Factories<keyof Providers> = {
  configurations: (get) =>
    createConfigurations(get('database'), get('freshness'), { listConnections: get('connections').list, sources: get('providerSources') }),
  configurationService: (get) =>
    createConfigurationService({
      configurations: get('configurations'),
      connections: get('connections'),
      host: get('selectableProviders'),
      keyring: get('keyring'),
      guard: get('network').guard,
      publicUrl: get('config').publicUrl,
      disk: get('config').diskRoot !== undefined,
      now: get('now'),
      subscribing: createSubscribing({
        connections: get('connections'),
        keyring: get('keyring'),
        network: get('network'),
        database: get('database'),
        publicUrl: get('config').publicUrl,
        log: get('log'),
        now: get('now'),
        newId: get('newId')
      })
    }),
  credentialCheck: (get) => createCredentialCheck({ ...ownCalls(get), configurations: get('configurations') }),
  suggestions: (get) => createSuggestions({ ...ownCalls(get), configurations: get('configurations') }),
  directories: (get) => createDirectories({ ...ownCalls(get), configurations: get('configurations'), peppol: get('peppol') }),
  reception: (get) => createReception({ ...ownCalls(get), configurations: get('configurations'), receive: get('receive') }),
  peppol: (get) => {
    const { peppol } = get('config')
    return peppol && createPeppol({ ...peppol, transport: get('network').transport, now: get('now') })
  },
  selectableProviders: (get) => get('config').environment === 'production' ? withoutProvider(get('host'), demo.provider) : get('host'),
  network: (get) =>
    createNetwork({
      allow: get('config').allowedNetworks,
      loopback: get('config').environment === 'development' ? 'allowed' : 'refused',
      mailName: mailNameOf(get('config')),
      now: get('now')
    }),
  providerAdministration: (get) => createProviderAdministration({ sync: get('providerSync'), database: get('database'), now: get('now') }),
  breakers: (get) => createBreakers({ now: get('now') }),
  fetchJson: (get) => createFetchJson(get('network')),
  simulatedVendor: (get) => createSimulatedVendor({ endpointAuth: get('config').webhookAuth, now: get('now') }),
  simulatorState: (get) => (companyId) => createProviderState(get('database'), { companyId, providerCode: demo.provider })
}

/** What calls about a configuration itself need. */
function ownCalls (get: Get<'connections' | 'selectableProviders' | 'keyring' | 'network' | 'database' | 'log' | 'now' | 'newId'>) {
  return {
    connections: get('connections'),
    host: get('selectableProviders'),
    keyring: get('keyring'),
    network: get('network'),
    database: get('database'),
    log: get('log'),
    now: get('now'),
    newId: get('newId')
  }
}

/** The name in EHLO: an IP address is written in brackets (RFC 5321, 4.1.3). */
function mailNameOf ({ mailName, publicUrl }: Config): string {
  const host = new URL(publicUrl).hostname
  return mailName ?? (isIP(host) === 4 ? `[${host}]` : host.replace(/^\[/, '[IPv6:'))
}

import { type AllowedHosts, chosenHosts } from '@dispatch/vendor-io'
import { hostsOf, isForNaming, namedHosts, settingsInHosts } from '../settings/hosts.ts'
import { destinationNames } from '../settings/settings-schema.ts'
import type { Manifest } from './manifest.ts'

/**
 * The hosts that a provider may call for one configuration: `settings` are also the facts of its account. A setting that is a part of a
 * host in the manifest is none by itself.
 */
export function allowedHosts (
  { code, hosts, settings: form }: Pick<Manifest, 'code' | 'hosts' | 'settings'>,
  settings: Readonly<Record<string, unknown>>
): AllowedHosts {
  const parts = settingsInHosts(hosts)
  const whole = destinationNames(form).filter((name) => !parts.includes(name))
  const own = hostsOf(hosts, settings)
  return {
    provider: code,
    declared: own.filter((host) => !isForNaming(host)),
    chosen: chosenHosts(whole.map((name) => settings[name])),
    named: namedHosts(own)
  }
}

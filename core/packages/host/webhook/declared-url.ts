import type { JsonObject } from '@dispatch/common'
import { isDeclared } from '@dispatch/vendor-io'
import { hostsOf } from '../settings/hosts.ts'

/**
 * A URL that an event names, if it is one that may be read: over https, at its usual port, without credentials, at a declared host.
 * Settings stand in their places of the hosts.
 */
export function declaredUrl (text: string, hosts: readonly string[], settings: JsonObject): URL | undefined {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' || url.port !== '' || url.username !== '' || url.password !== '') return undefined
  return isDeclared(url.hostname, hostsOf(hosts, settings)) ? url : undefined
}

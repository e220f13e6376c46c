import type { Problem } from '@dispatch/common'
import { getPublicSuffix } from 'tldts'
import { destinationNames, type SettingsSchema } from '../settings/settings-schema.ts'

/**
 * The problems of a manifest's `hosts` beyond their shape: anybody can have a name directly below a public suffix such as `co.uk` or
 * `github.io` (https://publicsuffix.org), so a wildcard there permits everybody's hosts.
 */
export function hostProblems (hosts: readonly string[]): Problem[] {
  return hosts.flatMap((host, index) => {
    const domain = host.replace(/^\*\./, '')
    if (domain === host || getPublicSuffix(domain, { allowPrivateDomains: true }) !== domain) return []
    return [{
      path: `/hosts/${index}`,
      code: 'public_suffix',
      message: `Anybody can have a host below "${domain}", which is a public suffix: name the vendor's own domain, such as ` +
        `"*.vendor.${domain}", or its hosts one by one; where each customer has a host of its own, make it a setting of the type Host().`
    }]
  })
}

/** What stands for a setting in place of a label of a host. */
const placeholder = /\{([^{}]+)\}/g

/** One label of a host name. */
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** The settings that hosts have in place of labels. */
export function settingsInHosts (hosts: readonly string[]): string[] {
  return [...new Set(hosts.flatMap((host) => [...host.matchAll(placeholder)].map(([, name = '']) => name)))]
}

/** Whether a setting can stand in a host: in place of one label. */
export function isLabel (value: unknown): value is string {
  return typeof value === 'string' && label.test(value)
}

/** The hosts of one configuration: settings stand in their places. One whose settings are not all there, or are no label, is none. */
export function hostsOf (hosts: readonly string[], settings: Readonly<Record<string, unknown>>): string[] {
  return hosts.flatMap((host) => {
    const named = settingsInHosts([host])
    if (!named.every((name) => isLabel(settings[name]))) return []
    return [host.replaceAll(placeholder, (_, name: string) => String(settings[name]))]
  })
}

/** The problems of settings in hosts: each leads requests somewhere, and is in no secret. */
export function hostSettingProblems (hosts: readonly string[], form: SettingsSchema): Problem[] {
  const destinations = destinationNames(form)
  return hosts.flatMap((host, index) =>
    settingsInHosts([host]).filter((name) => !destinations.includes(name)).map((name) => ({
      path: `/hosts/${index}`,
      code: 'unknown_setting',
      message: `There is no setting "${name}" of the type Host(), whose change deletes the secrets that were given for another host.`
    }))
  )
}

/** How wide a wildcard is, or what settings make of a host, in a sentence; undefined of a plain host. */
export function widthInWords (pattern: string): string | undefined {
  if (!pattern.startsWith('*.')) {
    const named = settingsInHosts([pattern]).map((name) => `"${name}"`).join(' and ')
    return named === ''
      ? undefined
      : `"${pattern}" is one host for each configuration, named by what stands under ${named} in its settings.`
  }
  return `"${pattern}" is every host whose name ends with "${
    pattern.slice(1)
  }", whoever runs it: at a cloud service also those of its other ` +
    'customers.'
}

/** Whether a host is among those that a manifest declares. */
export function isDeclared (host: string, hosts: readonly string[]): boolean {
  return hosts.some((pattern) => pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern)
}

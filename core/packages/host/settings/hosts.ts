import type { Problem } from '@dispatch/common'
import { getPublicSuffix } from 'tldts'
import { destinationNames, type SettingsSchema } from './settings-schema.ts'

/**
 * The problems of a manifest's `hosts` beyond their shape: anybody can have a name directly below a public suffix such as `co.uk` or
 * `github.io` (https://publicsuffix.org), so a wildcard there permits everybody's hosts.
 */
export function hostProblems (hosts: readonly string[]): Problem[] {
  return hosts.flatMap((host, index) => {
    const pattern = patternIn(host)
    const domain = pattern.replace(/^\*\./, '')
    // Below the suffix of a company, such as s3.amazonaws.com, the vendor says whose host it is; below that of a country nobody does.
    if (domain === pattern || getPublicSuffix(domain, { allowPrivateDomains: pattern === host }) !== domain) return []
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

/** Before a pattern of hosts that count only where one of the other hosts has named them in an answer. */
const named = 'named '

/** Whether a host of a manifest is a pattern for what the vendor names. */
export function isForNaming (host: string): boolean {
  return host.startsWith(named)
}

function patternIn (host: string): string {
  return isForNaming(host) ? host.slice(named.length) : host
}

/** The patterns of hosts that count only where the vendor names them. */
export function namedHosts (hosts: readonly string[]): string[] {
  return hosts.filter(isForNaming).map(patternIn)
}

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

/**
 * The hosts of one configuration: settings, and facts of its account, stand in their places. One of which not all are there, or are no
 * label, is none.
 */
export function hostsOf (hosts: readonly string[], settings: Readonly<Record<string, unknown>>): string[] {
  return hosts.flatMap((host) => {
    const named = settingsInHosts([host])
    if (!named.every((name) => isLabel(settings[name]))) return []
    return [host.replaceAll(placeholder, (_, name: string) => String(settings[name]))]
  })
}

/** The problems of settings in hosts: each leads requests somewhere, and is in no secret. A fact of an account may stand there, too. */
export function hostSettingProblems (hosts: readonly string[], form: SettingsSchema, facts: readonly string[] = []): Problem[] {
  const known = [...destinationNames(form), ...facts]
  return hosts.flatMap((host, index) =>
    settingsInHosts([host]).filter((name) => !known.includes(name)).map((name) => ({
      path: `/hosts/${index}`,
      code: 'unknown_setting',
      message: `There is no setting "${name}" of the type Host(), whose change deletes the secrets that were given for another host.`
    }))
  )
}

/** How wide a wildcard is, or what settings make of a host, in a sentence; undefined of a plain host. */
export function widthInWords (pattern: string): string | undefined {
  if (isForNaming(pattern)) {
    return `"${pattern}" are addresses that the vendor names in its answers, such as one for an upload: each is for one request, without a ` +
      'sign-in.'
  }
  if (!pattern.startsWith('*.')) {
    const named = settingsInHosts([pattern]).map((name) => `"${name}"`).join(' and ')
    return named === ''
      ? undefined
      : `"${pattern}" is one host for each configuration, named by ${named} of its settings or of its account at the vendor.`
  }
  return `"${pattern}" is every host whose name ends with "${
    pattern.slice(1)
  }", whoever runs it: at a cloud service also those of its other ` +
    'customers.'
}

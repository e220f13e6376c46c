import type { Problem } from '@dispatch/common'
import { getPublicSuffix } from 'tldts'

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

/** How wide a wildcard is, in a sentence; undefined of a host. */
export function widthInWords (pattern: string): string | undefined {
  if (!pattern.startsWith('*.')) return undefined
  return `"${pattern}" is every host whose name ends with "${
    pattern.slice(1)
  }", whoever runs it: at a cloud service also those of its other ` +
    'customers.'
}

/** Whether a host is among those that a manifest declares. */
export function isDeclared (host: string, hosts: readonly string[]): boolean {
  return hosts.some((pattern) => pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern)
}

import { RequestFailure } from '../outcome/request-outcome.ts'
import { canonicalHost } from './guard.ts'

/**
 * The hosts that a provider may call: those of its manifest, and those of the configuration's `Host()` settings. `named`: patterns of those
 * that count where the vendor names them.
 */
export type AllowedHosts = { provider: string, declared: readonly string[], chosen: readonly string[], named?: readonly string[] }

/**
 * The URL of a request. Throws a {@link RequestFailure} for a text that is not a plain https URL, and for a host that the provider may not
 * call. `named` says whether the vendor has named a URL.
 */
export function targetOf (url: string, targets: AllowedHosts, named: (url: URL) => boolean = () => false): URL {
  const target = URL.parse(url)
  const { provider } = targets
  if (target === null) {
    throw new RequestFailure('not done', `The provider "${provider}" wanted to call "${url.slice(0, 200)}", which is not a URL.`, {
      ours: true
    })
  }
  if (target.protocol !== 'https:') {
    throw new RequestFailure('not done', `The provider "${provider}" may call https URLs only, not ${target.protocol}//${target.host}.`, {
      ours: true
    })
  }
  if (target.username !== '' || target.password !== '') {
    throw new RequestFailure('not done',
      `The provider "${provider}" wanted to call "${target.host}" with a user name in the URL; sign in with "basic".`, { ours: true })
  }
  target.hash = ''
  if (!named(target)) checkHost(target.hostname, targets)
  return target
}

/** Throws a {@link RequestFailure} unless the provider may call the host (in canonical form, without port). */
export function checkHost (host: string, { provider, declared, chosen }: AllowedHosts): void {
  if (chosen.includes(host) || isDeclared(host, declared)) return
  throw new RequestFailure('not done',
    `The provider "${provider}" may not call "${host}": it is neither in the "hosts" of its manifest nor in a setting of the type Host().`,
    {
      ours: true
    })
}

/** The canonical hosts in the values of destination settings, which are hosts or URLs. */
export function chosenHosts (values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string').flatMap((value) => {
    const host = /^[a-z][a-z0-9+.-]*:\/\//i.test(value)
      ? URL.parse(value)?.hostname
      : canonicalHost(value.replace(/:\d+$/, (port) => value.indexOf(':') === value.lastIndexOf(':') ? '' : port))
    return host === undefined || host === '' ? [] : [host]
  })
}

/** Whether a host is among those that a manifest declares. */
export function isDeclared (host: string, hosts: readonly string[]): boolean {
  return hosts.some((pattern) => pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern)
}

import { lookup as resolveName } from 'node:dns/promises'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Every address of a host name, as the system's resolver knows them. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Decides which addresses this process may connect to. */
export type Guard = {
  permits: (address: string) => boolean
  /**
   * The `lookup` of a connection: resolves once, refuses with a {@link ForbiddenAddress} when any of the addresses is not
   * permitted, and hands on exactly what it checked. Literal addresses never come here; see {@link Guard.check}.
   */
  lookup: LookupFunction
  /** Throws a {@link ForbiddenAddress} for a host that is itself an address and not permitted. */
  check: (host: string) => void
}

/** The host leads to an address that is not public. The message does not tell which: a tenant must not map our network. */
export class ForbiddenAddress extends Error {
  override name = 'ForbiddenAddress'
  readonly code = 'FORBIDDEN_ADDRESS'
}

/** `allow`: networks (CIDR) beside the public ones, as the operator lists them. */
export type GuardOptions = { allow?: readonly string[], resolve?: Resolve }

/** What a development machine may reach beside the public addresses. */
export const loopback = ['127.0.0.0/8', '::1/128'] as const

/** Lets connections reach public unicast addresses and the allowed networks. Throws when one of these is no CIDR. */
export function createGuard ({ allow = [], resolve = systemResolve }: GuardOptions = {}): Guard {
  const networks = allow.map(networkOf)
  const permits = (address: string): boolean => {
    if (isIP(address) === 0 || !ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return isPublic(parsed) || networks.some((network) => contains(network, parsed))
  }
  const lookup: LookupFunction = (hostname, { all = false }, callback) => {
    permitted(hostname, resolve, permits).then((addresses) => {
      const [first] = addresses
      if (first === undefined) throw Object.assign(new Error(`The host "${hostname}" has no address.`), { code: 'ENOTFOUND' })
      if (all) callback(null, addresses)
      else callback(null, first.address, first.family)
    }).catch((error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), []))
  }
  return {
    permits,
    lookup,
    check (host) {
      const address = host.replace(/^\[(.*)\]$/, '$1')
      if (isIP(address) !== 0 && !permits(address)) throw forbidden(host)
    }
  }
}

/**
 * A host as connections see it: lower case, punycode, numbers in any base as an address (WHATWG URL, "host parsing").
 * Undefined for what is no host.
 */
export function canonicalHost (host: string): string | undefined {
  const url = URL.parse(`https://${isIPv6(host) ? `[${host}]` : host}/`)
  return url !== null && url.href === `https://${url.hostname}/` ? url.hostname : undefined
}

async function permitted (hostname: string, resolve: Resolve, permits: (address: string) => boolean): Promise<{ address: string, family: number }[]> {
  const addresses = await resolve(hostname)
  if (!addresses.every(permits)) throw forbidden(hostname)
  return addresses.map((address) => ({ address, family: isIP(address) }))
}

async function systemResolve (hostname: string): Promise<string[]> {
  const found = await resolveName(hostname, { all: true })
  return found.map(({ address }) => address)
}

function forbidden (host: string): ForbiddenAddress {
  return new ForbiddenAddress(`The host "${host}" may not be reached: its address is not public.`)
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = readonly [Address, number]

/** The only part of IPv6 that is routed on the internet (RFC 4291, IANA registry). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

function isPublic (address: Address): boolean {
  return address.range() === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(globalUnicast))
}

/** Whether a text is a network (CIDR). */
export function isNetwork (cidr: string): boolean {
  return ipaddr.isValidCIDR(cidr)
}

function networkOf (cidr: string): Network {
  if (!isNetwork(cidr)) throw new TypeError(`"${cidr}" is not a network such as 10.0.0.0/8 or fd00::/8.`)
  return ipaddr.parseCIDR(cidr)
}

function contains (network: Network, address: Address): boolean {
  return network[0].kind() === address.kind() && address.match([network[0], network[1]])
}

import ipaddr from 'ipaddr.js'
import { lookup as resolveName } from 'node:dns/promises'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** Every address of a host name, as the system's resolver knows them. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Decides which addresses this process may connect to. */
export type Guard = {
  permits: (address: string) => boolean
  /**
   * The `lookup` of a connection: resolves once, refuses with a {@link NoUsableAddress} when there is no address, or any that is not
   * permitted, and hands on exactly what it checked. Literal addresses never come here; see {@link Guard.check}.
   */
  lookup: LookupFunction
  /** Throws a {@link ForbiddenAddress} for a host that is itself an address and not permitted. */
  check: (host: string) => void
}

/** The host is itself an address, which is not public. */
export class ForbiddenAddress extends Error {
  override name = 'ForbiddenAddress'
  readonly code = 'FORBIDDEN_ADDRESS'
}

/**
 * A name that has no address, or one that is not permitted: a tenant must not learn which names our network has, neither by a word nor
 * by the time that it takes. The `cause` tells which it was.
 */
class NoUsableAddress extends Error {
  override name = 'NoUsableAddress'
  readonly code = 'ENOTFOUND'
}

/** Milliseconds that it takes at least to refuse a name: more than most name servers need to say that there is none. */
const refusedAfter = 500

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
    const begun = performance.now()
    permitted(hostname, resolve, permits).then(([first, ...others]) => {
      if (all) callback(null, [first, ...others])
      else callback(null, first.address, first.family)
    }).catch(async (cause: unknown) => {
      await pause(refusedAfter - (performance.now() - begun))
      callback(new NoUsableAddress(`The host "${hostname}" has no address that may be reached.`, { cause }), [])
    })
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

type Resolved = { address: string, family: number }

async function permitted (hostname: string, resolve: Resolve, permits: (address: string) => boolean): Promise<[Resolved, ...Resolved[]]> {
  const addresses = await resolve(hostname)
  if (!addresses.every(permits)) throw forbidden(hostname)
  const [first, ...others] = addresses.map((address) => ({ address, family: isIP(address) }))
  if (first === undefined) throw new Error('The name has no address.')
  return [first, ...others]
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

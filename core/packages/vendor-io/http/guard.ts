import ipaddr from 'ipaddr.js'
import { lookup as resolveName } from 'node:dns/promises'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { ForbiddenAddress } from '../outcome/forbidden-address.ts'

/** Resolves a host name to all of its addresses, with the system's resolver. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Decides which addresses this process may connect to. */
export type Guard = {
  permits: (address: string) => boolean
  /**
   * The `lookup` of a connection. It resolves the name once and returns exactly the addresses that it checked. It refuses with a {@link
   * NoUsableAddress} when there is no address, or when one of the addresses is not permitted. Literal addresses do not come here; see
   * {@link Guard.check}.
   */
  lookup: LookupFunction
  /** Throws a {@link ForbiddenAddress} for a host that is a literal address and is not permitted. */
  check: (host: string) => void
}

/**
 * The error for a name without an address, and for a name with an address that is not permitted. It is the same for both, in text and in
 * time: a tenant must not learn which names exist in our network. The `cause` tells which case it was.
 */
class NoUsableAddress extends Error {
  override name = 'NoUsableAddress'
  readonly code = 'ENOTFOUND'
}

/** The least time in milliseconds after which a name is refused: longer than most name servers need to report an unknown name. */
const refusedAfter = 500

/** `allow`: networks (CIDR) that the operator permits in addition to the public ones. */
export type GuardOptions = { allow?: readonly string[], resolve?: Resolve }

/** The networks that a development machine may reach in addition to the public addresses. */
export const loopback = ['127.0.0.0/8', '::1/128'] as const

/** Permits connections to public unicast addresses and to the allowed networks. Throws when an allowed network is not a CIDR. */
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
      callback(new NoUsableAddress(`The host "${hostname}" has no permitted address.`, { cause }), [])
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
 * A host in the form that connections use: lower case, punycode, an address for numbers in any base (WHATWG URL, "host parsing"). Undefined
 * for a text that is not a host.
 */
export function canonicalHost (host: string): string | undefined {
  const url = URL.parse(`https://${isIPv6(host) ? `[${host}]` : host}/`)
  if (url === null) return undefined
  return url.href === `https://${url.hostname}/` ? url.hostname : undefined
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
  return new ForbiddenAddress(`The host "${host}" may not be called: its address is not public.`)
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

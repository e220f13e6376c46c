import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * The one way to write a network (CIDR) or a single address: without the bits beyond its prefix, IPv4 as IPv4. Undefined for
 * what is neither.
 */
export function normaliseNetwork (text: string): string | undefined {
  const [host = '', prefix, ...more] = text.trim().split('/')
  // The library also reads octal and shortened addresses, which readers take for others.
  if (isIP(host) === 0 || host.includes('%') || more.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return undefined
  const address = ipaddr.parse(host)
  const length = Number(prefix ?? bitsOf(address))
  if (length > bitsOf(address)) return undefined
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && length >= mapped
    ? cidrOf(address.toIPv4Address(), length - mapped)
    : cidrOf(address, length)
}

/** Whether a list of networks (as {@link normaliseNetwork} writes them) lets nobody in from there. An empty list lets everybody in. */
export function wouldLockOut (networks: readonly string[], clientAddress: string): boolean {
  if (networks.length === 0) return false
  const client = ipaddr.process(clientAddress)
  return !networks.some((network) => {
    const [address, length] = ipaddr.parseCIDR(network)
    return address.kind() === client.kind() && client.match(address, length)
  })
}

/** Bits of an IPv6 address before the IPv4 address in it (RFC 4291, 2.5.5.2). */
const mapped = 96

function bitsOf (address: Address): number {
  return address instanceof ipaddr.IPv4 ? 32 : 128
}

function cidrOf (address: Address, length: number): string {
  const bytes = address.toByteArray().map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, length - index * 8))))
  const network = ipaddr.fromByteArray(bytes)
  return `${network instanceof ipaddr.IPv6 ? network.toRFC5952String() : network.toString()}/${length}`
}

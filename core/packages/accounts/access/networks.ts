import ipaddr from 'ipaddr.js'
import { isIP, isIPv6 } from 'node:net'

/** A network: its first address, and the length of its prefix in bits. */
export type Range = { first: Address, bits: number }
type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Prefix bits of an IPv4 address that is mapped into IPv6 (`::ffff:0:0/96`, RFC 4291, 2.5.5.2). */
const mappedBits = 96

/** Reads `192.0.2.0/24`, `2001:db8::/32` or a single address; undefined for anything else. An IPv4-mapped IPv6 address is read as IPv4. */
export function readNetwork (text: string): Range | undefined {
  const [, host = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const address = host.includes('%') ? undefined : parse(host)
  if (address === undefined) return undefined
  const longest = address instanceof ipaddr.IPv4 ? 32 : 128
  const bits = prefix === undefined ? longest : Number(prefix)
  if (bits > longest) return undefined
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= mappedBits
  return isMapped ? { first: address.toIPv4Address(), bits: bits - mappedBits } : { first: address, bits }
}

/** The canonical form of a network or an address: host bits are zero, IPv4-mapped IPv6 becomes IPv4. Undefined for any other text. */
export function normaliseNetwork (text: string): string | undefined {
  const range = readNetwork(text.trim())
  if (range === undefined) return undefined
  const bytes = range.first.toByteArray().map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, range.bits - index * 8))))
  const network = ipaddr.fromByteArray(bytes)
  return `${network instanceof ipaddr.IPv6 ? network.toRFC5952String() : network.toString()}/${range.bits}`
}

/** Whether an address belongs to one of the networks. A text that is not an address belongs to none. */
export function isWithin (ranges: readonly Range[], address: string): boolean {
  const parsed = readAddress(address)
  return parsed !== undefined && ranges.some(({ first, bits }) => first.kind() === parsed.kind() && parsed.match([first, bits]))
}

/** Whether a company's address list allows a client. An empty list allows everybody. */
export function isAddressAllowed (addresses: readonly string[], client: string): boolean {
  return addresses.length === 0 || isWithin(addresses.flatMap((text) => readNetwork(text) ?? []), client)
}

/**
 * The key under which a client is counted: its IPv4 address, or its IPv6 /64, because a subscriber gets at least a /64 and can use any
 * address in it (RFC 6177). All texts that are not addresses count as one client.
 */
export function clientKeyOf (address: string): string {
  const parsed = readAddress(address)
  if (parsed === undefined) return 'unknown'
  return parsed instanceof ipaddr.IPv4 ? parsed.toString() : `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`
}

function readAddress (text: string): Address | undefined {
  const address = parse(text)
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

/** Parses strictly. The library alone accepts shortened and octal addresses, and takes `::192.0.2.1` (RFC 4291, 2.5.5.1) as mapped. */
function parse (text: string): Address | undefined {
  if (isIP(text) === 0) return undefined
  const address = text.replace(/%.*$/, '')
  return ipaddr.parse(isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address)
}

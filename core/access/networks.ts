import ipaddr from 'ipaddr.js'
import { isIP, isIPv6 } from 'node:net'

/** The addresses of a network: its first address, and how many of its bits all members share. */
export type Range = { first: Address, bits: number }
type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Bits before the address in an IPv4 address that is written as IPv6 (`::ffff:0:0/96`, RFC 4291, 2.5.5.2). */
const mappedBits = 96

/**
 * Reads `192.0.2.0/24`, `2001:db8::/32` or a single address; undefined for anything else. One that was mapped into IPv6 is read as what it
 * is.
 */
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

/**
 * The one way to write a network or a single address: without the bits beyond its prefix, IPv4 as IPv4. Undefined for what is
 * neither.
 */
export function normaliseNetwork (text: string): string | undefined {
  const range = readNetwork(text.trim())
  if (range === undefined) return undefined
  const bytes = range.first.toByteArray().map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, range.bits - index * 8))))
  const network = ipaddr.fromByteArray(bytes)
  return `${network instanceof ipaddr.IPv6 ? network.toRFC5952String() : network.toString()}/${range.bits}`
}

/** Whether an address lies in one of the networks; a text that is no address lies in none. */
export function isWithin (ranges: readonly Range[], address: string): boolean {
  const parsed = readAddress(address)
  return parsed !== undefined && ranges.some(({ first, bits }) => first.kind() === parsed.kind() && parsed.match([first, bits]))
}

/** Whether a company's list lets a client in: an empty one lets in everybody. */
export function isAddressAllowed (addresses: readonly string[], client: string): boolean {
  return addresses.length === 0 || isWithin(addresses.flatMap((text) => readNetwork(text) ?? []), client)
}

/**
 * What stands for a client where clients are counted: its IPv4 address, or the /64 that is the least an IPv6 subscriber is given
 * (RFC 6177) and may take any address from. All texts that are no address count as one client.
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

/** Strictly: the library also reads shortened and octal addresses, and takes `::192.0.2.1` (RFC 4291, 2.5.5.1) for `::ffff:192.0.2.1`. */
function parse (text: string): Address | undefined {
  if (isIP(text) === 0) return undefined
  const address = text.replace(/%.*$/, '')
  return ipaddr.parse(isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address)
}

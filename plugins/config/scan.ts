import { ConfigError } from './config-error.ts'

/** A scanner of files: an address that gets the bytes by HTTP, or a daemon of ClamAV at a socket or a port. */
export type ScanConfig = { url: string } | { path: string } | { host: string, port: number }

/** The port of clamd unless its configuration says otherwise. */
const clamdPort = 3310

/** The scanner of `https://scan.example.com/scan`, `clamd://scanner:3310` or `clamd:/run/clamav/clamd.ctl`. */
export function scanOf (text: string | undefined): { scan?: ScanConfig } {
  if (text === undefined) return {}
  const address = URL.canParse(text) ? new URL(text) : undefined
  if (address?.protocol === 'https:' || address?.protocol === 'http:') return { scan: { url: text } }
  if (address?.protocol === 'clamd:' && address.search === '' && address.username === '') {
    const { hostname, port, pathname } = address
    if (hostname !== '' && /^\/?$/.test(pathname)) return { scan: { host: hostname, port: port === '' ? clamdPort : Number(port) } }
    if (hostname === '' && pathname.startsWith('/') && pathname.length > 1) return { scan: { path: decodeURIComponent(pathname) } }
  }
  // The address may hold a password, so it is not repeated.
  throw new ConfigError(
    'DISPATCH_SCAN_URL must be like https://scan.example.com/scan, clamd://scanner:3310 or clamd:/run/clamav/clamd.ctl.'
  )
}

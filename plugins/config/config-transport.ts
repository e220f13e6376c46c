import { readNetwork } from '@dispatch/accounts'
import { isNetwork } from '@dispatch/vendor-io'
import { isIP, isIPv4 } from 'node:net'
import { resolve } from 'node:path'
import { ConfigError } from './config-error.ts'

/** How requests reach the service. */
export type TransportConfig = {
  host: string
  port: number
  /** PEM files. With them the service serves TLS itself. They may be renewed while it runs. */
  tls?: { cert: string, key: string }
  /** With TLS only: the port where plain HTTP requests are refused. */
  httpPort?: number
  /** Addresses and networks of the proxies whose `X-Forwarded-…` headers are trusted. */
  trustedProxies: string[]
  /** The start of every link; no slash at the end. */
  publicUrl: string
  /** The name of the service in EHLO; by default the host of `publicUrl`. */
  mailName?: string
  /** The contact in `/.well-known/security.txt`: a URI. */
  securityContact?: string
}

type Environment = 'development' | 'production'

/** Reads the variables of the transport; empty ones have been removed already. Throws a {@link ConfigError}. */
export function transportOf (env: NodeJS.ProcessEnv, environment: Environment): TransportConfig {
  const tls = tlsOf(env['DISPATCH_TLS_CERT'], env['DISPATCH_TLS_KEY'])
  const trustedProxies = proxiesOf(env['DISPATCH_TRUSTED_PROXIES'] ?? '')
  const host = hostOf(env['HOST'] ?? '127.0.0.1', tls !== undefined || trustedProxies.length > 0)
  const port = portOf('PORT', env['PORT'] ?? '3000')
  const own = `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`
  return {
    host,
    port,
    ...(tls === undefined ? {} : { tls }),
    ...httpPortOf(env['DISPATCH_HTTP_PORT'], tls !== undefined),
    trustedProxies,
    publicUrl: publicUrlOf(env['DISPATCH_PUBLIC_URL'], environment, own),
    ...mailNameOf(env['DISPATCH_SMTP_NAME']),
    ...securityContactOf(env['DISPATCH_SECURITY_CONTACT'])
  }
}

/** Whether an address is a loopback address. */
export function isLoopback (host: string): boolean {
  return host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/** Throws a {@link ConfigError} when a production service has neither TLS nor a trusted proxy, so that it could only refuse requests. */
export function requireHttps ({ environment, tls, trustedProxies }: TransportConfig & { environment: Environment }): void {
  if (environment === 'development' || tls !== undefined || trustedProxies.length > 0) return
  throw new ConfigError(
    'In production requests come over HTTPS: give the service its certificate with DISPATCH_TLS_CERT and DISPATCH_TLS_KEY, or name ' +
      'the proxies in front of it with DISPATCH_TRUSTED_PROXIES.'
  )
}

/** One address. "localhost" is read as 127.0.0.1, because it may stand for two addresses. */
function hostOf (text: string, encrypted: boolean): string {
  const host = text === 'localhost' ? '127.0.0.1' : text
  if (isIP(host) === 0) throw new ConfigError(`HOST is "${host}"; it must be an address to listen on, such as 127.0.0.1 or 0.0.0.0.`)
  if (encrypted || isLoopback(host)) return host
  throw new ConfigError(
    `HOST is "${host}", but plain HTTP is served on a loopback address only, such as 127.0.0.1, because it would carry credentials ` +
      'in the clear: set DISPATCH_TLS_CERT and DISPATCH_TLS_KEY, or DISPATCH_TRUSTED_PROXIES.'
  )
}

function portOf (name: string, text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new ConfigError(`${name} is "${text}"; it must be a number from 0 (any free port) to 65535.`)
  }
  return port
}

function tlsOf (cert: string | undefined, key: string | undefined): TransportConfig['tls'] {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    throw new ConfigError(
      'DISPATCH_TLS_CERT and DISPATCH_TLS_KEY belong together: the files of a certificate with its chain and of its private key, ' +
        'both in PEM.'
    )
  }
  return { cert: resolve(cert), key: resolve(key) }
}

function httpPortOf (text: string | undefined, encrypted: boolean): { httpPort?: number } {
  if (text === undefined) return {}
  if (!encrypted) {
    throw new ConfigError('DISPATCH_HTTP_PORT is where plain HTTP is refused beside TLS: it needs DISPATCH_TLS_CERT and DISPATCH_TLS_KEY.')
  }
  return { httpPort: portOf('DISPATCH_HTTP_PORT', text) }
}

function publicUrlOf (text: string | undefined, environment: Environment, own: string): string {
  if (text === undefined && environment === 'development') return own
  if (text === undefined) {
    throw new ConfigError(
      'DISPATCH_PUBLIC_URL is not set: in production it says where the links to documents lead, for example https://dispatch.example.com.'
    )
  }
  const url = URL.parse(text)
  const protocols = environment === 'production' ? /^https:$/ : /^https?:$/
  if (url === null || !protocols.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new ConfigError(
      `DISPATCH_PUBLIC_URL is "${URL.canParse(text) ? `${url?.protocol}//${url?.host}${url?.pathname}` : text}"; it must be a URL ` +
        'such as https://dispatch.example.com.'
    )
  }
  return url.href.replace(/\/$/, '')
}

/** `10.0.0.0/8,fd00::/8`. */
export function parseNetworks (name: string, text: string): string[] {
  const networks = partsOf(text)
  const wrong = networks.find((network) => !isNetwork(network))
  if (wrong !== undefined) throw new ConfigError(`${name} has "${wrong}"; each part must be a network such as 10.0.0.0/8 or fd00::/8.`)
  return networks
}

/** `10.0.0.2,fd00::/8`: networks and single addresses. */
function proxiesOf (text: string): string[] {
  const proxies = partsOf(text)
  const wrong = proxies.find((proxy) => readNetwork(proxy) === undefined)
  if (wrong !== undefined) {
    throw new ConfigError(
      `DISPATCH_TRUSTED_PROXIES has "${wrong}"; each part must be the address or network of a proxy, such as 10.0.0.2 or fd00::/8.`
    )
  }
  return proxies
}

function partsOf (text: string): string[] {
  return text.split(',').map((part) => part.trim()).filter((part) => part !== '')
}

/** A host name as in EHLO (RFC 5321, 4.1.1.1). */
function mailNameOf (text: string | undefined): { mailName?: string } {
  if (text === undefined) return {}
  if (text.length > 253 || !/^([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]*[a-z\d]$/i.test(text)) {
    throw new ConfigError(
      `DISPATCH_SMTP_NAME is ${JSON.stringify(text)}; it must be the name under which this machine sends e-mails, such as mail.example.com.`
    )
  }
  return { mailName: text }
}

/** A URI as in RFC 9116, or a plain e-mail address. */
function securityContactOf (text: string | undefined): { securityContact?: string } {
  if (text === undefined) return {}
  const uri = /^[^\s:/@]+@[^\s:/@]+$/.test(text) ? `mailto:${text}` : text
  if (!/^(https:\/\/|mailto:|tel:)[!-~]+$/.test(uri) || !URL.canParse(uri)) {
    throw new ConfigError(
      `DISPATCH_SECURITY_CONTACT is ${JSON.stringify(text)}; it must be an e-mail address or a URI such as https://example.com/security.`
    )
  }
  return { securityContact: uri }
}

import { randomUUID } from 'node:crypto'
import { isIP } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { generate, type SelfsignedOptions } from 'selfsigned'

/** A private key and its certificate in PEM. */
export type Certificate = { key: string, cert: string }

/** A certificate authority for one test. */
export type Authority = {
  /** The certificate that clients must trust, in PEM. */
  ca: string
  /** A certificate for these names or addresses. */
  issue: (...names: [string, ...string[]]) => Promise<Certificate>
  /** One that was, or will be, valid between two times only. */
  issueBetween: (from: Date, until: Date, name: string) => Promise<Certificate>
  /** The `SNICallback` of a TLS server: it makes a certificate for any requested name. */
  serveAnyName: (servername: string, callback: (error: Error | null, context?: SecureContext) => void) => void
}

/** For clients whose clocks are up to an hour behind. By default a certificate may be valid only from the next second on. */
const options = (): SelfsignedOptions => ({ keyType: 'ec', algorithm: 'sha256', notBeforeDate: new Date(Date.now() - 3_600_000) })

/** Creates a certificate authority with a new key. */
export async function createAuthority (): Promise<Authority> {
  // Clients find an authority by its name, so each authority has its own.
  const root = await generate([{ name: 'commonName', value: `Test authority ${randomUUID()}` }], {
    ...options(),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true }
    ]
  })
  const contexts = new Map<string, Promise<SecureContext>>()

  async function make (names: [string, ...string[]], valid: Partial<SelfsignedOptions> = {}): Promise<Certificate> {
    const { private: key, cert } = await generate([{ name: 'commonName', value: names[0] }], {
      ...options(),
      ...valid,
      ca: { key: root.private, cert: root.cert },
      extensions: [{
        name: 'subjectAltName',
        altNames: names.map((name) => isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name })
      }]
    })
    return { key, cert }
  }

  const issue = (...names: [string, ...string[]]): Promise<Certificate> => make(names)

  function contextOf (name: string): Promise<SecureContext> {
    const context = contexts.get(name) ?? issue(name).then(createSecureContext)
    contexts.set(name, context)
    return context
  }

  return {
    ca: root.cert,
    issue,
    issueBetween: (from, until, name) => make([name], { notBeforeDate: from, notAfterDate: until }),
    serveAnyName: (name, callback) => {
      contextOf(name).then((context) => callback(null, context), callback)
    }
  }
}

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from './config-error.ts'

/** Where participants of Peppol are looked up, and whose certificates count there. */
export type PeppolConfig = { zone: string, authorities: readonly X509Certificate[] }

/** The production zone of the locator (SML) that OpenPeppol runs. */
const production = 'participant.sml.prod.tech.peppol.org'

/** Reads `DISPATCH_PEPPOL_AUTHORITIES`, without which Peppol is not asked, and `DISPATCH_PEPPOL_ZONE`. */
export function peppolOf (env: NodeJS.ProcessEnv): { peppol?: PeppolConfig } {
  const [file, zone = production] = [env['DISPATCH_PEPPOL_AUTHORITIES'], env['DISPATCH_PEPPOL_ZONE']]
  if (!/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/.test(zone)) {
    throw new ConfigError(`DISPATCH_PEPPOL_ZONE is "${zone}"; it must be a DNS name such as ${production}.`)
  }
  return file === undefined ? {} : { peppol: { zone, authorities: authoritiesIn(resolve(file)) } }
}

function authoritiesIn (file: string): X509Certificate[] {
  try {
    const found = readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
    const authorities = found.map((pem) => new X509Certificate(pem))
    if (authorities.length > 0 && authorities.every(({ ca }) => ca)) return authorities
  } catch (cause) {
    throw new ConfigError(`The file ${file} of DISPATCH_PEPPOL_AUTHORITIES cannot be read.`, { cause })
  }
  throw new ConfigError(`The file ${file} of DISPATCH_PEPPOL_AUTHORITIES has no certificates of authorities alone, in PEM.`)
}

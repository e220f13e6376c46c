import type { X509Certificate } from 'node:crypto'

/** Certificates between the one that has signed and an authority, at most. */
const longest = 4

/**
 * Whether a certificate is one of an authority's, by way of others that came with it, and all of them are valid at a time. Revocation lists
 * are not asked.
 */
export function isTrusted (
  leaf: X509Certificate,
  { among, authorities, at }: { among: readonly X509Certificate[], authorities: readonly X509Certificate[], at: Date }
): boolean {
  let certificate = leaf
  for (let length = 0; length <= longest; length++) {
    if (!isValid(certificate, at)) return false
    if (authorities.some((authority) => isValid(authority, at) && issued(authority, certificate))) return true
    const next = among.find((one) => one.ca && issued(one, certificate))
    if (next === undefined) return false
    certificate = next
  }
  return false
}

function issued (authority: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

function isValid ({ validFromDate, validToDate }: X509Certificate, at: Date): boolean {
  return validFromDate <= at && at <= validToDate
}

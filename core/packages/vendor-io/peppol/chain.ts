import type { X509Certificate } from 'node:crypto'

/**
 * Whether a certificate signs documents, is one of an authority's, by way of others that came with it, and all of them are valid at a time.
 * Revocation lists are not asked.
 */
export function isTrusted (
  leaf: X509Certificate,
  { among, authorities, at }: { among: readonly X509Certificate[], authorities: readonly X509Certificate[], at: Date }
): boolean {
  const tried = new Set<X509Certificate>()
  return !leaf.ca && isForSignatures(leaf) && isOf(leaf)

  // Several may have issued it: an authority that was renewed has two certificates of one name and key.
  function isOf (certificate: X509Certificate): boolean {
    if (tried.has(certificate) || !isValid(certificate, at)) return false
    tried.add(certificate)
    return authorities.some((authority) => isValid(authority, at) && issued(authority, certificate)) ||
      among.some((one) => one.ca && issued(one, certificate) && isOf(one))
  }
}

/** The extension keyUsage (RFC 5280, 4.2.1.3) in hex, up to its bits: its OID, `critical` or not, and what is around a bit string. */
const keyUsage = /^(?:..)*?0603551d0f(?:0101..)?04..03..0[0-7](..)/

/** Whether the key may sign: keyUsage has digitalSignature, its first bit, or is not there. Node does not tell it. */
function isForSignatures ({ raw }: X509Certificate): boolean {
  const [, bits] = keyUsage.exec(raw.toString('hex')) ?? []
  return bits === undefined || parseInt(bits, 16) >= 0x80
}

function issued (authority: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

function isValid ({ validFromDate, validToDate }: X509Certificate, at: Date): boolean {
  return validFromDate <= at && at <= validToDate
}

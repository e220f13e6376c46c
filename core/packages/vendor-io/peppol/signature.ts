import { X509Certificate } from 'node:crypto'
import { SignedXml } from 'xml-crypto'
import { childrenAsWritten } from '../http/xml.ts'
import { isTrusted } from './chain.ts'

/** Why nothing of an XML document counts: a sentence. */
export class NotSigned extends Error {
  override name = 'NotSigned'
}

/** What signed documents may be made with. All else is refused, SHA-1 and secrets that both sides share above all. */
const permitted = {
  signatures: ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512'],
  digests: ['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512'],
  transforms: [
    'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
    'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
    'http://www.w3.org/2001/10/xml-exc-c14n#'
  ]
}

const namespace = 'http://www.w3.org/2000/09/xmldsig#'
/** Certificates that a signature may name. */
const most = 8

/**
 * The whole of a document, without its signature, as it was signed by a certificate of one of the authorities that is valid at a time.
 * Throws {@link NotSigned}.
 */
export function signedText (xml: string, { authorities, at }: { authorities: readonly X509Certificate[], at: Date }): string {
  const [signature, ...others] = signaturesIn(xml)
  if (signature === undefined || others.length > 0) throw new NotSigned('The document has not one signature.')
  const [leaf, ...among] = certificatesOf(signature)
  if (leaf === undefined) throw new NotSigned('The signature names no certificate.')
  if (!isTrusted(leaf, { among, authorities, at })) {
    throw new NotSigned('The certificate of the signature is none of a trusted authority, or is not valid now.')
  }
  const signed = new SignedXml({ publicCert: leaf.toString(), getCertFromKeyInfo: () => null })
  signed.SignatureAlgorithms = onlyThose(signed.SignatureAlgorithms, permitted.signatures)
  signed.HashAlgorithms = onlyThose(signed.HashAlgorithms, permitted.digests)
  signed.CanonicalizationAlgorithms = onlyThose(signed.CanonicalizationAlgorithms, permitted.transforms)
  if (!isVerified(signed, signature, xml)) throw new NotSigned('The signature does not fit the document.')
  const [whole, ...further] = signed.getSignedReferences()
  if (whole === undefined || further.length > 0 || signed.getReferences()[0]?.uri !== '') {
    throw new NotSigned('The signature is not about the whole document.')
  }
  return whole
}

function signaturesIn (xml: string): string[] {
  try {
    return childrenAsWritten(xml, { name: 'Signature', namespace })
  } catch (cause) {
    throw new NotSigned('The answer is no XML.', { cause })
  }
}

function isVerified (signed: SignedXml, signature: string, xml: string): boolean {
  try {
    signed.loadSignature(signature)
    return signed.checkSignature(xml)
  } catch {
    return false
  }
}

function onlyThose<Algorithm> (algorithms: Record<string, Algorithm>, names: readonly string[]): Record<string, Algorithm> {
  return Object.fromEntries(Object.entries(algorithms).filter(([name]) => names.includes(name)))
}

/** The certificates that a signature names: that of its key is the first one that has issued none of the others. */
function certificatesOf (signature: string): X509Certificate[] {
  const texts = [...signature.matchAll(/<(?:[\w.-]+:)?X509Certificate(?:\s[^>]*)?>([^<]*)</g)].map(([, text = '']) => text).slice(0, most)
  const certificates = texts.map((text) => {
    try {
      return new X509Certificate(Buffer.from(text, 'base64'))
    } catch {
      throw new NotSigned('A certificate of the signature cannot be read.')
    }
  })
  const own = certificates.find((one) => !certificates.some((other) => other !== one && other.checkIssued(one)))
  return own === undefined ? certificates : [own, ...certificates.filter((one) => one !== own)]
}

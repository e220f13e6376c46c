import { isRecord, type Json, type JsonObject, listOf } from '@dispatch/common'
import { X509Certificate } from 'node:crypto'
import { SignedXml } from 'xml-crypto'
import { childrenAsWritten, parseXml } from '../http/xml.ts'
import { isTrusted } from './chain.ts'

/** Why nothing of an XML document counts: a sentence. */
export class NotSigned extends Error {
  override name = 'NotSigned'
}

/** The algorithms that a signed document may use. Others are refused, such as SHA-1 and shared secrets. */
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
/**
 * Characters and tags of a document, certificates that a signature may name, and transforms. Checking costs the square of the elements, as
 * often as there are transforms, and nothing else runs meanwhile. Publishers write a tenth of that.
 */
const limits = { characters: 64 * 1024, tags: 2_000, certificates: 8, transforms: 3 }

/**
 * The whole of a document, without its signature, as it was signed by a certificate of one of the authorities that is valid at a time.
 * Throws {@link NotSigned}.
 */
export function signedText (xml: string, { authorities, at }: { authorities: readonly X509Certificate[], at: Date }): string {
  if (xml.length > limits.characters || tagsIn(xml) > limits.tags) throw new NotSigned('The document is longer than those that are signed.')
  const [signature, ...others] = signaturesIn(xml)
  if (signature === undefined || others.length > 0) throw new NotSigned('The document has not one signature.')
  const within = ['*', 'Signature'].reduce(childrenOf, [parseXml(xml)])
  if (['SignedInfo', 'Reference', 'Transforms', 'Transform'].reduce(childrenOf, within).length > limits.transforms) {
    throw new NotSigned('The signature has too many transforms.')
  }
  const [leaf, ...among] = certificatesOf(['KeyInfo', 'X509Data', 'X509Certificate'].reduce(childrenOf, within))
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

/** Each tag has one "<"; so has a comment. */
function tagsIn (xml: string): number {
  return xml.split('<', limits.tags + 2).length - 1
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

/** The children of elements with this name; `*`: with any. */
function childrenOf (elements: readonly Json[], name: string): Json[] {
  return elements.filter(isRecord).flatMap((element) =>
    Object.entries(element as JsonObject).flatMap(([child, value]) => name === '*' || child === name ? listOf(value) as Json[] : [])
  )
}

/** The certificates that a signature names: that of its key is the first one that has issued none of the others. */
function certificatesOf (elements: readonly Json[]): X509Certificate[] {
  const certificates = elements.slice(0, limits.certificates).map((element) => {
    const text = isRecord(element) ? (element as JsonObject)['#text'] : element
    try {
      // Publishers break the lines of a certificate, and some of them indent it.
      return new X509Certificate(Buffer.from(typeof text === 'string' ? text.replaceAll(/\s/g, '') : '', 'base64'))
    } catch {
      throw new NotSigned('A certificate of the signature cannot be read.')
    }
  })
  const own = certificates.find((one) => !certificates.some((other) => other !== one && other.checkIssued(one)))
  return own === undefined ? certificates : [own, ...certificates.filter((one) => one !== own)]
}

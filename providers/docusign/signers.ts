import { refused, type ServiceContracts } from '@dispatch/core/provider'

export type Request = ServiceContracts['esign']['dispatch']

/** The languages in which Docusign writes to signers. */
export const locales =
  `ar bg cs da de el en en-GB es es-MX et fa fi fr fr-CA he hi hu id it ja ko lt lv ms nl no pl pt pt-BR ro ru sk sl sr sv
  th tr uk vi zh-CN zh-TW`.split(/\s+/)

/** The one document of an envelope. */
export const documentId = '1'

/** The most characters of a signer's name, and of an address. */
const longest = 100

/** What stands in each recipient: the subject of their e-mail, and the workflow with which a phone number is verified, if there is one. */
export type Wording = { emailSubject: string, workflowId: string | undefined }

/**
 * The signers in Docusign's format: numbers are texts, and 72 pixels are one inch, as with points. Throws the refusals of {@link
 * checkSigners}.
 */
export function signersOf ({ esign: { signers, locale }, signatures }: Request, { emailSubject, workflowId }: Wording): object[] {
  checkSigners(signers)
  return signers.map(({ firstName, lastName, email, phoneNumber, order = 1 }, index) => {
    const places = signatures.filter(({ signer }) => signer === index + 1)
    return {
      recipientId: String(index + 1),
      routingOrder: String(order),
      name: `${firstName} ${lastName}`,
      email,
      ...(locale !== undefined && { emailNotification: { emailSubject, supportedLanguage: locale.replace('-', '_') } }),
      ...(workflowId !== undefined && phoneNumber !== undefined && { identityVerification: verificationOf(phoneNumber, workflowId) }),
      tabs: {
        signHereTabs: places.map(({ page, x, y }) => ({
          documentId,
          pageNumber: `${page}`,
          xPosition: `${Math.round(x)}`,
          yPosition: `${Math.round(y)}`
        }))
      }
    }
  })
}

/**
 * A code goes to the number before the document opens: https://developers.docusign.com/docs/esign-rest-api/how-to/phone-auth/. Docusign
 * wants the country code apart.
 */
function verificationOf (phoneNumber: string, workflowId: string): object {
  const { code: countryCode = '', number = '' } = parts.exec(phoneNumber)?.groups ?? {}
  return {
    workflowId,
    inputOptions: [{ name: 'phone_number_list', valueType: 'PhoneNumberList', phoneNumberList: [{ countryCode, number }] }]
  }
}

/** The country codes of one and of two digits (ITU-T E.164, list of assigned codes); all others have three. */
const parts = /^\+(?<code>1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})(?<number>\d+)$/

/** Refuses a name or an address that Docusign does not take. */
export function checkSigners (signers: Request['esign']['signers']): void {
  for (const [index, { firstName, lastName, email }] of signers.entries()) {
    for (const [field, { length }, place] of [['name', `${firstName} ${lastName}`, 'lastName'], ['email', email, 'email']] as const) {
      const message = `Docusign takes at most ${longest} characters of a signer's ${field}, and this has ${length}.`
      if (length > longest) throw refused(`${field}_too_long`, message, `/esign/signers/${index}/${place}`)
    }
    if (/[^\0-\x7f]/.test(email)) {
      throw refused('email_in_ascii', 'Docusign takes no address with letters beyond ASCII before the @.', `/esign/signers/${index}/email`)
    }
  }
}

import { refused, type ServiceContracts } from '@dispatch/core/provider'

type Request = ServiceContracts['esign']['dispatch']

/** The languages in which Docusign writes to signers. */
export const locales = 'ar bg cs da de el en en-GB es es-MX et fa fi fr fr-CA he hi hu id it ja ko lt lv ms nl no pl pt pt-BR ro ru sk sl sr sv th tr uk vi zh-CN zh-TW'.split(' ')

/** The one document of an envelope. */
export const documentId = '1'

const longest = { name: 100, email: 100 }

/** Numbers are texts in this API. */
export type Signer = {
  recipientId: string
  routingOrder: string
  name: string
  email: string
  emailNotification?: { emailSubject: string, supportedLanguage: string }
  tabs: { signHereTabs: { documentId: string, pageNumber: string, xPosition: string, yPosition: string }[] }
}

/** The signers as Docusign takes them. Its pixels are 72 to the inch, as points are. Throws a refusal for a name that is too long there. */
export function signersOf ({ esign: { signers, locale }, signatures }: Request, emailSubject: string): Signer[] {
  return signers.map(({ firstName, lastName, email, order = 1 }, index) => {
    const name = `${firstName} ${lastName}`
    checkLengths({ name, email })
    const places = signatures.filter(({ signer }) => signer === index + 1)
    return {
      recipientId: String(index + 1),
      routingOrder: String(order),
      name,
      email,
      ...(locale !== undefined && { emailNotification: { emailSubject, supportedLanguage: locale.replace('-', '_') } }),
      tabs: { signHereTabs: places.map(({ page, x, y }) => ({ documentId, pageNumber: String(page), xPosition: String(Math.round(x)), yPosition: String(Math.round(y)) })) }
    }
  })
}

function checkLengths (signer: Record<keyof typeof longest, string>): void {
  for (const field of ['name', 'email'] as const) {
    if (signer[field].length > longest[field]) throw refused(`${field}_too_long`, `Docusign takes at most ${longest[field]} characters of a signer's ${field}, and this has ${signer[field].length}.`)
  }
}

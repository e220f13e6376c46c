import { CountryCode, type DocumentHandle, Line, Lines, postalCodeCountries, type Problem, readPostalCode, textAt } from '@dispatch/common'
import { type PageSetup, paperSizeOf, paperSizes, type PdfPage, printedFormats, sheets, usualPaper } from '@dispatch/documents'
import { type Static, Type } from 'typebox'
import { checkPlace, checkState } from '../address.ts'
import { checkGiven, type Enclosed, FurtherDocuments, givenAndFurtherIn, givenDocument, pagesIn, pdfLimits, placeOf, placeOfPages,
  type WithFurtherDocuments, type WithGivenDocument } from '../enclosures.ts'
import { checkMax, checkOffered, checkSupported } from '../limits.ts'
import type { CheckInput, ProvidedService } from '../service.ts'
import { addressLines, AddressPage } from './address-page.ts'
import { console } from './console.ts'
import { delivery } from './delivery.ts'
import { keyOfRecipient, knownRecipient } from './known-recipient.ts'
import { outline } from './outline.ts'
import { checkNamed, printedRecipient, recipientData, recipientFacts } from './recipient-facts.ts'

const mailTypes = ['SIMPLE', 'REGISTERED'] as const
export type MailType = typeof mailTypes[number]

const defaults = { mailType: 'SIMPLE', color: false, duplex: false } as const

/** Where a letter goes. The postal code can be left out where addresses have none, or not all of them. */
const Recipient = Type.Object({
  name: Line(100, { examples: ['Ada Lovelace'] }),
  company: Type.Optional(Line(100, { examples: ['Analytical Engines'] })),
  address: Lines(300, {
    description: 'the street and the other lines above the city, separated by "\\n"',
    examples: ['12 rue de la Paix']
  }),
  city: Line(100, { examples: ['Paris'] }),
  state: Type.Optional(
    Line(50, {
      description: 'the state, province or region, if addresses of the country have one, such as CA; two letters in the US',
      examples: ['CA']
    })
  ),
  postalCode: Type.Optional(Line(20, {
    description: 'in a usual writing of the country; it is sent in its own: SW1A1AA as SW1A 1AA. Needed where the country has them.',
    examples: ['75002']
  })),
  country: CountryCode
}, {
  title: 'PostalRecipient',
  additionalProperties: false,
  if: { required: ['country'], properties: { country: { enum: postalCodeCountries } } },
  then: { required: ['postalCode'] }
})

/** The fields of the postal service. */
export const PostalFields = Type.Object({
  recipient: Recipient,
  mailType: Type.Optional(Type.Enum(mailTypes, { default: defaults.mailType })),
  color: Type.Optional(Type.Boolean({ default: defaults.color })),
  duplex: Type.Optional(Type.Boolean({ default: defaults.duplex })),
  documents: FurtherDocuments('one letter in one envelope')
}, { title: 'PostalFields', additionalProperties: false })
export type PostalFields = Omit<Static<typeof PostalFields>, 'documents'> & WithGivenDocument & WithFurtherDocuments

/** What a postal provider declares. */
export const PostalCapabilities = Type.Object({
  mailTypes: Type.Array(Type.Enum(mailTypes), { minItems: 1, uniqueItems: true }),
  countries: Type.Optional(
    Type.Array(CountryCode, { uniqueItems: true, description: 'The countries to which it delivers; if left out, all.' })
  ),
  papers: Type.Optional(
    Type.Array(Type.Enum(paperSizes), {
      minItems: 1,
      uniqueItems: true,
      description: 'The paper sizes that it prints on, in portrait format; if left out, any.'
    })
  ),
  ...pdfLimits,
  color: Type.Optional(Type.Boolean()),
  duplex: Type.Optional(Type.Boolean()),
  addressPage: Type.Optional(AddressPage)
}, { additionalProperties: false })
export type PostalCapabilities = Static<typeof PostalCapabilities>

/** What a postal provider is asked to dispatch. */
export type PostalDispatch = {
  postal: { recipient: Static<typeof Recipient>, mailType: MailType, color: boolean, duplex: boolean }
  document: DocumentHandle
  metadata: Readonly<Record<string, string>>
}

export const postal: ProvidedService<'postal', PostalFields, PostalCapabilities, 'document', PostalDispatch, typeof delivery> = {
  name: 'postal',
  summary: 'Sends a letter by post.',
  fields: PostalFields,
  topLevelFields: [],
  required: ['recipient'],
  template: { channel: 'pages', orGiven: true },
  content: 'document',
  shared: recipientFacts,
  tells: recipientData,
  stated: { recipient: { place: '/recipient', read: printedRecipient } },
  encloses: givenAndFurtherIn,
  recipients: {
    // A request that was forgotten has no recipient any more.
    in: ({ recipient }: Partial<PostalFields>) =>
      recipient === undefined ? [] : [{ address: keyOfRecipient(recipient), field: 'recipient' }],
    known: knownRecipient,
    suppressedBy: { returned: 'returned' },
    // A registered letter comes back from the right address, too, where nobody fetches it.
    suppressesNobody: ({ mailType }) => mailType === 'REGISTERED'
  },
  checkDocument: ({ recipient }, data) => checkNamed(data, recipient),
  // A letter that is there by 14:00 on a working day is printed and posted that day by most vendors.
  hours: { country: ({ recipient }) => recipient.country, usual: () => ({ notAfter: '14:00', days: [1, 2, 3, 4, 5] }) },
  chain: { produces: 'document', consumes: 'document', formats: printedFormats },
  capabilities: PostalCapabilities,
  price: 0,
  revocable: true,
  choices: { mailTypes: 'mailType' },
  console,
  delivery,
  outline,

  check (subject) {
    const { fields, provider, at, enclosed = [], given } = subject
    const { recipient: { country, state, postalCode } } = fields
    const pages = given === undefined ? undefined : pagesIn([given, ...enclosed.filter((one) => one !== given)])?.length
    const place = checkPlace({ country, postalCode }, at('recipient'))
    return {
      problems: [...checkGiven(enclosed, at, { given }), ...place.problems ?? [], ...checkState({ country, state }, at('recipient')),
        ...checkProvider(subject), ...provider === undefined || pages === undefined
        ? []
        : checkPages(pages, provider, fields.documents === undefined ? `/${givenDocument}` : at('documents')), ...provider === undefined ?
        [] :
        checkSheets(given === undefined ? enclosed : [given, ...enclosed.filter((one) => one !== given)], provider, at)],
      warnings: place.warnings ?? []
    }
  },

  paper: {
    of ({ recipient: { country } }, provider) {
      const usual = paperSizeOf(country)
      const { papers: [first = usual, ...others] = [] } = provider?.capabilities ?? {}
      return others.includes(usual) ? usual : first
    },
    check: checkPage
  },

  before: ({ recipient, duplex = false }, { addressPage }) =>
    addressPage && { ...addressPage, lines: addressLines(recipient), blankBack: duplex },

  checkContent (fields, { pages, document: { size } }, provider) {
    if (provider === undefined) return []
    const place = placeOfPages(fields, (field) => `/postal/${field}`)
    return [
      ...pages === undefined ? [] : checkPages(pages, provider, place),
      ...checkMax(provider, place, size, provider.capabilities.maxSize, 'bytes')
    ]
  },

  request: ({ recipient, document: _, documents: _further, ...fields }, { document, metadata }) => ({
    postal: { ...defaults, ...fields, recipient: deliverable(recipient) },
    document,
    metadata
  }),

  example: {
    postal: { recipient: { name: 'Ada Lovelace', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' } }
  },

  facts ({ recipient }, data) {
    return { ...textAt(data, '/number', 'documentNumber'), recipient: recipient.name }
  }
}

/** A recipient as the vendor gets it: the postal code that is judged, as it is written in its country. */
function deliverable (recipient: Static<typeof Recipient>): Static<typeof Recipient> {
  const { postalCode, country } = recipient
  const read = postalCode === undefined ? undefined : readPostalCode(postalCode, country)
  return read === undefined ? recipient : { ...recipient, postalCode: read.code }
}

/** Whether the provider takes a letter of so many pages. `place`: where they come from. */
function checkPages (pages: number, provider: { code: string, capabilities: PostalCapabilities }, place: string): Problem[] {
  return checkMax(provider, place, pages, provider.capabilities.maxPages, 'pages')
}

/** So many points may a page be larger or smaller than its sheet (2 mm): programs round. */
const nearly = 2 * 72 / 25.4

/** Checks that each PDF has the paper that the provider prints on: what a client gives is sent as it is, and scaled by nobody. */
function checkSheets (
  enclosed: readonly Enclosed[],
  { code, capabilities: { papers } }: { code: string, capabilities: PostalCapabilities },
  at: (field: string) => string
): Problem[] {
  if (papers === undefined) return []
  const isPrinted = ({ width, height }: PdfPage): boolean =>
    papers.some((paper) => Math.abs(width - sheets[paper][0]) < nearly && Math.abs(height - sheets[paper][1]) < nearly)
  return enclosed.flatMap((one) => {
    const pages = one.pdf?.ok === true ? one.pdf.pages : []
    const index = pages.findIndex((page) => !isPrinted(page))
    const page = pages[index]
    return page === undefined ? [] : [{
      path: one.field === givenDocument ? `/${givenDocument}` : placeOf(one, at),
      code: 'not_supported_by_provider',
      message: `The provider "${code}" prints only on ${papers.join(' or ')} in portrait format, and page ${index + 1} of this PDF is ${
        millimetres(page.width)
      } mm wide and ${millimetres(page.height)} mm high: print it into a PDF of that size.`
    }]
  })
}

function millimetres (points: number): number {
  return Math.round(points * 25.4 / 72)
}

/** Why the provider cannot print a page, where it cannot. */
function checkPage (
  { size = usualPaper, orientation = 'portrait' }: PageSetup,
  { code, capabilities }: { code: string, capabilities: PostalCapabilities }
): string | undefined {
  const { papers: printed } = capabilities
  if (printed === undefined) return undefined
  const prints = `The provider "${code}" prints only on ${printed.join(' or ')} in portrait format`
  if (orientation === 'landscape') return `${prints}, and the pages of this template lie on their side (landscape).`
  return size === 'auto' || printed.includes(size)
    ? undefined
    : `${prints}, and the pages of this template are ${size}: with "page: { size: auto }" they become what is printed.`
}

function checkProvider ({ fields, provider, at }: CheckInput<PostalFields, PostalCapabilities>): Problem[] {
  if (provider === undefined) return []
  const { capabilities } = provider
  const whole = { ...defaults, ...fields }
  return [
    ...checkSupported(provider, at('mailType'), whole.mailType, capabilities.mailTypes),
    ...checkSupported(provider, `${at('recipient')}/country`, whole.recipient.country, capabilities.countries),
    ...checkOffered(provider, at('color'), whole.color, capabilities.color, 'print in colour'),
    ...checkOffered(provider, at('duplex'), whole.duplex, capabilities.duplex, 'print on both sides')
  ]
}

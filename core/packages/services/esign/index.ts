import { asciiDomain, at, canonicalLanguage, comparable, type DocumentHandle, isRecord, type Json, type JsonObject, LanguageCode,
  LanguageTag, Line, lookupLanguage, normalForm, type Problem, textAt, textOf } from '@dispatch/common'
import { signedFormats } from '@dispatch/documents'
import { type Static, Type } from 'typebox'
import type { SignaturePlace } from '../content.ts'
import { checkGiven, FurtherDocuments, givenAndFurtherIn, pdfLimits, placeOfPages, type WithFurtherDocuments,
  type WithGivenDocument } from '../enclosures.ts'
import { checkMax, checkSupported } from '../limits.ts'
import { areOneNumber, checkPhoneNumber, dialled, PhoneNumber } from '../phone.ts'
import { areNamed } from '../same-name.ts'
import type { CheckInput, Findings, ProvidedService, SharedFact } from '../service.ts'
import { console } from './console.ts'
import { delivery } from './delivery.ts'
import { outline } from './outline.ts'
import { checkPlaces, placesToSign, PlaceToSign } from './places.ts'

const signatureTypes = ['SIMPLE', 'ADVANCED', 'QUALIFIED'] as const
export type SignatureType = typeof signatureTypes[number]

const defaults = { signatureType: 'SIMPLE', expiresInDays: 30 } as const

const Signer = Type.Object({
  email: Type.String({ format: 'mail-address', maxLength: 254, examples: ['ada@example.com'] }),
  firstName: Line(100, { examples: ['Ada'] }),
  lastName: Line(100, { examples: ['Lovelace'] }),
  phoneNumber: Type.Optional(PhoneNumber()),
  order: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The position in the signing order; signers with the same number sign at the same time. Without it, all sign at once.'
    })
  )
}, { title: 'Signer', additionalProperties: false })
export type Signer = Static<typeof Signer>

/** The fields of the esign service, in `esign` or (the signers) at the top level of the request. */
export const EsignFields = Type.Object({
  signers: Type.Array(Signer, { title: 'Signers', minItems: 1, maxItems: 50 }),
  signatureType: Type.Optional(Type.Enum(signatureTypes, { default: defaults.signatureType })),
  expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: defaults.expiresInDays })),
  locale: Type.Optional(LanguageTag),
  places: Type.Optional(
    Type.Array(PlaceToSign, {
      'x-since': '1.1.0',
      minItems: 1,
      maxItems: 200,
      description:
        'Where signers sign a document that is given: each at one place at least. A template says it itself. Since version 1.1.0.'
    })
  ),
  documents: FurtherDocuments('one document, which is signed as a whole')
}, { title: 'EsignFields', additionalProperties: false })
export type EsignFields = Omit<Static<typeof EsignFields>, 'documents'> & WithGivenDocument & WithFurtherDocuments

/** What an esign provider declares. */
export const EsignCapabilities = Type.Object({
  signatureTypes: Type.Array(Type.Enum(signatureTypes), { minItems: 1, uniqueItems: true }),
  locales: Type.Optional(
    Type.Array(LanguageCode, {
      uniqueItems: true,
      description: 'The languages of its messages to signers; if left out, any. It is handed the one that serves the language of the ' +
        'request: fr for fr-FR.'
    })
  ),
  maxSigners: Type.Optional(Type.Integer({ minimum: 1 })),
  ...pdfLimits,
  sameAddress: Type.Optional(
    Type.Literal(true, { description: 'Several signers may have one e-mail address; if left out, it tells signers apart by theirs.' })
  ),
  usesPhoneNumber: Type.Optional(
    Type.Union([Type.Literal(true), Type.String({ minLength: 1 })], {
      description: 'It uses the phone number of a signer, such as for a code: always, or while the setting of that name is on. If left ' +
        'out, a validation warns that the number is not used.'
    })
  ),
  phoneNumberFor: Type.Optional(
    Type.Array(Type.Enum(signatureTypes), {
      uniqueItems: true,
      description: 'The types of signature for which each signer needs a phone number; if left out, none.'
    })
  )
}, { additionalProperties: false })
export type EsignCapabilities = Static<typeof EsignCapabilities>

/** What an esign provider is asked to dispatch. */
export type EsignDispatch = {
  esign: { signers: Signer[], signatureType: SignatureType, expiresInDays: number, locale?: string }
  document: DocumentHandle
  signatures: readonly SignaturePlace[]
  data: JsonObject
  metadata: Readonly<Record<string, string>>
}

/** Those who sign, where the document lists them with their addresses: by address, name and number. */
const signersFact: SharedFact<EsignFields> = {
  field: '/signers',
  data: '/signers',
  differ ({ signers }, data) {
    const listed: Json | undefined = at(data, '/signers')
    const stated = Array.isArray(listed) ? listed.filter((signer: Json) => textOf(signer, '/email') !== undefined) : []
    return stated.length > signers.length || !stated.every((one: Json) => signers.some((signer) => isListedAs(signer, one)))
  },
  isRecipient: true
}

/** Whether a list means a signer, by all that it says of them. */
function isListedAs (signer: Signer, listed: Json): boolean {
  const said = (field: string): string => textOf(listed, `/${field}`) ?? ''
  const [name, phoneNumber] = [`${said('firstName')} ${said('lastName')}`, said('phoneNumber')]
  return comparable(said('email')).toLowerCase() === comparable(signer.email).toLowerCase() && areNamed(name, nameOf(signer)) &&
    (phoneNumber === '' || signer.phoneNumber === undefined || areOneNumber(phoneNumber, signer.phoneNumber))
}

/** What a list of those who sign says of each of them, without what else the document shows. */
function listedSigners (stated: Json): Json {
  const fields = Object.keys(Signer.properties)
  const signerIn = (listed: Json): Json => {
    const all = isRecord(listed) ? Object.entries(listed).filter(([name, value]) => value !== null && fields.includes(name)) : undefined
    return all === undefined ? listed : Object.fromEntries(all)
  }
  return Array.isArray(stated) ? stated.map(signerIn) : stated
}

export const esign: ProvidedService<'esign', EsignFields, EsignCapabilities, 'document', EsignDispatch, typeof delivery> = {
  name: 'esign',
  summary: 'Starts a signature workflow for a document.',
  fields: EsignFields,
  topLevelFields: ['signers'],
  required: ['signers'],
  template: { channel: 'pages', orGiven: true },
  content: 'document',
  encloses: givenAndFurtherIn,
  places: placesToSign,
  shared: [signersFact],
  stated: { signers: { place: '/signers', read: listedSigners } },
  chain: { produces: 'document', consumes: 'document', formats: signedFormats },
  capabilities: EsignCapabilities,
  price: 0,
  revocable: true,
  choices: { signatureTypes: 'signatureType' },
  console,
  delivery,
  outline,

  check (subject) {
    const { fields: { signers }, at, enclosed = [], given } = subject
    const phones = checkPhones(signers, at('signers'))
    const unused = unusedPhones(subject)
    return {
      problems: [
        ...checkOrder(signers, at('signers')),
        ...checkDuplicates(subject),
        ...phones.problems,
        ...checkGiven(enclosed, at, { given, signing: true }),
        ...checkPlaces(subject),
        ...checkProvider(subject)
      ],
      warnings: [...phones.warnings, ...unused]
    }
  },

  signers: ({ signers }) => signers.map(nameOf),
  mails: ({ signers }) => signers.map(({ email }, index) => ({ address: email, field: 'signers', index })),

  checkContent (fields, { pages, document: { size } }, provider) {
    if (provider === undefined) return []
    const { capabilities: { maxPages, maxSize } } = provider
    const place = placeOfPages(fields, (field) => `/esign/${field}`)
    return [
      ...pages === undefined ? [] : checkMax(provider, place, pages, maxPages, 'pages'),
      ...checkMax(provider, place, size, maxSize, 'bytes')
    ]
  },

  request: (
    { signers, locale, document: _, documents: _further, places: _places, ...fields },
    { document, signatures, data, metadata },
    capabilities
  ) => ({
    esign: { ...defaults, ...fields, ...languageFor(locale, capabilities?.locales), signers: signers.map(contactable) },
    document,
    signatures,
    data,
    metadata
  }),

  example: {
    signers: [
      { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' },
      { email: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper' }
    ]
  },

  facts ({ signers: [first] }, data) {
    return { ...textAt(data, '/number', 'documentNumber'), ...(first === undefined ? {} : { recipient: nameOf(first) }) }
  }
}

/** A signer as the vendor reaches them: the domain of the address in ASCII, the number that is dialled. */
function contactable ({ email, phoneNumber, ...signer }: Signer): Signer {
  return { ...signer, email: asciiDomain(email), ...(phoneNumber === undefined ? {} : { phoneNumber: dialled(phoneNumber) }) }
}

/** The language that the vendor is asked for: the one of its own that serves the language of the request. */
function languageFor (locale: string | undefined, offered: readonly string[] | undefined): { locale?: string } {
  if (locale === undefined) return {}
  const language = offered === undefined ? canonicalLanguage(locale) : lookupLanguage(locale, offered)
  return language === undefined ? {} : { locale: language }
}

/** The name of a signer; of one in a draft, as far as it is written. */
function nameOf ({ firstName, lastName }: Signer): string {
  return [firstName, lastName].join(' ').trim()
}

/** Checks that either no signer has an order, or all have one, numbered from 1 without a gap. */
function checkOrder (signers: readonly Signer[], path: string): Problem[] {
  const orders = signers.map(({ order }) => order)
  if (orders.every((order) => order === undefined)) return []
  const missing = orders.flatMap((order, index) =>
    order === undefined
      ? [{
        path: `${path}/${index}/order`,
        code: 'order_missing',
        message: 'Only some signers have an order: give it for every signer, or for none.'
      }]
      : []
  )
  if (missing.length > 0) return missing
  return orders.flatMap((order = 1, index) =>
    order === 1 || orders.includes(order - 1) ? [] : [
      {
        path: `${path}/${index}/order`,
        code: 'order_gap',
        message: `No signer has the order ${
          order - 1
        }: orders start at 1 and have no gaps; signers with equal orders sign at the same time.`
      }
    ]
  )
}

/**
 * Where a provider permits it, several people may share an address, and one may sign at several steps; but nobody signs twice at one step.
 */
function checkDuplicates ({ fields: { signers }, provider, at }: CheckInput<EsignFields, EsignCapabilities>): Problem[] {
  const sharing = provider === undefined || provider.capabilities.sameAddress === true
  const who = signers.map((signer) => {
    const address = comparable(signer.email).toLowerCase()
    return sharing ? JSON.stringify([address, comparableName(signer), signer.order ?? 1]) : address
  })
  return signers.flatMap(({ email }, index) =>
    who.indexOf(who[index] ?? '') === index ? [] : [{
      path: `${at('signers')}/${index}/email`,
      code: 'duplicate_signer',
      message: sharing
        ? `${email} is already a signer of that name and order: name each signer once.`
        : `${email} is already a signer: the provider "${provider.code}" tells signers apart by their address, so give each one of their own.`
    }]
  )
}

function comparableName (signer: Signer): string {
  return normalForm(nameOf(signer)).toLowerCase()
}

/** The numbers to which a vendor may send codes. */
function checkPhones (signers: readonly Signer[], path: string): Required<Pick<Findings, 'problems' | 'warnings'>> {
  const found = signers.map(({ phoneNumber }, index) =>
    phoneNumber === undefined ? {} : checkPhoneNumber(phoneNumber, `${path}/${index}/phoneNumber`)
  )
  return { problems: found.flatMap(({ problems = [] }) => problems), warnings: found.flatMap(({ warnings = [] }) => warnings) }
}

/** Warns of numbers that the provider does nothing with. */
function unusedPhones ({ fields, provider, at }: CheckInput<EsignFields, EsignCapabilities>): Problem[] {
  if (provider === undefined) return []
  const { code, capabilities: { usesPhoneNumber: uses, phoneNumberFor: needs = [] }, settings } = provider
  const { signers, signatureType } = { ...defaults, ...fields }
  const used = uses === true || needs.includes(signatureType) || (uses !== undefined && (settings === undefined || settings[uses] === true))
  const remedy = uses === undefined ? '' : ` Its setting "${String(uses)}" turns that on.`
  return used ? [] : signers.flatMap(({ phoneNumber }, index) =>
    phoneNumber === undefined ? [] : [{
      path: `${at('signers')}/${index}/phoneNumber`,
      code: 'unused_field',
      message: `The provider "${code}" sends nothing to the phone number of a signer, and asks them for no code.${remedy}`
    }]
  )
}

function checkProvider ({ fields, provider, at }: CheckInput<EsignFields, EsignCapabilities>): Problem[] {
  if (provider === undefined) return []
  const { capabilities } = provider
  const { signers, signatureType, locale } = { ...defaults, ...fields }
  return [
    ...checkSupported(provider, at('signatureType'), signatureType, capabilities.signatureTypes),
    ...servesLanguage(locale, capabilities.locales) ? [] : checkSupported(provider, at('locale'), locale, capabilities.locales),
    ...checkMax(provider, at('signers'), signers.length, capabilities.maxSigners, 'signers'),
    ...(capabilities.phoneNumberFor ?? []).includes(signatureType) ? withoutPhone(provider, signers, signatureType, at('signers')) : []
  ]
}

function servesLanguage (locale: string | undefined, offered: readonly string[] | undefined): boolean {
  return locale !== undefined && offered !== undefined && lookupLanguage(locale, offered) !== undefined
}

function withoutPhone ({ code }: { code: string }, signers: readonly Signer[], signatureType: SignatureType, path: string): Problem[] {
  return signers.flatMap(({ phoneNumber }, index) =>
    phoneNumber !== undefined ? [] : [
      {
        path: `${path}/${index}/phoneNumber`,
        code: 'required',
        message: `The provider "${code}" sends a code to each signer of a signature of the type ${signatureType}: give a phone number, ` +
          'such as +33612345678.'
      }
    ]
  )
}

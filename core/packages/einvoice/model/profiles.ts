/** The syntaxes of an e-invoice. FACTUR_X is a PDF/A-3 with the CII inside. */
export const eInvoiceFormats = ['FACTUR_X', 'UBL', 'CII'] as const
/** One of {@link eInvoiceFormats}. */
export type EInvoiceFormat = typeof eInvoiceFormats[number]

/** The specifications that an e-invoice can follow (BT-24). */
export const eInvoiceProfiles = [
  'EN16931',
  'PEPPOL',
  'XRECHNUNG',
  'MINIMUM',
  'BASIC_WL',
  'BASIC',
  'EXTENDED',
  'EXTENDED_CTC_FR'
] as const
/** One of {@link eInvoiceProfiles}. */
export type EInvoiceProfile = typeof eInvoiceProfiles[number]

/** How much a profile can say, from the least: each level can say what those before it can. */
export const levels = ['MINIMUM', 'BASIC_WL', 'BASIC', 'EN16931', 'EXTENDED'] as const
/** One of {@link levels}. */
export type Level = typeof levels[number]

/** The rules that a profile adds to those of EN 16931. */
export type RuleSet = 'peppol' | 'peppolNational' | 'xrechnung' | 'france'

export type ProfileFacts = {
  /** BT-24. */
  specification: string
  /** BT-23, where the data say none. */
  process?: string
  /** The only ones that there are; without them, any. */
  processes?: readonly string[]
  formats: readonly EInvoiceFormat[]
  level: Level
  /** What is checked beside EN 16931; a violation prevents the e-invoice. */
  rules: readonly RuleSet[]
  /** The schemes of electronic addresses that are made of registrations and VAT numbers, because the profile requires an address. */
  addresses?: 'Peppol' | 'France'
  /** UBL has one note, which holds all of them. */
  notes?: 'one'
  /** Each breakdown of VAT has a rate, even one outside of VAT. */
  rates?: 'always'
  /** Where the customer has a tax number beside the VAT number. */
  customerTaxIds?: readonly EInvoiceFormat[]
  /** The level of conformance in the metadata of a Factur-X. */
  conformance: string
}

const en16931 = 'urn:cen.eu:en16931:2017'
/** BT-23 of Peppol BIS Billing 3.0, which XRechnung takes over. */
const billing = 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0'
/** Those that Peppol has approved (PEPPOL-EN16931-R007): French invoices under the mandate and beside it, and those that get a response. */
const approved = [
  billing,
  'urn:peppol:france:billing:regulated',
  'urn:peppol:france:billing:non-regulated',
  'urn:peppol:bis:billing_with_response'
]
const cii = ['FACTUR_X', 'CII'] as const

/** The facts of each profile. */
export const profiles: Readonly<Record<EInvoiceProfile, ProfileFacts>> = {
  EN16931: {
    specification: en16931,
    formats: ['FACTUR_X', 'CII', 'UBL'],
    level: 'EN16931',
    rules: [],
    customerTaxIds: ['UBL'],
    conformance: 'EN 16931'
  },
  PEPPOL: {
    specification: `${en16931}#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0`,
    process: billing,
    processes: approved,
    formats: ['UBL'],
    level: 'EN16931',
    rules: ['peppol', 'peppolNational'],
    addresses: 'Peppol',
    notes: 'one',
    conformance: 'EN 16931'
  },
  XRECHNUNG: {
    specification: `${en16931}#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0`,
    process: billing,
    formats: ['CII', 'UBL'],
    level: 'EN16931',
    rules: ['xrechnung'],
    addresses: 'Peppol',
    rates: 'always',
    customerTaxIds: ['CII', 'UBL'],
    conformance: 'XRECHNUNG'
  },
  MINIMUM: { specification: 'urn:factur-x.eu:1p0:minimum', formats: cii, level: 'MINIMUM', rules: [], conformance: 'MINIMUM' },
  BASIC_WL: { specification: 'urn:factur-x.eu:1p0:basicwl', formats: cii, level: 'BASIC_WL', rules: [], conformance: 'BASIC WL' },
  BASIC: {
    specification: `${en16931}#compliant#urn:factur-x.eu:1p0:basic`,
    formats: cii,
    level: 'BASIC',
    rules: [],
    conformance: 'BASIC'
  },
  EXTENDED: {
    specification: `${en16931}#conformant#urn:factur-x.eu:1p0:extended`,
    formats: cii,
    level: 'EXTENDED',
    rules: [],
    conformance: 'EXTENDED'
  },
  EXTENDED_CTC_FR: {
    specification: `${en16931}#conformant#urn.cpro.gouv.fr:1p0:extended-ctc-fr`,
    formats: ['FACTUR_X', 'CII', 'UBL'],
    level: 'EXTENDED',
    rules: ['france'],
    addresses: 'France',
    customerTaxIds: ['UBL'],
    conformance: 'EXTENDED'
  }
}

/**
 * Whether a profile has a place for the customer's tax number where it is not the VAT number. EN 16931 has no term for it, and Factur-X
 * refuses a second number.
 */
export function hasCustomerTaxId (profile: EInvoiceProfile, format: EInvoiceFormat): boolean {
  return profiles[profile].customerTaxIds?.includes(format) === true
}

/** Whether a profile can say a business process (BT-23). */
export function hasProcess (profile: EInvoiceProfile, process: string): boolean {
  return profiles[profile].processes?.includes(process) !== false
}

/** The profile of an e-invoice that names none. */
export function usualProfile (format: EInvoiceFormat): EInvoiceProfile {
  return format === 'UBL' ? 'PEPPOL' : 'EN16931'
}

export function isProfile (name: unknown): name is EInvoiceProfile {
  return typeof name === 'string' && Object.hasOwn(profiles, name)
}

/** Whether a level can say what another one can. */
export function reaches (level: Level, other: Level): boolean {
  return levels.indexOf(level) >= levels.indexOf(other)
}

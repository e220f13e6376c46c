import type { Json, JsonObject, Problem } from '@dispatch/common'
import type { EnvelopeWindow, FileFormat, PageSetup, PaperSize } from '@dispatch/documents'
import type { TObject } from 'typebox'
import type { ConsolePart } from './console.ts'
import type { Content, ContentKind, SignaturePlace, StepContent } from './content.ts'
import type { DeliveryRules } from './delivery.ts'
import type { Enclosed, Enclosure } from './enclosures.ts'
import type { ServiceHours } from './hours.ts'
import type { Outline } from './outline.ts'
import type { SmsText } from './sms/text-size.ts'

/**
 * One dispatch service, declared as data: the routes, the request schema, the provider's vocabulary, the prices and the
 * documentation are built from it. `Fields` is what the request carries for it, `Capabilities` what a provider declares,
 * `Kind` what is made for it before it is dispatched.
 */
export type Service<Name extends string, Fields, Capabilities, Kind extends ContentKind> = {
  name: Name
  summary: string
  /** The service's own object in the request. Every field is optional in it, because it may be at the top level instead. */
  fields: TObject
  /** Fields that are also accepted at the top level of the request. */
  topLevelFields: readonly string[]
  /** Fields that are also accepted at the top level when the service is the only one in the path. */
  topLevelFieldsAlone?: readonly string[]
  /** Fields that must be given in one of the two places. */
  required: readonly string[]
  /** How the request gives the content. Without it the service has no template. */
  template?: TemplateUse
  /** The kind of content that is rendered, or comes with the request, before the provider is called. */
  content: Kind
  chain: ChainPlace
  /** Credits for one accepted dispatch. */
  price: number
  /** Business rules, and what the chosen provider can do. Paths point into the request. */
  check(subject: CheckInput<Fields, Capabilities>): Findings
  /** Rules that need the rendered content. Paths point into the request. */
  checkContent?(fields: Fields, made: StepContent<Kind>, provider: ProviderFacts<Capabilities> | undefined): Problem[]
  /** What its recipients read, of a step that has stored what was made for it. */
  message?(fields: Fields, made: Partial<Pick<Content['message'], 'html' | 'text' | 'inline'>>): ShownMessage
  /** How what its recipients get is counted, as far as it is made. */
  measure?(fields: Fields, made: Partial<Pick<Content['text'], 'text'>>): Measure
  /** What its fields and the data of a template both state. */
  shared?: readonly SharedFact<Fields>[]
  /** What its fields say, as the data of a template say it: it stands in the document where the data do not say it. */
  tells?(fields: Fields): JsonObject
  /**
   * Its document follows another one, such as a credit note an invoice: the field that says which (`dispatchId`, or `document`: a file in
   * Base64), and what its data repeat of those of the other one; undefined where those lack what it takes.
   */
  follows?: { field: string, repeated(original: JsonObject): JsonObject | undefined }
  /** Fields that a request may leave out where the data of its document state them, each where they do. */
  stated?: Readonly<Record<string, StatedField>>
  /** Warnings about a document that the service takes over, by the data that it was made of. */
  checkDocument?(fields: Fields, data: JsonObject): Problem[]
  /** The documents beside its own that the fields name, which others have made or uploaded. */
  encloses?(fields: Fields): Enclosure[]
  /** Where signers sign a document that no template made. */
  places?(fields: Fields): readonly SignaturePlace[]
  /** Who signs the document, by name and in their order. */
  signers?(fields: Fields): readonly string[]
  /** Who gets it, where it goes to addresses by which a recipient can be known again. */
  recipients?: Addressees<Fields>
  /** To whom its vendor sends mails by itself, each where the fields name them or ask for it. `data`: of its document. */
  mails?(fields: Fields, data: JsonObject): Addressee[]
  /** The electronic address that it goes to, where directories may know it, its place in the data, and the network that it is made for. */
  electronicAddress?(fields: Fields, data: JsonObject): { scheme: string, id: string, place: string, network?: 'peppol' } | undefined
  /** The hours in which a company usually sends something by it; without them, at any time. */
  hours?: ServiceHours<Fields>
  /** The paper that its document is printed on, and why the provider cannot print a page, where it cannot. */
  paper?: {
    of(fields: Fields, provider: ProviderFacts<Capabilities> | undefined): PaperSize
    check(page: PageSetup, provider: ProviderFacts<Capabilities>): string | undefined
  }
  /** The page that the host may put before its document, where the provider declares one. */
  before?(fields: Fields, capabilities: Capabilities): PageBefore | undefined
  /** The format of the document that it makes, and the field that says so; without it, a PDF. */
  format?: { field: string, of(fields: Fields): FileFormat }
  /** The name that the client wants the document to have, with or without an extension. */
  filename?(fields: Fields): string | undefined
  /** What a request for it may look like, beside its template. */
  example: JsonObject
  /** Its part of the console. */
  console: ConsolePart
  /** Some vendors can take a dispatch back that they have accepted. */
  revocable?: true
  /** What the company may say of it later, where it may. */
  says?: Sayings<Fields>
  /** Each of its documents is about money: one that does not say how much is as one above any amount. */
  aboutMoney?: true
  /** What the dispatch can be found by later. */
  facts(fields: Fields, data: JsonObject): Facts
}

/** What is said of a dispatch. `at`: when it came to be, in UTC; amounts and rates are decimals. */
export type SaidLater = { code: string, at: string, amounts?: readonly { rate: string, amount: string }[], reason?: string }

/** What may be said of a dispatch after it was accepted, and what its provider is handed for it. */
export type Sayings<Fields> = {
  /** What each code is called. */
  names: Readonly<Record<string, string>>
  /** The codes that may be said in a delivery status (null: none yet). */
  codes(fields: Fields, delivery: string | null): readonly string[]
  /** The delivery status that all that was said brings about, where it does. `data`: undefined once they are no longer kept. */
  becomes(fields: Fields, data: JsonObject | undefined, said: readonly SaidLater[]): string | undefined
  /** `id`: of the message; `issued`: when it is made, in UTC. The places of the problems are in what is said. */
  of(fields: Fields, data: JsonObject, saying: SaidLater, made: { id: string, issued: string }): {
    problems: Problem[]
    said?: { status: JsonObject, message: string }
  }
}

/**
 * A page with the address of the recipient before a document, for a vendor that reads it there. `when`: only for requests in which the
 * values at these JSON pointers fit. `windows`: places by the values of a setting of the provider. `blankBack`: its back stays empty.
 */
export type PageBefore = {
  when?: Readonly<Record<string, Json>>
  window: EnvelopeWindow
  windows?: { setting: string, places: Readonly<Record<string, EnvelopeWindow>> }
  lines: readonly string[]
  blankBack: boolean
}

/**
 * A fact that the fields of a service and the data of a template both state, so that they must agree. What is compared are values and not
 * texts: two writings of a day or of a street are one.
 */
export type SharedFact<Fields> = {
  /** JSON pointers below the fields and below the data. */
  field: string
  data: string
  /** Whether both say something, and not the same. */
  differ(fields: Fields, data: JsonObject): boolean
  /** The templates that state it: those with this vocabulary, or else those that are made for the service. */
  vocabulary?: 'invoice'
  /**
   * It says who gets something. Whoever tries a template out sends its sample to somebody, which is a warning; and a retry may correct it,
   * though the document is made.
   */
  isRecipient?: true
}

/**
 * A field that the data of a template may state. `place`: a JSON pointer below the data; `read`: what stands there, as the field says it,
 * which its schema then judges.
 */
export type StatedField = { place: string, read?: (stated: Json) => Json }

/** One of those who get something: the field that names them, and their place in it where that is a list. */
export type Addressee = { address: string, field: string, index?: number }

/**
 * The recipients of a service. `known`: an address in the one writing in which all are compared; undefined for what is none.
 * `suppressedBy`: what becomes of a dispatch after which nothing more may be sent to its recipient, and why. `suppressesNobody`: whether
 * a dispatch says nothing of its recipient, whatever becomes of it.
 */
export type Addressees<Fields> = {
  in(fields: Fields): Addressee[]
  known(address: string): string | undefined
  suppressedBy?: Readonly<Record<string, SuppressionReason>>
  suppressesNobody?(fields: Fields): boolean
  /** The field that asks for a way to unsubscribe, and who may, where it does. */
  unsubscribing?: { field: string, of(fields: Fields): string | undefined }
}

/**
 * Why nothing is sent to somebody: no mail server has them, a letter came back, they complained, they asked for it by a click or by an
 * answer, or the company does not want it.
 */
export const suppressionReasons = ['hard_bounce', 'returned', 'complaint', 'unsubscribed', 'stopped', 'manual'] as const
export type SuppressionReason = typeof suppressionReasons[number]

/** A template as its facts are looked for: `services` are those that it is made for. */
export type FactsTemplate = {
  services?: readonly string[]
  vocabulary?: string
  schema?: JsonObject
  sample?: JsonObject
}

/** What a template is made for: pages, an e-mail, or the text of a message. */
export type Channel = 'pages' | 'mail' | 'message'

/** The texts of a message, and the ids of the documents that its HTML shows as `cid:<contentId>`. */
export type ShownMessage = { html?: string, text?: string, pictures?: { contentId: string, id: string }[] }

/** How networks count the text of a message; nothing where it is not made yet, or no text message. */
export type Measure = { text?: SmsText }

/** A service that providers do: what they declare about themselves, and what they are handed. */
export type ProvidedService<
  Name extends string,
  Fields,
  Capabilities,
  Kind extends ContentKind,
  Dispatch,
  Delivery extends DeliveryRules | undefined = undefined
> =
  & Service<Name, Fields, Capabilities, Kind>
  & (Delivery extends undefined ? unknown : {
    /** What becomes of a dispatch that its provider has accepted. */
    delivery: Delivery
  })
  & {
    capabilities: TObject
    /** The lists of words among the capabilities, each with the field of a request that holds one of them. */
    choices?: Readonly<Record<string, string>>
    /** The words of the data that its providers are handed. */
    vocabulary?: 'invoice'
    /** The outline of a new provider. */
    outline: Outline
    /** What the provider is asked: plain data, with every default in its place, in the words that it declares. */
    request(fields: Fields, made: StepContent<Kind>, capabilities?: Capabilities): Dispatch
  }

/**
 * The template of a request. `unless`: the service's own field that can take its place, beside it or (`exclusive`) not.
 * `byName`: the field of the request that can name a template by its name. `channel`: what its template is made for;
 * `takes`: what else it may be made for. `orGiven`: at the beginning of a path a document may be given instead. `subject`: the field that
 * the subject of the template takes the place of, where the request leaves it out.
 */
export type TemplateUse = {
  orGiven?: true
  unless?: string
  exclusive?: true
  byName?: string
  channel: Channel | 'any'
  takes?: readonly Channel[]
  subject?: string
}

/**
 * Where a service may stand in a chain. `produces`: it can begin one, with the document that all others take. `consumes`: what
 * it takes of that document when it comes later; without it the service only begins. `formats`: those that it can take;
 * without it, any. `takes`: whether an attachment is asked for. `last`: nothing comes after it.
 */
export type ChainPlace = {
  produces?: 'document'
  consumes?: 'document' | 'attachment' | 'link'
  formats?: readonly FileFormat[]
  takes?(fields: JsonObject): boolean
  last?: true
}

/**
 * Services as the pipeline sees them. The schema has checked the fields, the manifest has checked the capabilities, and the content has the
 * service's kind.
 */
export type AnyService = Service<string, JsonObject, JsonObject, ContentKind> & { capabilities?: never, request?: never }
export type AnyProvidedService<Dispatch> = ProvidedService<string, JsonObject, JsonObject, ContentKind, Dispatch>

/** The input of a service's rules. `today` is the date in UTC, YYYY-MM-DD. */
export type CheckInput<Fields, Capabilities> = {
  fields: Fields
  /** Where a field of the service stands in the client's request. */
  at: (field: string) => string
  data: JsonObject
  /** Of the request's template; empty when it has none. `showsPictures`: whether it does with the data. */
  template: FactsTemplate & { documentType?: string, currency?: string, showsPictures?: () => boolean }
  provider: ProviderFacts<Capabilities> & { settings?: JsonObject } | undefined
  /** What its fields enclose. */
  enclosed?: readonly Enclosed[]
  /** The document that the request gives, at the beginning of its path. */
  given?: Enclosed
  today: string
  /** The other services in the path. */
  otherServices: readonly string[]
  /** A link to the document of the chain, as long as the real one will be; without one there is nothing to link to. */
  link?: string
}

/** The chosen provider. `settings` (of a {@link CheckInput}): what is no secret in its configuration, where it has a valid one. */
export type ProviderFacts<Capabilities> = { code: string, capabilities: Capabilities }

/** The findings of the rules; empty lists are left out. `expectations` are violations of the e-mail configuration. */
export type Findings = { problems?: Problem[], expectations?: Problem[], warnings?: Problem[] }

export type Facts = { documentType?: string, documentNumber?: string, recipient?: string }

import { isCurrency, isRecord } from '@dispatch/common'
import { readImage } from '../image/read.ts'
import type { Block } from '../model/blocks.ts'
import { type Brand, brandOf, brandValues } from '../model/brand.ts'
import type { ImageData, ResolvedDocument } from '../model/document.ts'
import { type Fault, renderError, TemplateError } from '../model/errors.ts'
import { renderLimits } from '../model/limits.ts'
import type { TemplateSource } from '../model/model.ts'
import { inOneLine } from '../model/output.ts'
import { type PaperSize, usualPaper } from '../model/paper.ts'
import { pageOf, styleOf } from '../model/style.ts'
import { compileBlocks, resolveBlocks } from './blocks.ts'
import { type CompileContext, contextBelow, noInclusion } from './compile-context.ts'
import { emptyFieldUsage, type FieldUsage, type Read } from './field-usage.ts'
import { decodeAssets } from './image.ts'
import { compileLanguage } from './language.ts'
import { compileProse, plainText } from './prose.ts'
import { newScope, type Scope } from './scope.ts'

/** A compiled template, for any number of documents. */
export type CompiledTemplate = {
  /** Fills in the data. Throws a RenderError when they do not fit the template. `paper`: the paper for a page size of `auto`. */
  readonly resolve: (data: unknown, paper?: PaperSize) => ResolvedDocument
  /** The subject of a mail, in one line; absent where the template has none. Throws a RenderError as `resolve` does. */
  readonly subject?: (data: unknown) => string
  /** The fields of the data that the template reads. */
  readonly uses: FieldUsage
  readonly reads: readonly Read[]
  /** The numbers of the signers who may have a place in the documents; the data decide which of them have one. */
  readonly signers: ReadonlySet<number>
  /** The facts about its documents that do not depend on the data. */
  readonly source: Pick<TemplateSource, 'archival' | 'currency'>
}

/** Compiles a template for every output format. Throws a TemplateError with all its faults, as JSON pointers into template.yaml. */
export function compileTemplate (source: TemplateSource): CompiledTemplate {
  const { faults, includedAt: _, ...template } = examineTemplate(source)
  if (faults.length > 0) throw new TemplateError(faults)
  return template
}

/** Compiles a template as far as possible. Answers its faults, the fields that it reads, and where it includes each partial first. */
export function examineTemplate (source: TemplateSource): CompiledTemplate & {
  readonly faults: readonly Fault[]
  readonly includedAt: ReadonlyMap<string, string>
} {
  const site: CompileContext = {
    at: '',
    names: {},
    texts: source.texts ?? {},
    takesBrand: source.brand !== undefined,
    pageFields: false,
    isInside: false,
    depth: 0,
    uses: emptyFieldUsage(),
    reads: [],
    signers: new Set(),
    inclusion: noInclusion(),
    faults: []
  }
  const begin = compileScope(source, site)
  const resolve = compileDocument(source, site)
  const subject = source.subject === undefined ? undefined : compileSubject(source.subject, contextBelow(site, 'subject'))
  return {
    faults: distinct(site.faults),
    includedAt: site.inclusion.includedAt,
    uses: site.uses,
    reads: site.reads,
    signers: site.signers,
    source,
    resolve: (data, paper = usualPaper) => resolve(begin(data), paper),
    ...(subject === undefined ? {} : { subject: (data) => subject(begin(data)) })
  }
}

/** Compiles what all texts of a document depend on: its language and its currency. */
function compileScope (source: TemplateSource, site: CompileContext): (data: unknown) => Scope {
  const language = compileLanguage(source.locale, site)
  const currency = compileCurrency(source.currency ?? 'EUR', contextBelow(site, 'currency'))
  const branded = compileBrand(brandOf(source))
  return (data) => {
    if (!isRecord(data)) throw renderError('', 'type', 'The data of a template are an object.')
    const spoken = language(branded(newScope(data)))
    return { ...spoken, currency: currency(spoken) }
  }
}

/** The brand as a variable of all expressions. Its logo is read once, and counts among the pictures of no document. */
function compileBrand (brand: Brand | undefined): (scope: Scope) => Scope {
  if (brand === undefined) return (scope) => scope
  const variable = { value: brandValues(brand), at: '' }
  const logo = brand.logo === undefined ? undefined : readImage(brand.logo)
  const pictures: readonly (readonly [string, ImageData])[] = typeof logo === 'object' ? [[brand.logo ?? '', logo]] : []
  return (scope) => ({ ...scope, variables: { ...scope.variables, brand: variable }, pictures: new Map([...scope.pictures, ...pictures]) })
}

function compileDocument (source: TemplateSource, site: CompileContext): (scope: Scope, paper: PaperSize) => ResolvedDocument {
  const style = styleOf(source.style ?? {}, brandOf(source))
  const setting = { style, partials: source.partials ?? {}, assets: decodeAssets(source.assets ?? {}, contextBelow(site, 'assets')) }
  const edge = { ...site, pageFields: true }
  const title = compileText(source.title ?? source.name, contextBelow(site, 'title'))
  const author = compileText(source.author ?? '', contextBelow(site, 'author'))
  const preheader = compileText(source.preheader ?? '', contextBelow(site, 'preheader'))
  const watermark = compileWatermark(source.watermark ?? '', contextBelow(site, 'watermark'))
  const header = compileBlocks(source.header ?? [], contextBelow(edge, 'header'), setting)
  const firstHeader = compileBlocks(source.firstHeader ?? [], contextBelow(edge, 'firstHeader'), setting)
  const footer = compileBlocks(source.footer ?? [], contextBelow(edge, 'footer'), setting)
  const body = compileBlocks(source.body, contextBelow(site, 'body'), setting, bodyPlaces(source))
  return (scope, paper) => {
    const word = watermark(scope)
    return {
      title: title(scope),
      author: author(scope),
      preheader: preheader(scope),
      locale: scope.locale,
      page: pageOf(source.page ?? {}, paper),
      style,
      header: resolveBlocks(header, scope),
      footer: resolveBlocks(footer, scope),
      body: resolveBlocks(body, scope),
      ...(source.firstHeader === undefined ? {} : { firstHeader: resolveBlocks(firstHeader, scope) }),
      ...(word === '' ? {} : { watermark: word })
    }
  }
}

/** The places of the body as its author wrote it: the blocks that its layout puts before and after it stand where the layout is named. */
function bodyPlaces ({ layout, body }: TemplateSource): (site: CompileContext, index: number) => CompileContext {
  const isPart = (block: Block | undefined, part: 'before' | 'after'): boolean =>
    block !== undefined && 'partial' in block && block.partial === `${layout}/${part}`
  const first = isPart(body[0], 'before') ? 1 : 0
  const isOfLayout = (index: number): boolean => index < first || index === body.length - 1 && isPart(body[index], 'after')
  return (site, index) => isOfLayout(index) ? { ...site, at: '/layout' } : contextBelow(site, index - first)
}

function compileText (text: string, site: CompileContext): (scope: Scope) => string {
  const prose = compileProse(text, site)
  return (scope) => plainText(prose(scope))
}

function compileWatermark (text: string, site: CompileContext): (scope: Scope) => string {
  const watermark = compileText(text, site)
  return (scope) => {
    const word = watermark(scope)
    if (word.length > renderLimits.watermark) {
      throw renderError('', 'too_large', `A watermark has at most ${renderLimits.watermark} characters.`)
    }
    return word
  }
}

function compileSubject (text: string, site: CompileContext): (scope: Scope) => string {
  const compiled = compileText(text, site)
  return (scope) => {
    const subject = inOneLine(compiled(scope))
    if (subject === '') throw renderError('', 'too_short', 'The subject that the template makes of the data is empty.')
    const { length } = Array.from(subject)
    if (length <= renderLimits.subject) return subject
    throw renderError('', 'too_long',
      `The subject that the template makes of the data has ${length} characters; at most ${renderLimits.subject} are permitted.`)
  }
}

function compileCurrency (text: string, site: CompileContext): (scope: Scope) => string {
  const currency = compileText(text, site)
  return (scope) => {
    const code = currency(scope)
    if (isCurrency(code)) return code
    throw renderError('', 'unknown_currency', `Expected an ISO 4217 currency code, such as EUR, got "${code.slice(0, 20)}".`)
  }
}

/** Prose in several languages may have the same fault in each of them. */
function distinct (faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.map((fault) => [`${fault.path} ${fault.message}`, fault])).values()]
}

import { type MailedSecrets, secretMark } from '@dispatch/accounts'
import { type DocumentHandle, type JsonObject, normalForm, type Observations, observe, secondsSince } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { type FileFormat, fileFormats, type Format, type PaperSize, type Rendered, type Renderer, type TemplateWorkers,
  withBrand } from '@dispatch/documents'
import type { FileStore, StoredFile } from '@dispatch/files'
import { capabilitiesOf } from '@dispatch/host'
import { attaches, checkJoined, cleanFilename, type Content, type ContentKind, type EmailFields, type Enclosed, formatOf, furtherDocuments,
  givenDocument, handleOf, type InlinePicture, isLinked, placeOf, recipientsOf, services, type StepContent } from '@dispatch/services'
import { hash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import type { NewDocument } from '../../store/calls/document-row.ts'
import type { Configurations } from '../../store/configuration/configurations.ts'
import { documentExpiry } from '../document-expiry.ts'
import { findEnclosed, findStored, isWhole, takesPages, withPages } from '../enclosures.ts'
import { shownData } from '../facts.ts'
import type { FileShelf } from '../file-shelf.ts'
import { placeIn } from '../places.ts'
import type { RecipientBook } from '../recipients.ts'
import type { DocumentUrl } from '../respond/result.ts'
import type { Step } from '../step.ts'
import { documentHandleOf, type StoredDocument, storedDocumentOfNew } from '../stored-document.ts'
import { checkPaged, pagesBefore } from './page-before.ts'
import type { Run } from './run.ts'

/** What a step needs before its provider is called. `fresh`: the part that has just been made and is not recorded yet. */
export type PreparedContent = {
  made: StepContent
  document?: StoredDocument
  fresh: { document?: NewDocument, pictures?: readonly NewDocument[], made?: JsonObject }
}

/** Where a document is to be signed. */
type Places = Content['document']['signatures']

/** The document that a chain hands on, and where it is to be signed. `stored`: of one that is not recorded. */
export type ChainDocument = { document: StoredDocument, signatures: Places, stored?: StoredFile }

/** Gets the document that a step takes over, when it is needed. */
export type HandOn = () => Promise<ChainDocument | undefined>

/** What making the content of a step takes. */
export type ContentDependencies = {
  configurations: Configurations
  database: Database
  renderer: Renderer
  templateWorkers: TemplateWorkers
  files: FileStore
  documentUrl: DocumentUrl
  mailedSecrets: MailedSecrets
  newId: () => string
  now: () => Date
  recipients: readonly RecipientBook[]
  shelves: readonly FileShelf[]
}

/**
 * Renders the template of a step, or takes what was rendered before. Throws a RenderError when the data do not fit the template, and
 * `validation_failed` when the result breaks a rule of the service.
 */
export async function prepareContent (dependencies: ContentDependencies, run: Run, step: Step, hand: HandOn): Promise<PreparedContent> {
  const service = services[step.service]
  const content = await makers[service.content](dependencies, run, step, hand)
  const made: StepContent = {
    data: step.template?.data ?? {},
    metadata: run.metadata,
    ...await linkFor(dependencies, step, hand),
    ...unsubscribeUrlFor(dependencies, run, step),
    ...content.content,
    ...withSecret(dependencies, run, step, content.content as Partial<Content['message']>)
  }
  const whole = 'pages' in made ? { ...made, pages: made.pages + pagesBefore(step) } : made
  const problems = [
    ...service.checkContent?.(step.fields, whole, capabilitiesOf(step.by?.provider, step.service)) ?? [],
    ...'signatures' in made ? checkPaged(step, made.document) : []
  ]
  if (problems.length > 0) throw refusal('validation_failed', problems)
  const { document, fresh = {} } = content
  return { made, fresh, ...(document === undefined ? {} : { document }) }
}

/** The link to the chain's document, where a text of the request contains the link token. */
async function linkFor ({ documentUrl }: ContentDependencies, { fields }: Step, hand: HandOn): Promise<{ link?: string }> {
  const chain = isLinked(fields) ? await hand() : undefined
  return chain === undefined ? {} : { link: documentUrl(chain.document) }
}

/** Where the recipient of a step asks for no more, if the request asks for that. */
function unsubscribeUrlFor (
  { recipients: [book] }: ContentDependencies,
  { companyId }: Run,
  { service, fields }: Step
): { unsubscribeUrl?: string } {
  const address = services[service].recipients?.unsubscribing?.of(fields)
  return book === undefined || address === undefined ? {} : { unsubscribeUrl: book.unsubscribeUrl(companyId, { service, address }) }
}

/**
 * The secret of a one-time link, in the mail that the service itself sends. What is stored of the mail has a mark in its place. In anybody
 * else's mail the mark becomes a secret that opens nothing.
 */
function withSecret (
  { mailedSecrets }: ContentDependencies,
  { dispatchId }: Run,
  { fields }: Step,
  { html, text }: Partial<Content['message']>
): { secret?: string, html?: string, text?: string } {
  if (html?.includes(secretMark) !== true) return {}
  const secret = mailedSecrets({ dispatchId, ...recipientsOf(fields as EmailFields) })
  return { secret, html: html.replaceAll(secretMark, secret), ...(text === undefined ? {} : { text: text.replaceAll(secretMark, secret) }) }
}

/** Only a PDF has pages and places for signatures. */
type MadeFile = Rendered<FileFormat> & Partial<Pick<Rendered<'pdf'>, 'pages' | 'signatures'>>

type Contents<Kind extends ContentKind> = { content: Content[Kind], document?: StoredDocument, fresh?: PreparedContent['fresh'] }

/** Makes each kind of content: from the step's own template, or from the chain's document. */
const makers: {
  readonly [Kind in ContentKind]: (dependencies: ContentDependencies, run: Run, step: Step, hand: HandOn) => Promise<Contents<Kind>>
} = {
  async document (dependencies, run, step, hand) {
    const { document, made } = step.content
    const isMade = isWhole(step.fields, document, made)
    const enclosed = await findEnclosed(dependencies, run.companyId, { service: step.service, fields: step.fields, whole: isMade })
    const further = enclosed.filter(({ field }) => field === furtherDocuments)
    const beside = enclosed.filter(({ field }) => field !== furtherDocuments && field !== givenDocument).map(handleOf)
    const whole = document !== undefined && isMade
      ? { content: { document: documentHandleOf(document), ...pagesOf(document), signatures: placesIn(made) }, document }
      : further.length === 0
      ? await alone(dependencies, run, step, { enclosed, hand })
      : await joined(dependencies, run, step, { enclosed, further, hand })
    const places = services[step.service].places?.(step.fields) ?? []
    return {
      ...whole,
      content: {
        ...whole.content,
        ...(places.length === 0 ? {} : { signatures: await onTheirPages(dependencies, run, { places, whole, hand }) }),
        ...(beside.length === 0 ? {} : { attachments: beside })
      }
    }
  },

  async message (dependencies, run, step, hand) {
    const chain = attaches(step.fields) ? await hand() : undefined
    const { beside, shown } = await enclosedIn(dependencies, run, step)
    const attachments = [...chain === undefined ? [] : [documentHandleOf(chain.document)], ...beside]
    if (step.template === undefined) return { content: { attachments, ...(shown.length === 0 ? {} : { inline: shown }) } }
    const stored = step.content.made
    const { pictures, ...body } = stored === undefined
      ? await renderMessage(dependencies, run, step)
      : { html: textIn(stored, 'html'), text: textIn(stored, 'text'), inline: picturesIn(stored), pictures: [] }
    return {
      content: { ...body, attachments, inline: [...body.inline, ...shown] },
      ...(stored === undefined ? { fresh: { pictures, made: { ...body, inline: body.inline.map((picture) => ({ ...picture })) } } } : {})
    }
  },

  async text (dependencies, run, step) {
    if (step.template === undefined) return { content: {} }
    const stored = step.content.made
    const { text } = stored === undefined ? await render(dependencies, run, step, 'text') : { text: textIn(stored, 'text') }
    return { content: { text }, ...(stored === undefined ? { fresh: { made: { text } } } : {}) }
  },

  async upload (_parts, run, { content: { document } }, hand) {
    return document === undefined
      ? { content: { document: chainContent(run, await hand()).document } }
      : { content: { document: documentHandleOf(document) }, document }
  }
}

/** Places with how large the page of each is, in the PDF that is sent. Throws `validation_failed` where that cannot be read. */
async function onTheirPages (
  dependencies: ContentDependencies,
  { companyId }: Run,
  { places, whole: { content: { document: { id, sha256 } }, fresh }, hand }: {
    places: Places
    whole: Contents<'document'>
    hand: HandOn
  }
): Promise<Places> {
  const { files, templateWorkers } = dependencies
  const made = fresh?.document
  const read = async (): Promise<Uint8Array> => {
    if (made !== undefined) return buffer(await files.stream({ key: made.storageKey, size: made.size, sha256 }))
    const handed = await hand()
    return handed?.stored !== undefined && handed.document.id === id
      ? buffer(await files.stream(handed.stored))
      : readStored(dependencies, companyId, id)
  }
  const reading = await templateWorkers.pages(companyId, sha256, read)
  if (!reading.ok) throw refusal('validation_failed', [{ path: `/${givenDocument}`, ...reading.problem }])
  return places.map((place) => {
    const page = reading.pages[place.page - 1]
    return page === undefined ? place : { ...place, pageSize: { width: page.width, height: page.height } }
  })
}

/** The document of a step that nothing follows: rendered, given, or handed on. */
async function alone (
  dependencies: ContentDependencies,
  run: Run,
  step: Step,
  { enclosed, hand }: { enclosed: readonly Enclosed[], hand: HandOn }
): Promise<Contents<'document'>> {
  if (step.template === undefined) {
    return await givenContent(dependencies, run, step, enclosed) ?? { content: chainContent(run, await hand()) }
  }
  const file: MadeFile = await render(dependencies, run, step, formatOf(step.service, step.fields))
  return freshContent(await storeDocument(dependencies, run, step, file), file)
}

/** A document that has just been stored, with what is kept of how it was made. */
function freshContent (
  fresh: NewDocument,
  { signatures = [], joined = false }: { signatures?: Places, joined?: boolean } = {}
): Contents<'document'> {
  const document = storedDocumentOfNew(fresh)
  const made = {
    ...(signatures.length === 0 ? {} : { signatures: signatures.map((place) => ({ ...place })) }),
    ...(joined ? { joined } : {})
  }
  return {
    content: { document: documentHandleOf(document), ...pagesOf(document), signatures },
    document,
    fresh: { document: fresh, ...(Object.keys(made).length === 0 ? {} : { made }) }
  }
}

/** The document that the request gives, as one of this dispatch: it stays whatever becomes of where it was taken from. */
async function givenContent (
  dependencies: ContentDependencies,
  run: Run,
  step: Step,
  enclosed: readonly Enclosed[]
): Promise<Contents<'document'> | undefined> {
  const { files, newId, now } = dependencies
  const { companyId } = run
  const [given] = enclosed.filter(({ field }) => field === givenDocument)
  const stored = given && await findStored(dependencies, companyId, given.document.id)
  if (given === undefined || stored === undefined) return undefined
  const [read] = run.steps.some(({ service }) => takesPages(service)) ? await withPages(dependencies, companyId, [given]) : []
  const time = now()
  const documentId = newId()
  const storageKey = storageKeyOf(companyId, time, documentId)
  const { size, sha256 } = await files.receive(storageKey, await files.stream(stored))
  return freshContent({
    documentId,
    filename: askedName(step) ?? given.document.filename,
    contentType: given.document.contentType,
    size,
    sha256,
    ...(read?.pdf?.ok === true ? { pages: read.pdf.pages.length } : {}),
    storageKey,
    expiresAt: await expiryOf(dependencies, run, time)
  })
}

/** When a document of a run expires that is made at a time. */
function expiryOf (dependencies: Pick<ContentDependencies, 'configurations'>, { companyId, steps }: Run, time: Date): Promise<Date> {
  return documentExpiry(dependencies, companyId, steps.map(({ service }) => service), time)
}

/** The name that the client wants a PDF to have. */
function askedName ({ service, fields }: Step): string | undefined {
  const requested = services[service].filename?.(fields)
  return requested === undefined ? undefined : cleanFilename(requested, fileFormats.pdf.extension)
}

/** A document before those that follow it: its bytes, their number, its name, and where it is signed. */
type FirstDocument = { read: () => Promise<Uint8Array>, size: number, filename: string, signatures: Places }

/** The document of a step and those that follow it, as one. Throws `validation_failed` where they cannot be joined. */
async function joined (
  dependencies: ContentDependencies,
  run: Run,
  step: Step,
  { enclosed, further, hand }: { enclosed: readonly Enclosed[], further: readonly Enclosed[], hand: HandOn }
): Promise<Contents<'document'>> {
  const { companyId } = run
  const [given] = enclosed.filter(({ field }) => field === givenDocument)
  const first = await firstDocument(dependencies, run, step, { given, hand })
  const size = further.reduce((sum, { document }) => sum + document.size, first.size)
  const tooLarge = checkJoined(size, placeIn(step.service))
  if (tooLarge.length > 0) throw refusal('validation_failed', tooLarge)
  const readAll = async (): Promise<Uint8Array[]> => [
    await first.read(),
    ...await Promise.all(further.map(({ document: { id } }) => readStored(dependencies, companyId, id)))
  ]
  const whole = await dependencies.templateWorkers.join(companyId, readAll)
  if (whole.ok) {
    const file = { bytes: whole.bytes, contentType: 'application/pdf' }
    const stored = await storeFile(dependencies, run, first.filename, file)
    return freshContent({ ...stored, pages: whole.pages }, { signatures: first.signatures, joined: true })
  }
  const { index, problem } = whole
  const fault = index === undefined ? { field: furtherDocuments } : index === 0 ? given : further[index - 1]
  throw refusal('validation_failed', [{ path: fault === undefined ? '/template' : placeOf(fault, placeIn(step.service)), ...problem }])
}

async function firstDocument (
  dependencies: ContentDependencies,
  run: Run,
  step: Step,
  { given, hand }: { given: Enclosed | undefined, hand: HandOn }
): Promise<FirstDocument> {
  const { companyId, dispatchId } = run
  if (step.template !== undefined) {
    const { bytes, signatures = [] }: MadeFile = await render(dependencies, run, step, formatOf(step.service, step.fields))
    return { read: () => Promise.resolve(bytes), size: bytes.byteLength, filename: filenameOf(run, step), signatures }
  }
  if (given !== undefined) {
    const { id, size, filename } = given.document
    return { read: () => readStored(dependencies, companyId, id), size, filename: askedName(step) ?? filename, signatures: [] }
  }
  const chain = await hand()
  if (chain === undefined) throw new Error(`The dispatch ${dispatchId} has no document for its step.`)
  const { document: { id, size, filename }, signatures, stored } = chain
  const read = stored === undefined
    ? () => readStored(dependencies, companyId, id)
    : async () => buffer(await dependencies.files.stream(stored))
  return { read, size, filename, signatures }
}

/** The bytes of a document that a request names. Throws `document_expired` where it has just gone. */
async function readStored (dependencies: ContentDependencies, companyId: number, id: string): Promise<Uint8Array> {
  const stored = await findStored(dependencies, companyId, id)
  if (stored === undefined) throw new DispatchError('document_expired', `The document ${id} is no longer kept.`)
  return buffer(await dependencies.files.stream(stored))
}

/** The files that a mail carries besides: those beside its text, and the pictures that it shows. */
async function enclosedIn (
  dependencies: ContentDependencies,
  { companyId }: Run,
  step: Step
): Promise<{ beside: DocumentHandle[], shown: InlinePicture[] }> {
  const enclosed = await findEnclosed(dependencies, companyId, step)
  return {
    beside: enclosed.filter(({ inline }) => inline === undefined).map(handleOf),
    shown: enclosed.flatMap((one) => one.inline === undefined ? [] : [{ ...handleOf(one), contentId: one.inline }])
  }
}

function chainContent ({ dispatchId }: Run, chain: ChainDocument | undefined): Content['document'] {
  if (chain === undefined) throw new Error(`The dispatch ${dispatchId} has no document for its step.`)
  const { document, signatures } = chain
  return { document: documentHandleOf(document), ...pagesOf(document), signatures }
}

function pagesOf ({ pages }: { pages?: number }): { pages?: number } {
  return pages === undefined ? {} : { pages }
}

/** Renders with the signers of the step that has some, and with the paper of the step that posts the document. */
async function render<F extends Format> (
  { renderer, now }: ContentDependencies,
  run: Run,
  { template: content, ...step }: Step,
  format: F
): Promise<Rendered<F>> {
  const { companyId, steps } = run
  if (content === undefined) throw new Error('There is no template to render.')
  const { template: { brand, companyId: author } } = content
  // What cannot show pictures goes without the logo of the brand.
  const logo = format !== 'html' || capabilitiesOf(step.by?.provider, step.service)?.capabilities['inlinePictures'] !== false
  const { id, version, digest, source } = withBrand(content.template, brand, { logo })
  const signers = signersOf(steps)
  const paper = paperFor(run)
  const job = {
    template: { id, version, digest, source },
    data: shownData({ ...step, template: content }, steps),
    format,
    now: now().toISOString(),
    ...(signers === undefined ? {} : { signers }),
    ...(paper === undefined ? {} : { paper })
  }
  const begun = performance.now()
  let outcome: Observations['rendering']['outcome'] = 'failed'
  try {
    const rendered = await renderer.render(job, { companyId, template: author === null ? 'shared' : 'own' })
    outcome = 'made'
    return rendered
  } finally {
    observe('rendering', { format, outcome, seconds: secondsSince(begun) })
  }
}

/** The names of those who sign, of the step that has some. */
export function signersOf (steps: readonly Pick<Step, 'service' | 'fields'>[]): readonly string[] | undefined {
  return steps.map(({ service, fields }) => services[service].signers?.(fields)).find((names) => names !== undefined)
}

/** The paper size of the step that posts the document, on the path or deferred. */
function paperFor ({ steps, deferred }: Run): PaperSize | undefined {
  return [...steps, ...deferred].map(({ service, fields, by }) =>
    services[service].paper?.of(fields, capabilitiesOf(by?.provider, service))
  ).find((paper) => paper !== undefined)
}

type Body = { html: string, text: string, inline: InlinePicture[] }

/** Renders a mail and stores its pictures, so that a repeated call sends the same mail. */
async function renderMessage (dependencies: ContentDependencies, run: Run, step: Step): Promise<Body & { pictures: NewDocument[] }> {
  const { html, text, inline } = await render(dependencies, run, step, 'html')
  const pictures = await Promise.all(inline.map(({ filename, ...picture }) => storeFile(dependencies, run, filename, picture)))
  return {
    html,
    text,
    pictures,
    inline: pictures.map((picture, index) => ({ ...documentHandleOf(storedDocumentOfNew(picture)), contentId: inline[index]?.cid ?? '' }))
  }
}

async function storeDocument (dependencies: ContentDependencies, run: Run, step: Step, file: MadeFile): Promise<NewDocument> {
  return { ...await storeFile(dependencies, run, filenameOf(run, step), file), ...pagesOf(file) }
}

async function storeFile (
  dependencies: ContentDependencies,
  run: Run,
  filename: string,
  { bytes, contentType }: { bytes: Uint8Array, contentType: string }
): Promise<NewDocument> {
  const { files, newId, now } = dependencies
  const time = now()
  const documentId = newId()
  const storageKey = storageKeyOf(run.companyId, time, documentId)
  await files.put(storageKey, bytes)
  return {
    documentId,
    filename,
    contentType,
    size: bytes.byteLength,
    sha256: hash('sha256', bytes),
    storageKey,
    expiresAt: await expiryOf(dependencies, run, time)
  }
}

/** The folders of the storage that have files of companies: documents, and what companies upload. */
export const fileFolders = ['documents', 'files', 'received'] as const
export type FileFolder = typeof fileFolders[number]

/** The storage key of a document: by company, and by the day on which it was made. */
export function storageKeyOf (companyId: number, time: Date, documentId: string, folder: FileFolder = 'documents'): string {
  return `${folder}/${companyId}/${time.toISOString().slice(0, 10)}/${documentId}`
}

/** The name that the client asked for, or `<template>-<number>`, with the extension of the format. */
function filenameOf (run: Run, step: Step): string {
  const { extension } = fileFormats[formatOf(step.service, step.fields)]
  const requested = services[step.service].filename?.(step.fields)
  return (requested === undefined ? undefined : cleanFilename(requested, extension)) ?? `${stemOf(run, step)}.${extension}`
}

/** The file name without its extension, in characters that every file system takes. */
function stemOf ({ documentNumber, dispatchId }: Run, { template }: Step): string {
  const name = `${template?.template.name ?? 'document'}-${documentNumber ?? dispatchId}`
  // The cut at 100 may leave half of a surrogate pair.
  return normalForm(name).replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 100).replace(/\p{Cs}$/u, '')
}

function textIn (made: JsonObject, name: string): string {
  const text = made[name]
  return typeof text === 'string' ? text : ''
}

/** The places for signatures of a document that was made before. */
export function placesIn (made: JsonObject | undefined): Places {
  return (made?.['signatures'] ?? []) as unknown as Places
}

/** The pictures of a mail that was made before. */
function picturesIn (made: JsonObject): InlinePicture[] {
  return (made['inline'] ?? []) as unknown as InlinePicture[]
}

/** `@dispatch/documents`: makes a PDF, a DOCX, an XLSX, HTML for e-mail, or plain text from a template and its data. */

// One document in this process.
export { render, renderDocx, renderHtml, type RenderOptions, renderPdf, renderText, renderXlsx } from './one.ts'
export { RenderError, TemplateError } from './model/errors.ts'

// Templates: the model, a folder with a template, a template compiled for many documents.
export type { Brand } from './model/brand.ts'
export type { KeptPartial, KeptPartials, PartialKind } from './model/partial.ts'
export { templateLanguage, type TemplateSource } from './model/model.ts'
export { readTemplateFiles, type TemplateFiles } from './source/files.ts'
export { readTemplateFolder } from './source/read-folder.ts'
export type { TemplateFolder } from './source/folder.ts'
export { compileTemplate, type CompiledTemplate } from './compile/compile.ts'
export type { EnvelopeWindow } from './model/document.ts'
export type { AddressPage } from './given/address-page.ts'
export type { PdfPage, PdfReading } from './given/join-pdfs.ts'
export type { RenderJob, Rendered } from './job.ts'
export { standalone, type HtmlMessage } from './render/html.ts'

// The text of a template, block by block.
export { CannotEdit, editText, newItem, textOfItem } from './edit/edit-text.ts'
export { blockKinds, type BlockList, type OutlinedBlock, outlineOf, type TemplateOutline, type TextKind } from './edit/outline.ts'
export { type DataField, dataFields, type Loop } from './edit/data-fields.ts'

// Documents in threads with limits of time and memory.
export { RendererBusy, createRenderer, type Renderer } from './threads/renderer.ts'
export { TemplateWorkersBusy, createTemplateWorkers, type InvoiceReading, type ProfilesReport,
  type TemplateWorkers } from './threads/template-workers.ts'

// Checks of data and of templates.
export { longestSubject } from './model/limits.ts'
export { dataCheck, type DataCheck, type DataFindings, type SubjectFindings } from './data/data-check.ts'
export { areShort, areSimple, simplePages, simpleSize } from './data/simple-data.ts'
export { needsSigners, tooFewSigners } from './data/signers.ts'
export { isKnownField, requiredFields } from './source/schema-paths.ts'
export { unreadFields } from './compile/field-usage.ts'

// Facts about templates: formats, paper, languages, pictures.
export type { FormatFacts } from './formats/format.ts'
export { apiFileFormats, apiFormats, apiNameOf, eInvoiceFileFormats, fileFormats, formatFacts, isFileFormat, printedFormats, signedFormats,
  templateFormats, usualApiFormat, usualFormats, type ApiFileFormat, type ApiFormat, type FileFormat,
  type Format } from './formats/file-formats.ts'
export { paperSizeOf, paperSizes, sheets, usualPaper, type PageSetup, type PaperSize } from './model/paper.ts'
export { languagesOf } from './compile/language.ts'
export { assetName } from './source/asset-name.ts'
export { type KeptBrand, withBrand } from './data/with-brand.ts'
export { withPlaceholderImages } from './data/placeholder-image.ts'

// Texts: bank accounts, HTML as plain text.
export { isBic, isIban } from './code/epc.ts'
export { textOfHtml } from './text/from-html.ts'

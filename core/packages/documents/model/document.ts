import type { AddressWindow, Align } from './blocks.ts'

/**
 * The result of a template and its data before any output format: no expressions, conditions or loops. Values keep their type. A format
 * with its own numbers and dates (XLSX) uses the typed values; the others print them with {@link import('./format.ts').formatCell}.
 */
export type ResolvedDocument = {
  title: string
  author: string
  /** The text that a mailbox shows beside the subject; '' for none. */
  preheader: string
  locale: string
  page: PageBox
  style: ResolvedStyle
  header: ResolvedBlock[]
  /** The header of the first page, if it has its own. */
  firstHeader?: ResolvedBlock[]
  footer: ResolvedBlock[]
  body: ResolvedBlock[]
  /** A word across every page, such as DRAFT. */
  watermark?: string
}

/** Points. */
export type PageBox = { width: number, height: number, top: number, right: number, bottom: number, left: number }

/** `size` is in points; `lineHeight` is a multiple of it; colours are `#rrggbb`. */
export type ResolvedStyle = { font: FontFamily, size: number, lineHeight: number, text: string, accent: string, muted: string }
export type FontFamily = 'sans' | 'serif' | 'mono'

/** A piece of text in one style, or (in headers and footers) the number of the page or of all pages. `\n` is a line break. */
export type TextRun = Emphasis & ({ text: string } | { field: PageField })
export type Emphasis = { bold?: boolean, italic?: boolean, link?: string }
export type PageField = 'page' | 'pages'

/** A decimal number exactly as in the data, because a binary float would change it. */
export type Decimal = number | string

export type Cell =
  | { type: 'empty' }
  | { type: 'text', runs: TextRun[] }
  | { type: 'money', value: Decimal, currency: string, digits?: number }
  | { type: 'number' | 'percent', value: Decimal, digits?: number }
  /** YYYY-MM-DD. */
  | { type: 'date', value: string }

/** `size` in points, `color` as `#rrggbb`. */
export type TextBlock = { runs: TextRun[], align: Align, color: string, size?: number }
export type ResolvedColumn = { header: TextRun[], width: number, align: Align }
export type ResolvedTotal = { label: TextRun[], cell: Cell, strong: boolean }
/**
 * Rows with a heading over them across all columns, and totals under them. A table without groups is one section without heading and
 * totals.
 */
export type TableSection = { heading: TextRun[], rows: Cell[][], totals: ResolvedTotal[] }
export type TableBlock = { kind: 'table', columns: ResolvedColumn[], sections: TableSection[], totals: ResolvedTotal[] }
export type ImageBlock = { kind: 'image', image: ImageData, alt: string, width?: number, height?: number, align: Align }
/** `height` is the least height. */
export type ColumnsBlock = { kind: 'columns', gap: number, height: number, columns: { width: number, blocks: ResolvedBlock[] }[] }
export type KeyValuesBlock = { kind: 'keyValues', labels: number, values: number, entries: { label: TextRun[], cell: Cell }[] }

/**
 * A machine-readable code; its size includes its quiet zone. `label` is the text for people under it, '' for none. Formats without vectors
 * use its picture: {@link import('./code/picture.ts').pictureOf}.
 */
export type CodeBlock = {
  kind: 'code'
  symbology: Symbology
  /** Draws the code, once. */
  modules: () => Modules
  width: number
  height: number
  align: Align
  alt: string
  label: string
}
export type Symbology = 'qr' | 'code128' | 'ean13'
/** Dark rectangles on a light background of `columns` by `rows` modules, with the quiet zone. */
export type Modules = { columns: number, rows: number, dark: readonly Rectangle[] }
export type Rectangle = { x: number, y: number, width: number, height: number }

/** Blocks that stay on one page if they fit on one. */
export type GroupBlock = { kind: 'group', blocks: ResolvedBlock[] }

/** A window of an envelope, or the part of it that an address may fill: in millimetres from the top left corner of the page. */
export type EnvelopeWindow = { left: number, top: number, width: number, height: number }

/**
 * A recipient, line by line, in the window of an envelope. `sender` is one line in small type above; `beside` is the content on the other
 * side of the page.
 */
export type AddressBlock = {
  kind: 'address'
  window: AddressWindow | EnvelopeWindow
  lines: TextRun[][]
  sender: TextRun[]
  beside: ResolvedBlock[]
}

/** `url` is a safe URL: see {@link import('./links.ts').linkOf}. */
export type ButtonBlock = { kind: 'button', text: string, url: string }
/** `signer` counts from 1; `width` and `height` are those of the empty space for the signature. */
export type SignatureBlock = { kind: 'signature', signer: number, label: TextRun[], width: number, height: number }

/** Distances are in points, widths of columns in shares. */
export type ResolvedBlock =
  | { kind: 'heading', level: number } & TextBlock
  | { kind: 'paragraph' } & TextBlock
  | ColumnsBlock
  | KeyValuesBlock
  | TableBlock
  | ImageBlock
  | CodeBlock
  | GroupBlock
  | AddressBlock
  | ButtonBlock
  | SignatureBlock
  | { kind: 'spacer', height: number }
  | { kind: 'pageBreak' }
  | { kind: 'rule', color: string, thickness: number }

/** A checked picture; its size is in pixels. */
export type ImageData = { format: 'png' | 'jpeg', bytes: Uint8Array, width: number, height: number }

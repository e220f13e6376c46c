/** A place in a file: line and column from 1. */
export type Place = { line: number, column: number }

/**
 * Bytes that are no invoice that can be read. `code`: `not_xml`, `document_type`, `too_large`, `not_an_invoice`, or of a PDF `not_a_pdf`,
 * `encrypted`, `no_invoice`.
 */
export class UnreadableInvoice extends Error {
  override name = 'UnreadableInvoice'
  readonly code: string
  readonly place: Place | undefined

  constructor (code: string, message: string, { place, cause }: { place?: Place | undefined, cause?: unknown } = {}) {
    super(message, { cause })
    this.code = code
    this.place = place
  }
}

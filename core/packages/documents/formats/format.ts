import type { EInvoiceFormat } from '@dispatch/einvoice'
import type { ResolvedDocument } from '../model/document.ts'

/** A format, without what makes it: that is loaded when the first document is made. */
export type FormatFacts = {
  /** The name by which the renderer knows it: that of its folder. */
  name: string
  /** How clients ask for it; without it, only services do. */
  apiName?: string
  /** As a file; without it, it is the content of a message. */
  file?: { extension: string, contentType: string }
  /** An e-invoice of this syntax, made of invoice data as in EN 16931. */
  eInvoice?: EInvoiceFormat
  /** `fixed`: it can be printed, and what has no place on a page is refused. `none`: nothing of the template stands in it. */
  pages: 'fixed' | 'flowing' | 'none'
  /** It has places for signatures. */
  signed?: true
  /** Whether browsers show it. */
  shown: 'always' | 'often' | 'never'
  make: () => Promise<{ make: (page: () => ResolvedDocument, making: Making) => unknown }>
}

/** `data` as the template reads them; `xml`: the XML of an e-invoice, `conformance`: its level as a Factur-X names it. */
export type Making = { data: () => unknown, now: Date, archival: boolean, xml: string, conformance: string }

/** What makes a document. `page` evaluates the template with the data. The bytes of a file own their memory. */
export type Maker<Made> = (page: () => ResolvedDocument, making: Making) => Made | Promise<Made>

import type { Problem } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import type { Templates } from '@dispatch/core'
import { RenderError, standalone, type TemplateWorkers } from '@dispatch/documents'
import type { InvoiceFile } from '@dispatch/einvoice'
import { token } from '@dispatch/plugins/feature'

/** A page that people can read, as a file. */
export type Page = { bytes: Uint8Array, contentType: string, extension: 'html' | 'pdf' }

/**
 * Reads files of strangers, in threads with limits of time and memory. Nothing is stored. Both throw `validation_failed` with the reason
 * where a file cannot be read or shown.
 */
export type InvoiceReader = {
  read: (companyId: number, file: Uint8Array) => Promise<InvoiceFile>
  show: (companyId: number, invoice: InvoiceFile, page: { format: Page['extension'], language?: string }) => Promise<Page>
}

export const invoiceReader = token<InvoiceReader>('invoiceReader')

type Parts = { now: () => Date, templates: Pick<Templates, 'find'>, templateWorkers: Pick<TemplateWorkers, 'read' | 'render'> }

/** The shared template of e-invoices, whose page shows all that their data say to people. */
const template = { id: 4 }

/** Reads the files of e-invoices. Throws `validation_failed` for one that cannot be read or shown, with the place of each fault. */
export function createReader ({ now, templates, templateWorkers }: Parts): InvoiceReader {
  return {
    async read (companyId, file) {
      const reading = await templateWorkers.read(companyId, file)
      if (reading.ok) return reading.invoice
      throw refusal('validation_failed', [{ path: '/file', ...reading.problem }])
    },

    async show (companyId, { data }, { format, language }) {
      const { id, version, digest, source } = await templates.find(companyId, template)
      const job = {
        template: { id, version, digest, source },
        // Some profiles have no lines.
        data: { lines: [], ...data, ...(language !== undefined && { language }) },
        now: now().toISOString()
      }
      try {
        if (format === 'pdf') {
          const { bytes, contentType } = await templateWorkers.render(companyId, { ...job, format: 'pdf' })
          return { bytes, contentType, extension: 'pdf' }
        }
        const made = await templateWorkers.render(companyId, { ...job, format: 'html' })
        return { bytes: Buffer.from(standalone(made)), contentType: 'text/html; charset=utf-8', extension: 'html' }
      } catch (error) {
        if (error instanceof RenderError) throw refusal('validation_failed', error.problems.map(inFile))
        throw error
      }
    }
  }
}

/** What the page needs, and the file does not say; or the language that was asked for, which the page does not have. */
function inFile (problem: Problem): Problem {
  return { ...problem, path: problem.code === 'unknown_language' ? '/query/language' : `/data${problem.path}` }
}

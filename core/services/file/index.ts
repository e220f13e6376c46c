import type { FileFormat } from '@dispatch/documents'
import { type Static, Type } from 'typebox'
import { textAt } from '../data.ts'
import type { Service } from '../service.ts'
import { console } from './console.ts'

/** The formats that a request may ask for, with the renderer's names. */
const outputFormats = { PDF: 'pdf', DOCX: 'docx', XLSX: 'xlsx' } as const satisfies Record<string, FileFormat>
type OutputFormat = keyof typeof outputFormats

const defaults = { outputFormat: 'PDF' } as const

/** The fields of the file service. */
export const FileFields = Type.Object({
  outputFormat: Type.Optional(
    Type.Enum(Object.keys(outputFormats) as [OutputFormat, ...OutputFormat[]], { default: defaults.outputFormat })
  ),
  filename: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'The file name of the download; a missing extension is added.' })
  )
}, { title: 'FileFields', additionalProperties: false })
export type FileFields = Static<typeof FileFields>

export const file: Service<'file', FileFields, never, 'document'> = {
  name: 'file',
  summary: 'Generates a document.',
  fields: FileFields,
  topLevelFields: [],
  required: [],
  template: { byName: 'fileContent', channel: 'any' },
  content: 'document',
  chain: { produces: 'document' },
  price: 0,
  console,

  check: () => ({}),

  format: { field: 'outputFormat', of: ({ outputFormat = defaults.outputFormat }) => outputFormats[outputFormat] },

  filename: ({ filename }) => filename,

  example: { file: { filename: 'document.pdf' } },

  facts: (_fields, data) => ({ ...textAt(data, '/number', 'documentNumber'), ...textAt(data, '/customer/name', 'recipient') })
}

import { Type, type Static } from 'typebox'
import type { Problem } from '../contract/errors.ts'
import { textAt } from './data.ts'
import { cleanFilename } from './filename.ts'
import type { Service, Subject } from './service.ts'

const outputFormats = ['PDF', 'DOCX', 'XLSX'] as const

/** The formats that can be made, with the extension of their files. */
const makeable: Partial<Record<typeof outputFormats[number], string>> = { PDF: 'pdf' }

const defaults = { outputFormat: 'PDF' } as const

/** The fields of the file service. */
export const FileFields = Type.Object({
  outputFormat: Type.Optional(Type.Enum(outputFormats, { default: defaults.outputFormat })),
  filename: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'The name of the download; the extension is added where it is missing.' }))
}, { additionalProperties: false })
export type FileFields = Static<typeof FileFields>

export const file: Service<'file', FileFields, never, 'document'> = {
  name: 'file',
  summary: 'Makes a document.',
  fields: FileFields,
  lifted: [],
  required: [],
  template: { byName: 'fileContent' },
  content: 'document',
  chain: { produces: 'document' },
  price: 0,

  check: (subject) => ({ problems: checkFormat(subject) }),

  filename ({ filename, outputFormat }) {
    const extension = makeable[outputFormat ?? defaults.outputFormat]
    return filename === undefined || extension === undefined ? undefined : cleanFilename(filename, extension)
  },

  example: { file: { filename: 'document.pdf' } },

  facts: (_fields, data) => ({ ...textAt(data, '/number', 'documentNumber'), ...textAt(data, '/customer/name', 'recipient') })
}

function checkFormat ({ fields, at }: Subject<FileFields, never>): Problem[] {
  const { outputFormat } = { ...defaults, ...fields }
  if (makeable[outputFormat] !== undefined) return []
  return [{ path: at('outputFormat'), code: 'not_supported', message: `${outputFormat} files cannot be made yet; ${Object.keys(makeable).join(', ')} can.` }]
}

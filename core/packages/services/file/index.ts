import { textAt } from '@dispatch/common'
import { type ApiFileFormat, apiFileFormats, usualApiFormat, usualFormats } from '@dispatch/documents'
import { type Static, Type } from 'typebox'
import { checkGiven, givenIn, type WithGivenDocument } from '../enclosures.ts'
import type { Service } from '../service.ts'
import { console } from './console.ts'

/** The fields of the file service. */
export const FileFields = Type.Object({
  outputFormat: Type.Optional(
    Type.Enum(Object.keys(apiFileFormats) as [ApiFileFormat, ...ApiFileFormat[]], { default: usualApiFormat })
  ),
  filename: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'The file name of the download; a missing extension is added.' })
  )
}, { title: 'FileFields', additionalProperties: false })
export type FileFields = Static<typeof FileFields> & WithGivenDocument

export const file: Service<'file', FileFields, never, 'document'> = {
  name: 'file',
  summary: 'Generates a document.',
  fields: FileFields,
  topLevelFields: [],
  required: [],
  template: { byName: 'fileContent', channel: 'any', orGiven: true },
  content: 'document',
  chain: { produces: 'document' },
  price: 0,
  console,

  encloses: givenIn,

  check: ({ fields: { document, outputFormat = usualApiFormat }, at, enclosed = [] }) => ({
    problems: [
      ...checkGiven(enclosed, at),
      ...document === undefined || outputFormat === usualApiFormat ? [] : [{
        path: at('outputFormat'),
        code: 'contradiction',
        message: 'A document that is given is handed on as it is: leave the format out.'
      }]
    ]
  }),

  format: {
    field: 'outputFormat',
    of: ({ outputFormat }) => outputFormat === undefined ? usualFormats.document : apiFileFormats[outputFormat]
  },

  filename: ({ filename }) => filename,

  example: { file: { filename: 'document.pdf' } },

  facts: (_fields, data) => ({ ...textAt(data, '/number', 'documentNumber'), ...textAt(data, '/customer/name', 'recipient') })
}

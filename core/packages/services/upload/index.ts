import type { DocumentHandle, Problem } from '@dispatch/common'
import { type Static, Type } from 'typebox'
import { checkMax } from '../limits.ts'
import type { ProvidedService, ProviderFacts } from '../service.ts'
import { console } from './console.ts'
import { delivery } from './delivery.ts'
import { outline } from './outline.ts'

/** The upload service has no fields of its own: the file is a part of the request. */
export const UploadFields = Type.Object({}, { title: 'UploadFields', additionalProperties: false })
export type UploadFields = Static<typeof UploadFields>

/** What an upload provider declares. */
export const UploadCapabilities = Type.Object({
  maxSize: Type.Optional(Type.Integer({ minimum: 1, description: 'The largest file in bytes.' }))
}, { additionalProperties: false })
export type UploadCapabilities = Static<typeof UploadCapabilities>

/** What an upload provider is asked to store. */
export type UploadDispatch = { document: DocumentHandle, metadata: Readonly<Record<string, string>> }

export const upload: ProvidedService<'upload', UploadFields, UploadCapabilities, 'upload', UploadDispatch, typeof delivery> = {
  name: 'upload',
  summary: 'Stores a file.',
  fields: UploadFields,
  topLevelFields: [],
  required: [],
  content: 'upload',
  chain: { consumes: 'document', last: true },
  capabilities: UploadCapabilities,
  price: 0,
  console,
  outline,
  delivery,

  check: () => ({}),

  checkContent: (_fields, { document }, provider) => provider === undefined ? [] : checkFileSize(document.size, provider, '/template'),

  request: (_fields, { document, metadata }) => ({ document, metadata }),

  example: {},

  facts: () => ({})
}

/** Whether the provider takes a file of so many bytes. `place`: where it comes from. */
export function checkFileSize (size: number, provider: ProviderFacts<UploadCapabilities>, place = '/file'): Problem[] {
  return checkMax(provider, place, size, provider.capabilities.maxSize, 'bytes a file')
}

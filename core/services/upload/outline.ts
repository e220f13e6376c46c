import type { Outline } from '../outline.ts'

export const outline: Outline = {
  capabilities: [],
  path: '/v1/files',
  body: 'multipart',
  request: { document: { filename: 'report.pdf' } },
  filled: '{ name: request.document.filename, file: request.document }',
  sends: { name: 'report.pdf', file: { document: '/document' } }
}

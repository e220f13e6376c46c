import { documentValue, type Outline } from '../outline.ts'

export const outline: Outline = {
  capabilities: [],
  path: '/v1/files',
  body: 'multipart',
  request: { document: { filename: 'report.pdf' } },
  filled: '{ name: request.document.filename, file: request.document }',
  sends: { name: 'report.pdf', file: { document: '/document' } },
  verbs: 'upload|file|document|object',
  means: [
    { names: 'file|content|data|media|body', code: 'request.document', value: documentValue },
    { names: 'name|filename|title', code: 'request.document.filename', value: 'report.pdf' },
    { names: 'contenttype|mimetype|type', code: 'request.document.contentType', value: 'application/pdf' }
  ]
}

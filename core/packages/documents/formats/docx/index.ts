import type { FormatFacts } from '../format.ts'

export const docx = {
  name: 'docx',
  apiName: 'DOCX',
  file: { extension: 'docx', contentType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' },
  pages: 'flowing',
  shown: 'never',
  make: () => import('./make.ts')
} as const satisfies FormatFacts

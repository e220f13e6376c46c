import type { FormatFacts } from '../format.ts'

export const pdf = {
  name: 'pdf',
  apiName: 'PDF',
  file: { extension: 'pdf', contentType: 'application/pdf' },
  pages: 'fixed',
  signed: true,
  shown: 'often',
  make: () => import('./make.ts')
} as const satisfies FormatFacts

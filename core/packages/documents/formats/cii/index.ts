import type { FormatFacts } from '../format.ts'

export const cii = {
  name: 'cii',
  file: { extension: 'xml', contentType: 'application/xml' },
  eInvoice: 'CII',
  pages: 'none',
  shown: 'always',
  make: () => import('../invoice-xml.ts')
} as const satisfies FormatFacts

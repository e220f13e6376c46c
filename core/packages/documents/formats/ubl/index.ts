import type { FormatFacts } from '../format.ts'

export const ubl = {
  name: 'ubl',
  file: { extension: 'xml', contentType: 'application/xml' },
  eInvoice: 'UBL',
  pages: 'none',
  shown: 'always',
  make: () => import('../invoice-xml.ts')
} as const satisfies FormatFacts

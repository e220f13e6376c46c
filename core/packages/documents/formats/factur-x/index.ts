import type { FormatFacts } from '../format.ts'

export const facturX = {
  name: 'factur-x',
  // A PDF/A-3 that contains the invoice as XML.
  file: { extension: 'pdf', contentType: 'application/pdf' },
  eInvoice: 'FACTUR_X',
  pages: 'fixed',
  shown: 'often',
  make: () => import('./make.ts')
} as const satisfies FormatFacts

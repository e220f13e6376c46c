import type { FormatFacts } from '../format.ts'

export const xlsx = {
  name: 'xlsx',
  apiName: 'XLSX',
  file: { extension: 'xlsx', contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
  pages: 'flowing',
  shown: 'never',
  make: () => import('./make.ts')
} as const satisfies FormatFacts

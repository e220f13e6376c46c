import type { FormatFacts } from '../format.ts'

export const html = {
  name: 'html',
  apiName: 'HTML',
  pages: 'flowing',
  shown: 'always',
  make: () => import('./make.ts')
} as const satisfies FormatFacts

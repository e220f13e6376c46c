import type { FormatFacts } from '../format.ts'

export const text = {
  name: 'text',
  apiName: 'TEXT',
  pages: 'flowing',
  shown: 'always',
  make: () => import('./make.ts')
} as const satisfies FormatFacts

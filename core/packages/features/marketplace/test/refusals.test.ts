import { MarketplaceRefusal } from '@dispatch/marketplace'
import t from 'tap'
import { has } from '../../../../../test/support/matching.ts'
import { asRefusal } from '../service/try-package.ts'

void t.test('a source that is slow is no fault of the request; one that is wrong is refused', (t) => {
  for (const [code, word] of [['source_timeout', 'timeout'], ['source_redirects', 'validation_failed'], ['integrity_mismatch',
    'validation_failed']] as const)
  {
    has(t, asRefusal(new MarketplaceRefusal(code, 'Why.'), '/version'), { word, details: [{ path: '/version', code }] })
  }
  t.end()
})

import { type Html, html, type Visit, withQuery } from '@dispatch/plugins/console'
import type { UsageView } from '../contract/usage.ts'
import { apiPath, requested } from './pages.ts'
import { byTime } from './parts.ts'
import { wordsOf } from './words.ts'

/** What was sent in the last week, on the first page. Empty where nothing was, and for who may not see what everybody sends. */
export async function lastWeek (visit: Visit): Promise<Html> {
  const words = wordsOf(visit.words)
  const filter = { period: 'week', service: '', provider: '' }
  const { query, per } = requested(visit, filter)
  const answer = await visit.api.send<UsageView>('GET', withQuery(apiPath, { ...query, per }))
  if (!answer.ok || answer.body.data.length === 0) return html``
  const { from, to, currency, data } = answer.body
  return html`${byTime({ words, names: (code) => code, filter, from, to, currency }, per, data, words.usageLastWeek)}
<p><a href="/console/usage">${words.usageMore}</a></p>`
}

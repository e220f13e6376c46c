import { type Html, html } from '../../html.ts'
import { sentenceOf } from '../form/sentence.ts'
import { fill, wordFor, type Words } from '../language/language.ts'
import type { ChoicesView, ProviderView } from '../session/api.ts'
import { table, time } from './layout.ts'
import { providerTitle } from './provider-names.ts'

/** Why a step has its provider, and why each other one was passed over. */
export function choiceTable (
  words: Words,
  { steps, settingsChangedAt }: ChoicesView,
  { index, providers }: { index: number, providers: readonly ProviderView[] }
): Html {
  const { providers: reported = [] } = steps[index] ?? {}
  if (reported.length === 0) return html``
  const rows = reported.map(({ providerName, outcome, reason, weight }) =>
    html`<tr><th scope="row">${providerTitle(providers, providerName)}${
      weight === undefined ? html`` : html` <span class="quiet">${fill(words.choiceWeight, { weight })}</span>`
    }</th><td>${wordFor(words, 'choice', outcome)}</td><td>${sentenceOf(words, { message: reason })}</td></tr>\n`
  )
  return html`<details name="choices-${String(index)}"><summary>${words.choices}</summary>${
    settingsChangedAt === null ? html`` : html`<p class="quiet">${words.choicesChanged} ${time(settingsChangedAt)}</p>`
  }${table(words.choices, [words.provider, words.choiceOutcome, words.choiceReason], rows)}</details>`
}

import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import { type Reported, saidOf } from '../language/problems.ts'

/** The reason that the service gives; nothing where it gives none. */
export function reasonOf (words: Words, { reason }: { reason?: string | undefined }): Html {
  return reason === undefined ? html`` : sentenceOf(words, { message: reason })
}

/** What the console says of a problem or an error of the API; what is the API's own is marked as English. */
export function sentenceOf (words: Words, reported: Reported): Html {
  return html`${
    saidOf(words, reported).map(({ text, lang }, index) =>
      html`${index === 0 ? '' : ' '}${lang === undefined ? text : html`<span lang="${lang}">${text}</span>`}`
    )
  }`
}

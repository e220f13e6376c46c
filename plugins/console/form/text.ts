import { type Html, html } from '../../html.ts'
import { fill, type Words } from '../language/language.ts'
import type { Reported } from '../language/problems.ts'
import { faultIn } from './json.ts'
import { sentenceOf } from './sentence.ts'

/** What the API says of a text, with the place where the text has lines. */
export type PlacedProblem = Reported & { path: string, line?: number, column?: number }

export type LongText = {
  name: string
  label: string
  help: string
  value: string
  syntax: 'yaml' | 'json'
  /** Those of this text and of others: the pointers tell them apart. */
  problems: readonly PlacedProblem[]
}

/** What is wrong in a long text. What is no JSON has one fault only, and the engine knows its place. */
export function faultsOf ({ name, value, syntax, problems }: Pick<LongText, 'name' | 'value' | 'syntax' | 'problems'>): PlacedProblem[] {
  const fault = syntax === 'json' ? faultIn(value) : undefined
  const found = problemsOf(problems, name)
  return found.length === 0 || fault === undefined ? found : [{ path: `/${name}`, code: 'json', ...fault }]
}

/** Where a problem is, in words: its line and column, or its pointer. */
export function placeOf (words: Words, { path, line, column = 1 }: PlacedProblem): string {
  if (line !== undefined) return fill(words.textPlace, { line, column })
  return path.lastIndexOf('/') > 0 ? path : ''
}

/** A long text with what is wrong in it, line by line. */
export function longTextField (words: Words, text: LongText): Html {
  const { name, label, help, value, syntax } = text
  const own = faultsOf(text)
  const described = `f-${name}-help${own.length === 0 ? '' : ` f-${name}-wrong`}`
  // A line break at the beginning is not part of the value (HTML, 13.1.2.5).
  return html`<div class="field"><label for="f-${name}">${label}</label><p class="help" id="f-${name}-help">${help}</p>${
    own.length === 0 ? html`` : html`<ul class="wrong" id="f-${name}-wrong">${own.map((problem) => said(words, problem, value))}</ul>`
  }<textarea id="f-${name}" name="${name}" spellcheck="false" wrap="off" data-syntax="${syntax}" aria-describedby="${described}"${
    own.length === 0 ? html`` : html` aria-invalid="true"`
  }>
${value}</textarea></div>`
}

/** The problems at a field of the request and within it. */
export function problemsOf (problems: readonly PlacedProblem[], name: string): PlacedProblem[] {
  return problems.filter(({ path }) => path === `/${name}` || path.startsWith(`/${name}/`))
}

/** The longest part of a line that is shown with its problem, in characters. */
const longestExcerpt = 120

function said (words: Words, problem: PlacedProblem, value: string): Html {
  const { line, column = 1 } = problem
  const place = placeOf(words, problem)
  const sentence = sentenceOf(words, problem)
  if (line === undefined) return html`<li>${place === '' ? html`` : html`<code>${place}</code> `}${sentence}</li>`
  const excerpt = (value.split('\n')[line - 1] ?? '').trim().slice(0, longestExcerpt)
  return html`<li data-line="${String(line)}" data-column="${String(column)}">${place} ${sentence} <code>${excerpt}</code></li>`
}

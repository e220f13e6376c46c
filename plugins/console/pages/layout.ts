import { createRecent } from '@dispatch/common'
import { type Html, html } from '../../html.ts'
import { script } from '../browser/script.ts'
import { stylesheet } from '../browser/stylesheet.ts'
import { longestSought } from '../form/fields.ts'
import { placeIn } from '../form/place.ts'
import { sentenceOf } from '../form/sentence.ts'
import { fill, wordFor, type Words } from '../language/language.ts'
import type { Reported } from '../language/problems.ts'
import { type Mode, pathIn, switchedPath } from '../session/mode.ts'
import type { Visit } from '../session/visit.ts'
import { menuOf } from './menu.ts'

export type Content = {
  title: string
  /** The entry of the menu to which the page belongs: of the console or of a feature, or `sessions`. */
  section?: string
  main: Html
}

/** A page for a person who has signed in. */
export function page (visit: Visit, { title, section, main }: Content): Html {
  const { words, actor: { email, lacksSecondFactor } } = visit
  const isLedOn = lacksSecondFactor === true
  const header = html`${isLedOn ? none : modeSwitch(visit)}${
    isLedOn ? none : paletteLink(words)
  }<details class="menu"><summary>${words.menuOpen}</summary>${isLedOn ? none : menuOf(visit, section)}
<div class="account"><a href="/console/sessions" title="${words.account}"${section === 'sessions' ? currentEntry : none}>${email}</a>
<form method="post" action="/console/sign-out"><button class="plain">${words.signOut}</button></form></div></details>`
  const end = isLedOn ? none : paletteDialog(words)
  const { mode, path } = visit
  return document(words, { title, mode, header, banner: banner(visit), main, end, path })
}

/** Which console this is, of tests or of what is real; the other one is a link away, at the same page. */
function modeSwitch ({ words, mode, path }: Visit): Html {
  return html`<nav class="mode" aria-label="${words.modeSwitch}">${
    (['test', 'live'] as const).map((one) =>
      html`<a href="${one === mode ? pathIn(one, path) : switchedPath(one, path)}" title="${words[`mode_${one}`]}"${
        one === mode ? html` aria-current="true"` : none
      }>${words[`modeShort_${one}`]}</a>`
    )
  }</nav>`
}

/** The search over all pages: with script, it opens over the page. */
function paletteLink (words: Words): Html {
  return html`<a class="find" href="/console/find" aria-keyshortcuts="/ Control+K">${words.find} <kbd>/</kbd></a>`
}

/** Where the script shows what is found. */
function paletteDialog (words: Words): Html {
  return html`<dialog class="palette" aria-label="${words.find}"><form action="/console/find"><input type="search" name="q" maxlength="${
    String(longestSought)
  }" aria-label="${words.find}" placeholder="${words.findHelp}" autocomplete="off"></form>
<p class="quiet" role="status"></p><div class="found"></div></dialog>`
}

/** Who acts as whom, with the button that ends it. */
function banner ({ words, actor, acting }: Visit): Html {
  if (acting === undefined) return none
  return html`<div class="acting"><div class="bar"><p>${fill(words.actingAs, { own: acting.own.email, user: actor.email })} ${
    time(acting.until.toISOString())
  }</p><form method="post" action="/console/act/end"><button class="second">${words.actingEnd}</button></form></div></div>`
}

const none = html``
const currentEntry = html` aria-current="page"`

/** A page of the console, for anybody. */
export function document (
  words: Words,
  { title, mode = 'live', header = none, banner = none, head = none, main, end = none, path, carrying }: {
    title: string
    mode?: Mode
    header?: Html
    banner?: Html
    /** More of the head. */
    head?: Html | undefined
    main: Html
    /** Behind the page. */
    end?: Html
    /** Where a change of the language leads back to. */
    path: string
    /** The id of a form that a change of the language leads along. */
    carrying?: string | undefined
  }
): Html {
  return html`<!doctype html>
<html lang="${words.code}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · ${mode === 'test' ? html`${words.modeShort_test} · ` : none}${words.product}</title>
<link rel="stylesheet" href="${stylesheet.path}">
<link rel="icon" href="data:,">${head}
<script type="module" src="${script.path}"></script>
</head>
<body${header === none ? none : mode === 'test' ? html` class="app tests"` : html` class="app"`}>
<a class="skip" href="#main">${words.skip}</a>
<header><div class="bar"><a class="brand" href="/console">${words.product}</a>${header}</div>${banner}</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${main}
</main>
<footer><form method="post" action="/console/language">
<input type="hidden" name="next" value="${path}"><button class="plain" name="language" value="${words.otherLanguageCode}" lang="${words.otherLanguageCode}"${
    carrying === undefined ? none : html` form="${carrying}" formaction="/console/language" formnovalidate`
  }>${words.otherLanguage}</button>
</form></footer>
${end}</body>
</html>
`
}

/** A time in UTC, to the minute. */
export function time (at: string): Html {
  return html`<time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 16)} <abbr title="Coordinated Universal Time">UTC</abbr></time>`
}

/** How each status of a dispatch or a step is coloured. */
const tones: Readonly<Record<string, string>> = {
  succeeded: 'good',
  accepted: 'good',
  delivered: 'good',
  available: 'good',
  // The adapter may be installed.
  'state available': 'calm',
  ok: 'good',
  failed: 'bad',
  rejected: 'bad',
  stopped: 'bad',
  refused: 'bad',
  returned: 'bad',
  deleted: 'warn',
  bounced: 'bad',
  declined: 'bad',
  completed: 'good',
  paid: 'good',
  partial: 'warn',
  uncertain: 'warn',
  unavailable: 'warn',
  failing: 'warn',
  installed: 'good',
  updatable: 'warn',
  revoked: 'bad',
  degraded: 'warn',
  cannot_be_checked: 'warn',
  published: 'good',
  draft: 'warn',
  real: 'warn'
}

/** A status as a coloured word. */
export function badge (words: Words, kind: Parameters<typeof wordFor>[1], status: string): Html {
  return html`<span class="badge ${tones[`${kind} ${status}`] ?? tones[status] ?? 'calm'}">${wordFor(words, kind, status)}</span>`
}

/** A table that scrolls by itself where the screen is narrow. */
export function table (label: string, head: readonly (string | Html | Title)[], rows: readonly Html[]): Html {
  return html`<div class="scroll" role="group" aria-label="${label}" tabindex="0"><table>
<thead><tr>${head.map(titleCell)}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>`
}

/** The title of a column. `isBeside`: a phone does not show it. */
type Title = { title: string, isBeside: boolean }

function titleCell (title: string | Html | Title): Html {
  const { title: text, isBeside = false } = typeof title === 'object' && 'title' in title ? title : { title }
  return html`<th scope="col"${isBeside ? html` class="beside-phone"` : none}>${text}</th>`
}

/** A text that is to be pasted elsewhere, with a button that copies it. `what` it is, where a page has several. */
export function copied (words: Words, text: string, what?: string): Html {
  return html`<span class="copied"><code${copyable(words, what)}>${text}</code></span>`
}

/** Makes the script put a button that copies beside an element. */
export function copyable (words: Words, what?: string): Html {
  return html` data-copy="${words.copyText}" data-copied="${words.copyDone}"${what === undefined ? none : html` data-what="${what}"`}`
}

const letters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const lettersOf = (word: string): string[] => Array.from(letters.segment(word), ({ segment }) => segment)

/** Those of names that were shown last: to find the letters of a word takes long. */
const monograms = createRecent<string, Html>(200)

/** The first letters of a name, in the place of a logo: beside the name, which says the same. */
export function monogram (name: string): Html {
  const made = monograms.get(name) ?? monogramOf(name)
  monograms.set(name, made)
  return made
}

function monogramOf (name: string): Html {
  const [first = '', second = ''] = name.trim().split(/[\s.·-]+/)
  const shown = second === '' ? lettersOf(first).slice(0, 2) : [lettersOf(first)[0] ?? '', lettersOf(second)[0] ?? '']
  return html`<span class="monogram" aria-hidden="true">${shown.join('')}</span>`
}

/** A box that stands out: something went well or wrong. */
export function notice (tone: 'good' | 'bad' | 'warn', content: Html): Html {
  return html`<div class="notice ${tone}" role="${tone === 'good' ? 'status' : 'alert'}">${content}</div>`
}

/** A filter, which is folded where the screen is narrow, until somebody opens it. */
export function folded (words: Words, isOpen: boolean, form: Html): Html {
  return html`<details class="fold"${isOpen ? html` open` : none}><summary>${words.filter}</summary>${form}</details>`
}

/** The sentences about an error of the API and its problems, each with its place, as `placeIn` names it. */
export function sentences (words: Words, { error, reason, message, details = [] }: Refused, place?: Parameters<typeof placeIn>[2]): Html {
  const [first] = details
  const problems = details.map(({ path = '', ...reported }) =>
    html`${sentenceOf(words, reported)}${path === '' ? none : html` ${placeIn(words, path, place)}`}`
  )
  // The message of problems is that of the first one, with how many more there are.
  const own = first === undefined || !message.includes(first.message) ? html`<p>${sentenceOf(words, { error, reason, message })}</p>` : none
  const [only = none] = problems
  return html`<div>${own}${
    problems.length === 0
      ? none
      : own === none && problems.length === 1
      ? html`<p>${only}</p>`
      : html`<ul>${problems.map((problem) => html`<li>${problem}</li>`)}</ul>`
  }</div>`
}

/** What the API says of an error, and of each problem. */
type Refused = {
  error?: string
  reason?: string | undefined
  message: string
  details?: readonly (Reported & { path?: string })[] | undefined
}

export function requestNumber (words: Words, id: string): Html {
  return html`<p class="quiet">${fill(words.requestNumber, { id })}</p>`
}

type Fact = readonly [string, string | Html | undefined | null]

/** Names and their values; what has none is left out. */
export function facts (all: readonly Fact[]): Html {
  return html`<dl>${
    all.map(([name, value]) => value === undefined || value === null || value === '' ? html`` : html`<dt>${name}</dt><dd>${value}</dd>\n`)
  }</dl>`
}
